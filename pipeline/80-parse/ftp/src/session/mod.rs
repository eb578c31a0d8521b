//! A control connection: commands wait for their replies, which come in their order.
//!
//! ```text
//!  client ──► command ──► │ oldest │ … │ latest │         waiting
//!                             ▲
//!  server ──► reply ──────────┘   1yz: another one follows; others: told, and gone
//!                └──► no command waits: told by itself (the greeting, 421)
//! ```
//!
//! Where one side is not in the capture: replies without commands are told by themselves, commands
//! without replies when there are too many of them, or at the end.

mod commands;
mod replies;
mod secrets;

use crate::Ends;
use crate::FtpOptions;
use crate::budget::Budget;
use crate::exchange::Exchange;
use crate::parser::Shared;
use crate::record::log::{About, is_logged};
use crate::record::{event, log};
use crate::syntax::line::{Line, Unfinished};
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
    client: Unfinished,
    server: Unfinished,
    waiting: VecDeque<Exchange>,
    /// Commands behind those that wait for which there was no room.
    unkept: u32,
    /// Commands before those that wait that were told without their replies.
    passed: u32,
    /// What the server says that no command waits for.
    unasked: Option<Exchange>,
    /// The reply that the next line goes on with.
    open: Option<Open>,
    /// The first reply was heard.
    is_greeted: bool,
    has_server: bool,
    /// Replies are missing: which commands they answered is not known.
    is_unsure: bool,
    /// The server has agreed to TLS.
    awaits_tls: bool,
    /// Nothing is readable any more.
    is_over: bool,
    /// A data connection was announced, and nothing told yet that it carries.
    has_channel: bool,
    user: Vec<u8>,
    password: Vec<u8>,
    has_secret: bool,
    directory: Vec<u8>,
}

/// When something happens, and where it is told.
pub(crate) struct Scene<'a, S> {
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

    /// Whether the next bytes of a side, some at least, are read: not behind an agreement to TLS
    /// (RFC 4217 §4), unless what comes is text. Who agrees and goes on in clear hides nothing.
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

    pub(crate) const fn unfinished(&mut self, to_server: bool) -> &mut Unfinished {
        if to_server {
            &mut self.client
        } else {
            &mut self.server
        }
    }

    /// Bytes of one side are missing.
    pub(crate) fn lose(&mut self, to_server: bool, budget: &mut Budget) {
        let shard = self.shard;
        self.unfinished(to_server).lose(shard, budget);
        if !to_server {
            self.open = None;
            self.is_unsure = true;
        }
    }

    /// A line of one side.
    pub(crate) fn line<S: MessageSink>(
        &mut self,
        to_server: bool,
        line: Line<'_>,
        scene: &mut Scene<'_, S>,
    ) {
        if to_server {
            self.command(line, scene);
        } else {
            self.has_server = true;
            self.reply(line, scene);
        }
    }

    /// No more lines come.
    pub(crate) fn end<S: MessageSink>(&mut self, scene: &mut Scene<'_, S>) {
        self.tell_all(scene);
        let (shard, budget) = (self.shard, &mut scene.shared.budget);
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

    /// Tells whoever names connections what a command, or the reply to it, says of them.
    fn tell_data<S: MessageSink>(&mut self, exchange: &mut Exchange, scene: &mut Scene<'_, S>) {
        let Some(ends) = self.ends.filter(|_| !exchange.is_told) else {
            return;
        };
        if let Some(channel) = exchange.channel {
            // Clients of today open passive connections to the server that they know: what it says
            // may be its address behind a translator, or a lie.
            let (opener, own) = if channel.is_passive {
                (ends.client, ends.server.address)
            } else {
                (ends.server, ends.client.address)
            };
            self.has_channel = channel.is_passive || channel.listener.address == own;
            if self.has_channel {
                scene.sink.data_channel(DataChannel::Announced {
                    by_client: !channel.is_passive,
                    opener: opener.address,
                    listener: RecordEndpoint {
                        address: own,
                        port: channel.listener.port,
                    },
                });
            }
            exchange.is_told = true;
        } else if self.has_channel && TRANSFERS.contains(&exchange.command()) {
            self.has_channel = false;
            scene.sink.data_channel(DataChannel::Carries {
                command: exchange.command(),
                file: exchange.argument(),
            });
            exchange.is_told = true;
        }
    }

    fn tell_oldest<S: MessageSink>(&mut self, scene: &mut Scene<'_, S>) {
        if let Some(exchange) = self.waiting.pop_front() {
            scene.shared.budget.give_back(self.shard, COMMAND_BYTES);
            self.tell(exchange, scene);
        }
    }

    /// Tells of all that still waits.
    fn tell_all<S: MessageSink>(&mut self, scene: &mut Scene<'_, S>) {
        if let Some(exchange) = self.unasked.take() {
            self.tell(exchange, scene);
        }
        while !self.waiting.is_empty() {
            self.tell_oldest(scene);
        }
    }

    /// Tells of a command and its replies.
    fn tell<S: MessageSink>(&self, mut exchange: Exchange, scene: &mut Scene<'_, S>) {
        let Scene {
            shared,
            sink,
            options,
            ..
        } = scene;
        if sink.reads(&event::FTP) {
            shared.event.tell(&exchange, *sink);
        } else {
            // It counts all the same.
            sink.message(&event::FTP, exchange.at, &[]);
        }
        let command = exchange.command();
        let is_logged = is_logged(command) || options.all_commands && !command.is_empty();
        if let Some(ends) = self.ends.filter(|_| is_logged && sink.reads(&log::FTP_LOG)) {
            let about = About {
                ends,
                user: &self.user,
                password: &self.password,
                is_password_hidden: self.has_secret,
                directory: of(&self.directory),
            };
            shared.log.tell(&exchange, &about, *sink);
        }
        exchange.clear(self.shard, &mut shared.budget);
        if shared.spare.len() < SPARE_MAX {
            shared.spare.push(exchange);
        }
    }
}

/// The directory that a session is in; Zeek's word where that is not known.
const fn of(directory: &[u8]) -> &[u8] {
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

/// Kept to be used again; a connection seldom needs more than one.
const SPARE_MAX: usize = 64;
