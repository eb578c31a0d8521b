//! What the server says: which command a reply answers, and what it tells of the session.

use super::commands::COMMAND_BYTES;
use super::{Scene, Session, of};
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
    pub(super) to: Addressee,
    /// The last line began like the end of a reply, though with another code.
    pub(super) other: Option<Head>,
}

/// Whom a reply answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Addressee {
    /// The oldest command that waits.
    Oldest,
    /// Nobody asked.
    Unasked,
    /// A command of which nothing was kept.
    Forgotten,
}

impl Session {
    pub(super) fn reply<S: MessageSink>(&mut self, line: Line<'_>, scene: &mut Scene<'_, S>) {
        if line.is_cut {
            scene.sink.anomaly("response_command_too_long");
        }
        let text = without_telnet(line.text);
        let head = Head::of(text);
        let Some(open) = &mut self.open else {
            let Some(head) = head else {
                if !text.is_empty() && !line.is_rest {
                    scene.sink.fits(false);
                    scene.sink.anomaly("ftp_bad_reply");
                }
                return;
            };
            scene.sink.fits(true);
            let to = self.addressee(head, scene);
            self.hear(to, (text, line.is_cut), Some(head.code), scene);
            if head.more {
                self.open = Some(Open {
                    code: head.code,
                    to,
                    other: None,
                });
            } else {
                self.is_answered(to, head, scene);
            }
            return;
        };
        let (to, code) = (open.to, open.code);
        // RFC 959 §4.2: other lines may begin with anything, also with numbers.
        let is_last = head.filter(|head| head.code == code && !head.more);
        open.other = head.filter(|head| head.code != code && !head.more);
        let own = head.filter(|head| head.code == code);
        self.hear(to, (text, line.is_cut), own.map(|head| head.code), scene);
        if let Some(head) = is_last {
            self.open = None;
            self.is_answered(to, head, scene);
        }
    }

    /// Whom a reply answers that begins here.
    fn addressee<S: MessageSink>(&mut self, head: Head, scene: &mut Scene<'_, S>) -> Addressee {
        let is_first = !core::mem::replace(&mut self.is_greeted, true);
        let oldest = self.waiting.front().map(Exchange::command);
        // RFC 959 §5.4: the greeting may come late, behind commands of a client in a hurry.
        let is_greeting = is_first && matches!(&head.code, b"120" | b"220");
        if self.unasked.is_some() || is_greeting && oldest != Some(b"REIN") {
            return Addressee::Unasked;
        }
        if let Some(command) = only_command(head.code)
            && let mut first = self.waiting.iter().take(LOOKED_AT_MAX)
            && let Some(at) = first.position(|one| one.command() == command)
        {
            self.passed = 0;
            for _ in 0..at {
                self.tell_oldest(scene);
            }
        }
        if self.passed > 0 {
            return Addressee::Forgotten;
        }
        match (self.waiting.is_empty(), self.unkept) {
            (false, _) => Addressee::Oldest,
            (true, 0) => Addressee::Unasked,
            (true, _) => Addressee::Forgotten,
        }
    }

    /// Keeps a line of a reply.
    fn hear<S: MessageSink>(
        &mut self,
        to: Addressee,
        (text, is_cut): (&[u8], bool),
        code: Option<[u8; 3]>,
        scene: &mut Scene<'_, S>,
    ) {
        let shared = &mut *scene.shared;
        let exchange = match to {
            Addressee::Oldest => self.waiting.front_mut(),
            Addressee::Unasked => Some(self.unasked.get_or_insert_with(|| {
                let mut exchange = shared.spare.pop().unwrap_or_default();
                exchange.at = scene.at;
                exchange
            })),
            Addressee::Forgotten => None,
        };
        let Some(exchange) = exchange else {
            return;
        };
        let options = scene.options;
        let most = (
            options.reply_bytes_max as usize,
            options.reply_lines_max as usize,
        );
        let was_whole = !exchange.is_reply_cut;
        let is_whole = exchange.hear(text, code, most, self.shard, &mut shared.budget);
        if was_whole && !is_whole {
            shared.budget.losses.count(Loss::FtpText, 1);
        }
        exchange.is_reply_cut |= is_cut;
    }

    /// A reply is whole.
    pub(super) fn is_answered<S: MessageSink>(
        &mut self,
        to: Addressee,
        head: Head,
        scene: &mut Scene<'_, S>,
    ) {
        let is_last = !head.is_preliminary();
        let exchange = match to {
            Addressee::Oldest => self.waiting.pop_front(),
            Addressee::Unasked => self.unasked.take(),
            Addressee::Forgotten => {
                if is_last && self.passed > 0 {
                    self.passed = self.passed.saturating_sub(1);
                } else if is_last {
                    self.unkept = self.unkept.saturating_sub(1);
                }
                return;
            }
        };
        let Some(mut exchange) = exchange else {
            return;
        };
        exchange.code = Some(head.code);
        exchange.is_answered = is_last;
        let is_moved = self.take_in(&mut exchange, head, scene);
        if is_last {
            if to == Addressee::Oldest {
                scene.shared.budget.give_back(self.shard, COMMAND_BYTES);
            }
            let agrees = exchange.command() == b"AUTH" && &head.code == b"234";
            self.tell(exchange, scene);
            if is_moved {
                self.go_to_directory(scene.shared);
            }
            if agrees {
                self.tell_all(scene);
                self.awaits_tls = true;
            }
        } else if to == Addressee::Oldest {
            self.waiting.push_front(exchange);
        } else {
            self.unasked = Some(exchange);
        }
    }

    /// What a reply says of the session and of data connections. Whether it says that the session
    /// is in another directory now, `scene.shared.path`.
    fn take_in<S: MessageSink>(
        &mut self,
        exchange: &mut Exchange,
        head: Head,
        scene: &mut Scene<'_, S>,
    ) -> bool {
        let reply = exchange.last_reply();
        let command = exchange.command();
        let directory = &mut scene.shared.path;
        let mut moved = false;
        match (command, &head.code) {
            (b"CWD" | b"XCWD", [b'2', ..]) => {
                path::join(of(&self.directory), exchange.argument(), directory);
                moved = true;
            }
            (b"CDUP" | b"XCUP", [b'2', ..]) => {
                path::join(of(&self.directory), b"..", directory);
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
            self.tell_data(exchange, scene);
        }
        moved
    }

    /// The session is in another directory from here on. The command that brought it there was
    /// told before: its argument is by the directory it came from.
    fn go_to_directory(&mut self, shared: &mut Shared) {
        let (budget, directory) = (&mut shared.budget, &shared.path);
        if directory.len() <= DIRECTORY_MAX {
            budget.replace(self.shard, &mut self.directory, directory, DIRECTORY_MAX);
        } else {
            budget.clear(self.shard, &mut self.directory);
        }
    }
}

/// What the server waits for, and for whom.
const fn passive(listener: RecordEndpoint, ends: Ends) -> Channel {
    Channel {
        is_passive: true,
        opener: ends.client.address,
        listener,
    }
}

/// The path of a directory that is longer is not followed.
const DIRECTORY_MAX: usize = 1024;
/// Commands among which that of a reply is looked for.
const LOOKED_AT_MAX: usize = 64;
