//! A control connection: commands wait for their replies, which arrive in the same order.
//!
//! ```text
//!  client ──► command ──► │ oldest │ … │ latest │         waiting
//!                             ▲
//!  server ──► reply ──────────┘   1yz: another one follows; others: reported and removed
//!                └──► no command waits: reported alone (the greeting, 421)
//! ```
//!
//! If one side is not in the capture, replies are reported without commands, and commands without
//! replies: when too many wait, or at the end.

mod commands;
mod replies;
mod secrets;

use crate::exchange::{Exchange, Replies};
use crate::options::FtpOptions;
use crate::parser::Shared;
use crate::record::log::{SessionInfo, is_logged};
use crate::record::{event, log};
use flowpin_memory::Chain;
use flowpin_packet::{Shard, Timestamp};
use flowpin_parser::{Ends, Line, PartialLine, Queue};
use flowpin_record::{DataChannel, MessageSink, RecordEndpoint};
use replies::{Open, ReplyTarget};

/// A control connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Session {
    ends: Ends,
    shard: u8,
    client: PartialLine,
    server: PartialLine,
    waiting: Queue,
    /// The replies so far to the oldest waiting command.
    replies: Replies,
    /// Number of commands after the waiting ones for which there was no room.
    left_out: u32,
    /// Number of commands before the waiting ones that were reported without their replies.
    reported_early: u32,
    /// A reply for which no command waits, and when it began.
    unsolicited: Option<(Timestamp, Replies)>,
    /// The reply that the next line continues.
    open: Option<Open>,
    /// The first reply was read.
    is_greeted: bool,
    has_server: bool,
    /// Replies are missing, and it is unknown which commands they answered.
    is_unsure: bool,
    /// The server has accepted TLS.
    awaits_tls: bool,
    /// The rest of the connection is unreadable.
    is_over: bool,
    /// A data connection was announced, but its content was not.
    has_channel: bool,
    /// The user needs no password.
    is_guest: bool,
    user: Chain,
    password: Chain,
    has_secret: bool,
    directory: Chain,
}

/// The time of the current bytes, and the output for records.
pub(crate) struct Context<'a, S> {
    pub(crate) options: &'a FtpOptions,
    pub(crate) shared: &'a mut Shared,
    pub(crate) at: Timestamp,
    pub(crate) sink: &'a mut S,
}

impl Session {
    pub(crate) fn new(shard: Shard, ends: Ends) -> Self {
        Self {
            ends,
            shard: shard.0,
            client: PartialLine::default(),
            server: PartialLine::default(),
            waiting: Queue::default(),
            replies: Replies::default(),
            left_out: 0,
            reported_early: 0,
            unsolicited: None,
            open: None,
            is_greeted: false,
            has_server: false,
            is_unsure: false,
            awaits_tls: false,
            is_over: false,
            has_channel: false,
            is_guest: false,
            user: Chain::default(),
            password: Chain::default(),
            has_secret: false,
            directory: Chain::default(),
        }
    }

    /// Whether the next bytes of a side, which are not empty, can be read: not after TLS was
    /// accepted (RFC 4217 §4), unless clear text follows, which is then read and reported.
    pub(crate) fn is_readable<S: MessageSink>(&mut self, bytes: &[u8], sink: &mut S) -> bool {
        if core::mem::take(&mut self.awaits_tls) {
            let is_text = |byte: &u8| matches!(byte, b'\t' | b'\r' | b'\n' | b' '..=b'~');
            self.is_over = !bytes.first().is_some_and(is_text);
            if !self.is_over {
                sink.anomaly("ftp_no_tls");
            }
        }
        !self.is_over
    }

    pub(crate) const fn is_over(&self) -> bool {
        self.is_over
    }

    /// The shard, and the incomplete line of one direction.
    pub(crate) const fn side(&mut self, to_server: bool) -> (u8, &mut PartialLine) {
        let side = if to_server {
            &mut self.client
        } else {
            &mut self.server
        };
        (self.shard, side)
    }

    /// Handles missing bytes of one side.
    pub(crate) const fn lose(&mut self, to_server: bool) {
        if !to_server {
            self.open = None;
            self.is_unsure = true;
        }
    }

    /// Reads a line of one side.
    pub(crate) fn line<S: MessageSink>(
        &mut self,
        to_server: bool,
        line: Line<'_>,
        context: &mut Context<'_, S>,
    ) {
        if to_server {
            self.command(line, context);
        } else {
            self.has_server = true;
            self.reply(line, context);
        }
    }

    /// Reports what still waits, and gives back the memory.
    pub(crate) fn end<S: MessageSink>(&mut self, context: &mut Context<'_, S>) {
        self.report_all(context);
        for text in [&mut self.user, &mut self.password, &mut self.directory] {
            context.shared.kept.release(self.shard, text);
        }
    }

