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
mod report;
mod secrets;

use crate::exchange::{Exchange, Replies};
use crate::options::FtpOptions;
use crate::parser::Shared;
use flowpin_memory::Chain;
use flowpin_packet::{Shard, Timestamp};
use flowpin_parser::{Ends, Line, PartialLine, Queue};
use flowpin_record::{DataChannel, MessageSink, RecordEndpoint};
use replies::{Open, ReplyTarget};
use report::directory_or_dot;

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
}

/// Commands that open the data connection.
const TRANSFERS: [&[u8]; 7] = [
    b"RETR", b"STOR", b"APPE", b"STOU", b"LIST", b"NLST", b"MLSD",
];
