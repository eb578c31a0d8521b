//! Reads the server's replies: finds the command of each, and applies it to the session.

use super::commands::COMMAND_BYTES;
use super::{Context, Session, directory_or_dot};
use crate::Ends;
use crate::exchange::{Channel, Exchange};
use crate::parser::Shared;
use crate::syntax::line::{Line, without_telnet};
use crate::syntax::reply::{Head, only_command, size_in};
use crate::syntax::{address, path};
use flowpin_counters::Loss;
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
        let oldest = self.waiting.front().map(Exchange::command);
        // RFC 959 §5.4: a client may send commands before the greeting.
        let is_greeting = is_first && matches!(&head.code, b"120" | b"220");
        if self.unsolicited.is_some() || is_greeting && oldest != Some(b"REIN") {
            return ReplyTarget::Unsolicited;
        }
        if let Some(command) = only_command(head.code)
            && let mut first = self.waiting.iter().take(SEARCHED_MAX)
            && let Some(at) = first.position(|one| one.command() == command)
        {
            self.reported_early = 0;
            for _ in 0..at {
                self.report_oldest(context);
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
        let shared = &mut *context.shared;
        let exchange = match to {
            ReplyTarget::Oldest => self.waiting.front_mut(),
            ReplyTarget::Unsolicited => Some(self.unsolicited.get_or_insert_with(|| {
                let mut exchange = shared.spare.pop().unwrap_or_default();
                exchange.at = context.at;
                exchange
            })),
            ReplyTarget::Forgotten => None,
        };
        let Some(exchange) = exchange else {
            return;
        };
        let options = context.options;
        let most = (
            options.reply_bytes_max as usize,
            options.reply_lines_max as usize,
        );
        let was_whole = !exchange.is_reply_cut;
        let is_whole = exchange.add_reply_line(text, code, most, self.shard, &mut shared.budget);
        if was_whole && !is_whole {
            shared.budget.losses.count(Loss::FtpText, 1);
        }
        exchange.is_reply_cut |= is_cut;
    }

    /// Handles a complete reply.
    pub(super) fn complete_reply<S: MessageSink>(
        &mut self,
        to: ReplyTarget,
        head: Head,
        context: &mut Context<'_, S>,
    ) {
        let is_last = !head.is_preliminary();
        let exchange = match to {
            ReplyTarget::Oldest => self.waiting.pop_front(),
            ReplyTarget::Unsolicited => self.unsolicited.take(),
            ReplyTarget::Forgotten => {
                if is_last && self.reported_early > 0 {
                    self.reported_early = self.reported_early.saturating_sub(1);
                } else if is_last {
                    self.left_out = self.left_out.saturating_sub(1);
                }
                return;
            }
        };
        let Some(mut exchange) = exchange else {
            return;
        };
        exchange.code = Some(head.code);
        exchange.is_answered = is_last;
        let is_moved = self.apply_reply(&mut exchange, head, context);
        if is_last {
            if to == ReplyTarget::Oldest {
                context.shared.budget.give_back(self.shard, COMMAND_BYTES);
            }
            let agrees = exchange.command() == b"AUTH" && &head.code == b"234";
            self.report(exchange, context);
            if is_moved {
                self.go_to_directory(context.shared);
            }
            if agrees {
                self.report_all(context);
                self.awaits_tls = true;
            }
        } else if to == ReplyTarget::Oldest {
            self.waiting.push_front(exchange);
        } else {
            self.unsolicited = Some(exchange);
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
        let directory = &mut context.shared.path;
        let mut moved = false;
        match (command, &head.code) {
            (b"CWD" | b"XCWD", [b'2', ..]) => {
                path::join(
                    directory_or_dot(&self.directory),
                    exchange.argument(),
                    directory,
                );
                moved = true;
            }
            (b"CDUP" | b"XCUP", [b'2', ..]) => {
                path::join(directory_or_dot(&self.directory), b"..", directory);
                moved = true;
            }
            (b"PWD" | b"XPWD", b"257") => moved = path::in_reply(reply, directory),
            (b"RETR", [b'1', ..]) => exchange.file_size = size_in(reply),
            (b"SIZE", b"213") => exchange.file_size = address::decimal(reply.trim_ascii()),
            (b"PASV" | b"", b"227") => {
                exchange.channel = address::in_passive_reply(reply)
                    .zip(self.ends)
                    .map(|(listener, ends)| passive(listener, ends));
            }
            (b"EPSV" | b"", b"229") => {
                exchange.channel =
                    address::in_extended_reply(reply)
                        .zip(self.ends)
                        .map(|(port, ends)| {
                            passive(
                                RecordEndpoint {
                                    port,
                                    ..ends.server
                                },
                                ends,
                            )
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
        let (budget, directory) = (&mut shared.budget, &shared.path);
        if directory.len() <= DIRECTORY_MAX {
            budget.replace(self.shard, &mut self.directory, directory, DIRECTORY_MAX);
        } else {
            budget.clear(self.shard, &mut self.directory);
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