    /// Announces the data connection that a command or its reply negotiates, or its content.
    fn announce_data<S: MessageSink>(
        &mut self,
        exchange: &mut Exchange,
        context: &mut Context<'_, S>,
    ) {
        let (ends, facts) = (self.ends, exchange.facts);
        if facts.is_announced {
            return;
        }
        if let Some(channel) = facts.channel {
            // Today's clients open passive connections to the server's known address: the address
            // in the reply may be a private one behind NAT, or forged.
            let (opener, own) = if channel.is_passive {
                (ends.client, ends.server.address)
            } else {
                (ends.server, ends.client.address)
            };
            self.has_channel = channel.is_passive || channel.listener.address == own;
            if self.has_channel {
                context.sink.data_channel(DataChannel::Announced {
                    by_client: !channel.is_passive,
                    opener: opener.address,
                    listener: RecordEndpoint {
                        address: own,
                        port: channel.listener.port,
                    },
                });
            }
            exchange.facts.is_announced = true;
        } else if self.has_channel && TRANSFERS.contains(&exchange.command()) {
            self.has_channel = false;
            context.sink.data_channel(DataChannel::Carries {
                command: exchange.command(),
                file: exchange.argument(),
            });
            exchange.facts.is_announced = true;
        }
    }

    /// Copies a command and its replies, or those that no command waits for; false if there are
    /// none.
    fn read_exchange(&self, of: ReplyTarget, exchange: &mut Exchange, shared: &Shared) -> bool {
        let kept = Some(&shared.kept);
        match (of, &self.unsolicited) {
            (ReplyTarget::Oldest, _) => {
                let Some(command) = shared.waiting.oldest(&self.waiting, &mut exchange.line) else {
                    return false;
                };
                exchange.set_replies(&self.replies, kept);
                exchange.set_waiting(command);
                let channel = exchange.facts.channel;
                exchange.facts.channel = channel.or_else(|| self.active_channel(exchange));
                true
            }
            (ReplyTarget::Unsolicited, Some((at, replies))) => {
                exchange.set_unsolicited(*at);
                exchange.set_replies(replies, kept);
                true
            }
            (ReplyTarget::Unsolicited, None) | (ReplyTarget::Forgotten, _) => false,
        }
    }

    /// Removes what [`read_exchange`](Self::read_exchange) copies.
    fn release_exchange(&mut self, of: ReplyTarget, shared: &mut Shared) {
        let (shard, kept) = (self.shard, &mut shared.kept);
        match of {
            ReplyTarget::Oldest => {
                let waiting = &mut shared.waiting;
                waiting.pop(shard, &mut self.waiting, &mut shared.line);
                self.replies.release(shard, kept);
            }
            ReplyTarget::Unsolicited => {
                if let Some((_, mut replies)) = self.unsolicited.take() {
                    replies.release(shard, kept);
                }
            }
            ReplyTarget::Forgotten => {}
        }
    }

    /// Reports what waits, without the rest of its replies.
    fn report_one<S: MessageSink>(&mut self, of: ReplyTarget, context: &mut Context<'_, S>) {
        let mut exchange = core::mem::take(&mut context.shared.exchange);
        if self.read_exchange(of, &mut exchange, context.shared) {
            self.release_exchange(of, context.shared);
            self.report(&exchange, context);
        }
        context.shared.exchange = exchange;
    }

    /// Reports all that waits.
    fn report_all<S: MessageSink>(&mut self, context: &mut Context<'_, S>) {
        self.report_one(ReplyTarget::Unsolicited, context);
        while !self.waiting.is_empty() {
            self.report_one(ReplyTarget::Oldest, context);
        }
    }

    /// Reports a command and its replies.
    fn report<S: MessageSink>(&self, exchange: &Exchange, context: &mut Context<'_, S>) {
        let Context {
            shared,
            sink,
            options,
            ..
        } = context;
        if sink.reads(&event::FTP) {
            shared.event.report(exchange, *sink);
        } else {
            // The message is counted all the same.
            sink.message(&event::FTP, exchange.at, &[]);
        }
        let command = exchange.command();
        let is_logged = is_logged(command) || options.all_commands && !command.is_empty();
        if !is_logged || !sink.reads(&log::FTP_LOG) {
            return;
        }
        let [user, password, directory] = &mut shared.texts;
        for (text, kept) in [
            (&mut *user, &self.user),
            (&mut *password, &self.password),
            (&mut *directory, &self.directory),
        ] {
            text.clear();
            shared.kept.read(kept, text);
        }
        let info = SessionInfo {
            ends: self.ends,
            user,
            password,
            is_password_hidden: self.has_secret,
            directory: directory_or_dot(directory),
        };
        shared.log.report(exchange, &info, *sink);
    }
}

/// The current directory of a session; `.` if unknown, as in Zeek.
const fn directory_or_dot(directory: &[u8]) -> &[u8] {
    if directory.is_empty() {
        b"."
    } else {
        directory
    }
}

/// Commands that open the data connection.
const TRANSFERS: [&[u8]; 7] = [
    b"RETR", b"STOR", b"APPE", b"STOU", b"LIST", b"NLST", b"MLSD",
];
