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

use crate::Ends;
use crate::FtpOptions;
use crate::budget::Budget;
use crate::exchange::Exchange;
use crate::parser::Shared;
use crate::record::log::{SessionInfo, is_logged};
use crate::record::{event, log};
use crate::syntax::line::{Line, PartialLine};
use commands::COMMAND_BYTES;
use flowpin_packet::{Shard, Timestamp};
use flowpin_record::{DataChannel, MessageSink, RecordEndpoint};
use replies::Open;
use std::collections::VecDeque;

/// A control connection.
#[derive(Debug, Default)]
pub(crate) struct Session {
    ends: Option<Ends>,
    shard: u8,
    client: PartialLine,
    server: PartialLine,
    waiting: VecDeque<Exchange>,
    /// Number of commands after the waiting ones for which there was no room.
    left_out: u32,
    /// Number of commands before the waiting ones that were reported without their replies.
    reported_early: u32,
    /// A reply for which no command waits.
    unsolicited: Option<Exchange>,
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
    user: Vec<u8>,
    password: Vec<u8>,
    has_secret: bool,
    directory: Vec<u8>,
}

/// The time of the current bytes, and the output for records.
pub(crate) struct Context<'a, S> {
    pub(crate) options: &'a FtpOptions,
    pub(crate) shared: &'a mut Shared,
    pub(crate) at: Timestamp,
    pub(crate) sink: &'a mut S,
}

impl Session {
    pub(crate) fn begin(&mut self, shard: Shard, ends: Ends) {
        self.ends = Some(ends);
        self.shard = shard.0;
    }

    pub(crate) const fn shard(&self) -> u8 {
        self.shard
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

    pub(crate) const fn partial_line(&mut self, to_server: bool) -> &mut PartialLine {
        if to_server {
            &mut self.client
        } else {
            &mut self.server
        }
    }

    /// Handles missing bytes of one side.
    pub(crate) fn lose(&mut self, to_server: bool, budget: &mut Budget) {
        let shard = self.shard;
        self.partial_line(to_server).lose(shard, budget);
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

    /// Reports what still waits and resets the session for reuse.
    pub(crate) fn end<S: MessageSink>(&mut self, context: &mut Context<'_, S>) {
        self.report_all(context);
        let (shard, budget) = (self.shard, &mut context.shared.budget);
        for text in [&mut self.user, &mut self.password, &mut self.directory] {
            budget.clear(shard, text);
        }
        *self = Self {
            waiting: core::mem::take(&mut self.waiting),
            user: core::mem::take(&mut self.user),
            password: core::mem::take(&mut self.password),
            directory: core::mem::take(&mut self.directory),
            ..Self::default()
        };
    }

    /// Announces the data connection that a command or its reply negotiates, or its content.
    fn announce_data<S: MessageSink>(
        &mut self,
        exchange: &mut Exchange,
        context: &mut Context<'_, S>,
    ) {
        let Some(ends) = self.ends.filter(|_| !exchange.is_announced) else {
            return;
        };
        if let Some(channel) = exchange.channel {
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
            exchange.is_announced = true;
        } else if self.has_channel && TRANSFERS.contains(&exchange.command()) {
            self.has_channel = false;
            context.sink.data_channel(DataChannel::Carries {
                command: exchange.command(),
                file: exchange.argument(),
            });
            exchange.is_announced = true;
        }
    }

    fn report_oldest<S: MessageSink>(&mut self, context: &mut Context<'_, S>) {
        if let Some(exchange) = self.waiting.pop_front() {
            context.shared.budget.give_back(self.shard, COMMAND_BYTES);
            self.report(exchange, context);
        }
    }

    /// Reports all waiting exchanges.
    fn report_all<S: MessageSink>(&mut self, context: &mut Context<'_, S>) {
        if let Some(exchange) = self.unsolicited.take() {
            self.report(exchange, context);
        }
        while !self.waiting.is_empty() {
            self.report_oldest(context);
        }
    }

    /// Reports a command and its replies.
    fn report<S: MessageSink>(&self, mut exchange: Exchange, context: &mut Context<'_, S>) {
        let Context {
            shared,
            sink,
            options,
            ..
        } = context;
        if sink.reads(&event::FTP) {
            shared.event.report(&exchange, *sink);
        } else {
            // The message is counted all the same.
            sink.message(&event::FTP, exchange.at, &[]);
        }
        let command = exchange.command();
        let is_logged = is_logged(command) || options.all_commands && !command.is_empty();
        if let Some(ends) = self.ends.filter(|_| is_logged && sink.reads(&log::FTP_LOG)) {
            let info = SessionInfo {
                ends,
                user: &self.user,
                password: &self.password,
                is_password_hidden: self.has_secret,
                directory: directory_or_dot(&self.directory),
            };
            shared.log.report(&exchange, &info, *sink);
        }
        exchange.clear(self.shard, &mut shared.budget);
        if shared.spare.len() < SPARE_MAX {
            shared.spare.push(exchange);
        }
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

/// Exchanges kept for reuse; a connection rarely needs more than one.
const SPARE_MAX: usize = 64;
