//! Reads the server's replies: finds the command of each, and applies it to the session.

use super::{Context, Session, directory_or_dot};
use crate::exchange::{Channel, Exchange, Replies};
use crate::parser::Shared;
use crate::record::HIDDEN;
use crate::syntax::line::without_telnet;
use crate::syntax::reply::{Head, only_command, size_in};
use crate::syntax::{address, path};
use flowpin_counters::Loss;
use flowpin_parser::{Ends, Line};
use flowpin_record::{MessageSink, RecordEndpoint};

/// A reply of several lines.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    code: [u8; 3],
    pub(super) to: ReplyTarget,
    /// The last line looked like the end of a reply, but with another code.
    pub(super) other: Option<Head>,
}

/// The command that a reply answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReplyTarget {
    /// The oldest waiting command.
    Oldest,
    /// No command: the reply is unsolicited.
    Unsolicited,
    /// A command that was not kept.
    Forgotten,
}

impl Session {
    pub(super) fn reply<S: MessageSink>(&mut self, line: Line<'_>, context: &mut Context<'_, S>) {
        if line.is_cut {
            context.sink.anomaly("response_command_too_long");
        }
        let text = without_telnet(line.text);
        let head = Head::of(text);
        let Some(open) = &mut self.open else {
            let Some(head) = head else {
                if !text.is_empty() && !line.is_rest {
                    context.sink.fits(false);
                    context.sink.anomaly("ftp_bad_reply");
                }
                return;
            };
            context.sink.fits(true);
            let to = self.reply_target(head, context);
            self.keep_reply_line(to, (text, line.is_cut), Some(head.code), context);
            if head.more {
                self.open = Some(Open {
                    code: head.code,
                    to,
                    other: None,
                });
            } else {
                self.complete_reply(to, head, context);
            }
            return;
        };
        let (to, code) = (open.to, open.code);
        // RFC 959 §4.2: lines in between may begin with anything, including numbers.
        let is_last = head.filter(|head| head.code == code && !head.more);
        open.other = head.filter(|head| head.code != code && !head.more);
        let own = head.filter(|head| head.code == code);
        self.keep_reply_line(to, (text, line.is_cut), own.map(|head| head.code), context);
        if let Some(head) = is_last {
            self.open = None;
            self.complete_reply(to, head, context);
        }
    }

    /// The command answered by a reply that begins with `head`.
    fn reply_target<S: MessageSink>(
        &mut self,
        head: Head,
        context: &mut Context<'_, S>,
    ) -> ReplyTarget {
        let is_first = !core::mem::replace(&mut self.is_greeted, true);
        let oldest = context.shared.waiting.values(self.waiting).next();
        let is_reinitialised = oldest.is_some_and(|oldest| oldest.is(b"REIN"));
        // RFC 959 §5.4: a client may send commands before the greeting.
        let is_greeting = is_first && matches!(&head.code, b"120" | b"220");
        if self.unsolicited.is_some() || is_greeting && !is_reinitialised {
            return ReplyTarget::Unsolicited;
        }
        let only = only_command(head.code);
        let answered = only.and_then(|command| {
            let waiting = context.shared.waiting.values(self.waiting);
            waiting.take(SEARCHED_MAX).position(|one| one.is(command))
        });
        if let Some(at) = answered {
            self.reported_early = 0;
            for _ in 0..at {
                self.report_one(ReplyTarget::Oldest, context);
            }
        }
        if self.reported_early > 0 {
            return ReplyTarget::Forgotten;
        }
        match (self.waiting.is_empty(), self.left_out) {
            (false, _) => ReplyTarget::Oldest,
            (true, 0) => ReplyTarget::Unsolicited,
            (true, _) => ReplyTarget::Forgotten,
        }
    }

    /// Keeps a line of a reply.
    fn keep_reply_line<S: MessageSink>(
        &mut self,
        to: ReplyTarget,
        (text, is_cut): (&[u8], bool),
        code: Option<[u8; 3]>,
        context: &mut Context<'_, S>,
    ) {
        let Shared {
            waiting,
            kept,
            exchange,
            line,
            losses,
            ..
        } = &mut *context.shared;
        let hidden;
        let mut shown = text;
        let replies = match to {
            ReplyTarget::Oldest => {
                let mut commands = waiting.values(self.waiting);
                if commands.next().is_some_and(|command| command.is_secret)
                    && let Some(command) = waiting.oldest(&self.waiting, &mut exchange.line)
                {
                    exchange.set_waiting(command);
                    if let Some(at) = exchange.secret_in(text) {
                        hidden = [text.get(..at).unwrap_or_default(), HIDDEN].concat();
                        shown = &hidden;
                    }
                }
                &mut self.replies
            }
            ReplyTarget::Unsolicited => {
                let begin = || (context.at, Replies::default());
                &mut self.unsolicited.get_or_insert_with(begin).1
            }
            ReplyTarget::Forgotten => return,
        };
        let options = context.options;
        let most = (options.reply_bytes_max, options.reply_lines_max);
        let was_whole = !replies.is_cut;
        let to = (kept, line);
        let is_whole = replies.add_line((shown, code.is_some()), most, self.shard, to);
        losses.count(Loss::FtpText, (was_whole && !is_whole).into());
        replies.is_cut |= is_cut;
    }

