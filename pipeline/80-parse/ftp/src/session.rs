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

use crate::FtpOptions;
use crate::budget::Budget;
use crate::exchange::{Channel, Exchange};
use crate::line::{Line, Unfinished, without_telnet};
use crate::parser::{Ends, Shared};
use crate::record::log::{About, is_logged};
use crate::record::{event, log};
use crate::reply::{Head, only_command, size_in};
use crate::{address, path};
use flowpin_counters::Loss;
use flowpin_packet::{Shard, Timestamp};
use flowpin_record::{DataChannel, MessageSink, RecordEndpoint};
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
    /// Nothing is readable any more.
    is_over: bool,
    /// A data connection was announced, and nothing told yet that it carries.
    has_channel: bool,
    user: Vec<u8>,
    password: Vec<u8>,
    has_secret: bool,
    directory: Vec<u8>,
}

/// A reply of several lines.
#[derive(Clone, Copy, Debug)]
struct Open {
    code: [u8; 3],
    to: Addressee,
    /// The last line began like the end of a reply, though with another code.
    other: Option<Head>,
}

/// Whom a reply answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Addressee {
    /// The oldest command that waits.
    Oldest,
    /// Nobody asked.
    Unasked,
    /// A command of which nothing was kept.
    Forgotten,
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

    fn command<S: MessageSink>(&mut self, line: Line<'_>, scene: &mut Scene<'_, S>) {
        let text = without_telnet(line.text);
        let word_len = word_len(text);
        let word = text.get(..word_len).unwrap_or_default();
        if text.is_empty() || line.is_rest && !is_known(word) {
            return;
        }
        scene.sink.fits(word_len > 0);
        if word_len == 0 {
            scene.sink.anomaly("ftp_bad_command");
        }
        if line.is_cut {
            scene.sink.anomaly("request_command_too_long");
        }
        self.client_goes_on(scene);
        if !self.make_room(scene) {
            return;
        }
        let mut exchange = scene.shared.spare.pop().unwrap_or_default();
        exchange.at = scene.at;
        exchange.is_cut = line.is_cut;
        let is = |command: &[u8]| word.eq_ignore_ascii_case(command);
        let is_secret = is(b"PASS") && !is_guest(&self.user) || is(b"ACCT") || is(b"ADAT");
        // Of what is no command nothing is kept: it may be anything, a password too.
        let kept = if word_len == 0 { &[] } else { text };
        let budget = &mut scene.shared.budget;
        exchange.ask((kept, word_len), is_secret, self.shard, budget);
        self.note(&mut exchange, scene);
        if !self.has_server {
            self.tell_data(&mut exchange, scene);
        }
        self.waiting.push_back(exchange);
    }

    /// A client that goes on takes the reply before for whole. Some servers begin one of several
    /// lines and never end it: the next one counts.
    fn client_goes_on<S: MessageSink>(&mut self, scene: &mut Scene<'_, S>) {
        if let Some(Open {
            to,
            other: Some(head),
            ..
        }) = self.open
        {
            self.open = None;
            self.is_answered(to, head, scene);
        }
        if core::mem::take(&mut self.is_unsure) {
            self.open = None;
            (self.unkept, self.passed) = (0, 0);
            self.tell_all(scene);
        }
    }

    /// Whether one more command can wait.
    fn make_room<S: MessageSink>(&mut self, scene: &mut Scene<'_, S>) -> bool {
        if self.unkept == 0 && self.waiting.len() < scene.options.commands_max as usize {
            return true;
        }
        if self.has_server || self.unkept > 0 {
            self.unkept = self.unkept.saturating_add(1);
            scene.shared.budget.losses.count(Loss::FtpCommands, 1);
            return false;
        }
        // The server is not in the capture.
        self.passed = self.passed.saturating_add(1);
        self.tell_oldest(scene);
        true
    }

    /// What a command says of the session.
    fn note<S: MessageSink>(&mut self, exchange: &mut Exchange, scene: &mut Scene<'_, S>) {
        let (shard, budget) = (self.shard, &mut scene.shared.budget);
        match exchange.command() {
            b"USER" => {
                budget.replace(shard, &mut self.user, exchange.argument(), NAME_MAX);
                budget.clear(shard, &mut self.password);
                self.has_secret = false;
            }
            b"PASS" => {
                budget.replace(shard, &mut self.password, exchange.argument(), NAME_MAX);
                self.has_secret = exchange.is_secret;
            }
            b"PORT" => self.ask_for_data(exchange, address::of_port, scene),
            b"EPRT" => self.ask_for_data(exchange, address::of_extended_port, scene),
            _ => {}
        }
    }

    /// The client names an address and a port.
    fn ask_for_data<S: MessageSink>(
        &self,
        exchange: &mut Exchange,
        read: fn(&[u8]) -> Option<RecordEndpoint>,
        scene: &mut Scene<'_, S>,
    ) {
        let Some((listener, ends)) = read(exchange.argument()).zip(self.ends) else {
            scene.sink.anomaly("ftp_bad_port");
            return;
        };
        if listener.address != ends.client.address {
            scene.sink.anomaly("ftp_bounce");
        }
        exchange.channel = Some(Channel {
            is_passive: false,
            opener: ends.server.address,
            listener,
        });
    }

    fn reply<S: MessageSink>(&mut self, line: Line<'_>, scene: &mut Scene<'_, S>) {
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
            && let Some(at) = self.waiting.iter().position(|one| one.command() == command)
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
    fn is_answered<S: MessageSink>(&mut self, to: Addressee, head: Head, scene: &mut Scene<'_, S>) {
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
        self.take_in(&mut exchange, head, scene);
        if is_last {
            let agrees = exchange.command() == b"AUTH" && &head.code == b"234";
            self.tell(exchange, scene);
            // RFC 4217 §4: TLS begins.
            if agrees {
                self.tell_all(scene);
                self.is_over = true;
            }
        } else if to == Addressee::Oldest {
            self.waiting.push_front(exchange);
        } else {
            self.unasked = Some(exchange);
        }
    }

    /// What a reply says of the session and of data connections.
    fn take_in<S: MessageSink>(
        &mut self,
        exchange: &mut Exchange,
        head: Head,
        scene: &mut Scene<'_, S>,
    ) {
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
        if moved && directory.len() <= DIRECTORY_MAX {
            let budget = &mut scene.shared.budget;
            budget.replace(self.shard, &mut self.directory, directory, DIRECTORY_MAX);
        } else if moved {
            scene.shared.budget.clear(self.shard, &mut self.directory);
        }
        if head.is_success() || head.is_preliminary() {
            self.tell_data(exchange, scene);
        }
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

/// What the server waits for, and for whom.
const fn passive(listener: RecordEndpoint, ends: Ends) -> Channel {
    Channel {
        is_passive: true,
        opener: ends.client.address,
        listener,
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

/// The length of a command's word (RFC 959 §5.3): letters, also digits in those of later days; 0 if
/// the line begins with anything else.
fn word_len(line: &[u8]) -> usize {
    let len = memchr::memchr(b' ', line).unwrap_or(line.len());
    let word = line.get(..len).unwrap_or_default();
    let is_word = word.first().is_some_and(u8::is_ascii_alphabetic)
        && word.len() <= WORD_MAX
        && word.iter().all(u8::is_ascii_alphanumeric);
    if is_word { len } else { 0 }
}

/// Whether a name is one of those that need no password (Zeek's list).
fn is_guest(user: &[u8]) -> bool {
    let guests: [&[u8]; 4] = [b"anonymous", b"ftp", b"ftpuser", b"guest"];
    guests.iter().any(|guest| user.eq_ignore_ascii_case(guest))
}

/// Whether a word is a command for sure: what a line is known by that may be the rest of one.
fn is_known(word: &[u8]) -> bool {
    KNOWN.iter().any(|one| one.eq_ignore_ascii_case(word))
}

const KNOWN: [&[u8]; 42] = [
    b"ABOR", b"ACCT", b"ALLO", b"APPE", b"AUTH", b"CCC", b"CDUP", b"CLNT", b"CWD", b"DELE",
    b"EPRT", b"EPSV", b"FEAT", b"HELP", b"LIST", b"MDTM", b"MFMT", b"MKD", b"MLSD", b"MLST",
    b"MODE", b"NLST", b"NOOP", b"OPTS", b"PASS", b"PASV", b"PBSZ", b"PORT", b"PROT", b"PWD",
    b"QUIT", b"REIN", b"REST", b"RETR", b"RMD", b"RNFR", b"RNTO", b"SITE", b"SIZE", b"STOR",
    b"TYPE", b"USER",
];

/// Commands that open the data connection.
const TRANSFERS: [&[u8]; 7] = [
    b"RETR", b"STOR", b"APPE", b"STOU", b"LIST", b"NLST", b"MLSD",
];

/// The longest command known has eight letters.
const WORD_MAX: usize = 16;
/// Of a user's name, and of a guest's password: as many as Zeek keeps.
const NAME_MAX: usize = 128;
/// The path of a directory that is longer is not followed.
const DIRECTORY_MAX: usize = 1024;
/// Kept to be used again; a connection seldom needs more than one.
const SPARE_MAX: usize = 64;