    /// Handles a complete reply.
    pub(super) fn complete_reply<S: MessageSink>(
        &mut self,
        to: ReplyTarget,
        head: Head,
        context: &mut Context<'_, S>,
    ) {
        let is_last = !head.is_preliminary();
        if to == ReplyTarget::Forgotten {
            if is_last && self.reported_early > 0 {
                self.reported_early = self.reported_early.saturating_sub(1);
            } else if is_last {
                self.left_out = self.left_out.saturating_sub(1);
            }
            return;
        }
        let mut exchange = core::mem::take(&mut context.shared.exchange);
        let mut agrees = false;
        if self.read_exchange(to, &mut exchange, context.shared) {
            exchange.facts.code = Some(head.code);
            exchange.facts.is_answered = is_last;
            let is_moved = self.apply_reply(&mut exchange, head, context);
            if is_last {
                self.release_exchange(to, context.shared);
                self.report(&exchange, context);
                agrees = exchange.command() == b"AUTH" && &head.code == b"234";
                if is_moved {
                    self.go_to_directory(context.shared);
                }
            } else if let (ReplyTarget::Unsolicited, Some((_, replies))) =
                (to, &mut self.unsolicited)
            {
                replies.facts = exchange.facts;
            } else {
                self.replies.facts = exchange.facts;
            }
        }
        context.shared.exchange = exchange;
        if agrees {
            self.report_all(context);
            self.awaits_tls = true;
        }
    }

    /// Applies a reply to the session and to data connections. Returns whether the session moved to
    /// another directory, which is then in `context.shared.path`.
    fn apply_reply<S: MessageSink>(
        &mut self,
        exchange: &mut Exchange,
        head: Head,
        context: &mut Context<'_, S>,
    ) -> bool {
        let reply = exchange.last_reply();
        let command = exchange.command();
        let Shared {
            kept,
            path: directory,
            texts: [_, _, from],
            ..
        } = &mut *context.shared;
        if matches!(command, b"CWD" | b"XCWD" | b"CDUP" | b"XCUP") {
            from.clear();
            kept.read(&self.directory, from);
        }
        let mut moved = false;
        match (command, &head.code) {
            (b"CWD" | b"XCWD", [b'2', ..]) => {
                path::join(directory_or_dot(from), exchange.argument(), directory);
                moved = true;
            }
            (b"CDUP" | b"XCUP", [b'2', ..]) => {
                path::join(directory_or_dot(from), b"..", directory);
                moved = true;
            }
            (b"PWD" | b"XPWD", b"257") => moved = path::in_reply(reply, directory),
            (b"RETR", [b'1', ..]) => exchange.facts.file_size = size_in(reply),
            (b"SIZE", b"213") => exchange.facts.file_size = address::decimal(reply.trim_ascii()),
            (b"PASV" | b"", b"227") => {
                let listener = address::in_passive_reply(reply);
                exchange.facts.channel = listener.map(|listener| passive(listener, self.ends));
            }
            (b"EPSV" | b"", b"229") => {
                let port = address::in_extended_reply(reply);
                exchange.facts.channel = port.map(|port| {
                    let server = self.ends.server;
                    passive(RecordEndpoint { port, ..server }, self.ends)
                });
            }
            _ => {}
        }
        if head.is_success() || head.is_preliminary() {
            self.announce_data(exchange, context);
        }
        moved
    }

    /// Moves the session to the directory in `shared.path`. Called after the command is reported,
    /// whose argument is relative to the old directory.
    fn go_to_directory(&mut self, shared: &mut Shared) {
        let (kept, path) = (&mut shared.kept, &shared.path);
        if path.len() > DIRECTORY_MAX {
            kept.release(self.shard, &mut self.directory);
        } else if !kept.replace(self.shard, &mut self.directory, path) {
            shared.losses.count(Loss::FtpText, 1);
        }
    }
}

/// The channel of a passive data connection.
const fn passive(listener: RecordEndpoint, ends: Ends) -> Channel {
    Channel {
        is_passive: true,
        opener: ends.client.address,
        listener,
    }
}

/// Directories with longer paths are not tracked.
const DIRECTORY_MAX: usize = 1024;
/// Number of waiting commands searched for that of a reply.
const SEARCHED_MAX: usize = 64;
