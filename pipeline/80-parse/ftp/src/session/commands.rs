//! Reads the client's commands, and applies them to the session.

use super::{Context, Open, ReplyTarget, Session, secrets};
use crate::exchange::{Channel, Exchange};
use crate::parser::Shared;
use crate::syntax::address;
use crate::syntax::line::without_telnet;
use flowpin_counters::Loss;
use flowpin_parser::Line;
use flowpin_record::MessageSink;

impl Session {
    pub(super) fn command<S: MessageSink>(&mut self, line: Line<'_>, context: &mut Context<'_, S>) {
        let text = without_telnet(line.text);
        let word_len = word_len(text);
        let word = text.get(..word_len).unwrap_or_default();
        if text.is_empty() || line.is_rest && !is_known(word) {
            return;
        }
        context.sink.fits(is_known(word));
        if word_len == 0 {
            context.sink.anomaly("ftp_bad_command");
        }
        if line.is_cut {
            // What its alerts show: the record follows when it is answered.
            context.sink.said(true, "ftp.command", word);
            context.sink.anomaly("request_command_too_long");
        }
        self.end_open_reply(context);
        let secret_at = secrets::begin(text, word, self.is_guest);
        // A line that is not a command is not kept: it may be a password.
        let kept = if word_len == 0 { &[] } else { text };
        if !self.make_room(word_len, context) {
            return;
        }
        let mut exchange = core::mem::take(&mut context.shared.exchange);
        exchange.set_command(context.at, (kept, word_len), line.is_cut, secret_at);
        let waiting = &context.shared.waiting;
        if !waiting.has_room(self.shard, exchange.line.len()) {
            exchange.cut_to_word();
            context.shared.losses.count(Loss::FtpText, 1);
        }
        self.apply_command(&mut exchange, context);
        if !self.has_server {
            self.announce_data(&mut exchange, context);
        }
        let (command, waiting) = (exchange.to_command(), &mut context.shared.waiting);
        if !waiting.push(self.shard, &mut self.waiting, command, &exchange.line) {
            // What the session keeps of it took the rest of the memory.
            self.left_out = self.left_out.saturating_add(1);
            context.shared.losses.count(Loss::FtpCommands, 1);
        }
        context.shared.exchange = exchange;
    }

    /// Ends the open reply when the client continues. Some servers never end a reply of several
    /// lines: its last line that looks like another reply counts as the end.
    pub(super) fn end_open_reply<S: MessageSink>(&mut self, context: &mut Context<'_, S>) {
        if let Some(Open {
            to,
            other: Some(head),
            ..
        }) = self.open
        {
            self.open = None;
            self.complete_reply(to, head, context);
        }
        if core::mem::take(&mut self.is_unsure) {
            self.open = None;
            (self.left_out, self.reported_early) = (0, 0);
            self.report_all(context);
        }
    }

    /// Makes room for one more waiting command with a word of this length; false if there is none.
    fn make_room<S: MessageSink>(&mut self, len: usize, context: &mut Context<'_, S>) -> bool {
        let most = context.options.commands_max as usize;
        let has_room = |shared: &Shared, shard| shared.waiting.has_room(shard, len);
        if self.left_out == 0 && self.waiting.len() < most && has_room(context.shared, self.shard) {
            return true;
        }
        if self.has_server || self.waiting.is_empty() {
            self.left_out = self.left_out.saturating_add(1);
            context.shared.losses.count(Loss::FtpCommands, 1);
            return false;
        }
        // The server is not in the capture.
        self.reported_early = self.reported_early.saturating_add(1);
        self.report_one(ReplyTarget::Oldest, context);
        has_room(context.shared, self.shard)
    }

    /// Applies a command to the session.
    fn apply_command<S: MessageSink>(
        &mut self,
        exchange: &mut Exchange,
        context: &mut Context<'_, S>,
    ) {
        match exchange.command() {
            b"USER" => {
                let user = first_bytes(exchange.argument());
                let shared = &mut *context.shared;
                let is_kept = shared.kept.replace(self.shard, &mut self.user, user);
                shared.losses.count(Loss::FtpText, (!is_kept).into());
                shared.kept.release(self.shard, &mut self.password);
                (self.has_secret, self.is_guest) = (false, is_kept && is_guest(user));
            }
            b"PASS" => {
                let password = first_bytes(exchange.argument());
                let shared = &mut *context.shared;
                let is_kept = shared
                    .kept
                    .replace(self.shard, &mut self.password, password);
                shared.losses.count(Loss::FtpText, (!is_kept).into());
                self.has_secret = exchange.is_secret();
            }
            b"PORT" | b"EPRT" => {
                exchange.facts.channel = self.active_channel(exchange);
                match exchange.facts.channel {
                    None => context.sink.anomaly("ftp_bad_port"),
                    Some(channel) if channel.listener.address != self.ends.client.address => {
                        context.sink.anomaly("ftp_bounce");
                    }
                    Some(_) => {}
                }
            }
            _ => {}
        }
    }

    /// The data channel with the address and port that the client names, if it does.
    pub(super) fn active_channel(&self, exchange: &Exchange) -> Option<Channel> {
        let listener = match exchange.command() {
            b"PORT" => address::of_port(exchange.argument()),
            b"EPRT" => address::of_extended_port(exchange.argument()),
            _ => None,
        };
        Some(Channel {
            is_passive: false,
            opener: self.ends.server.address,
            listener: listener?,
        })
    }
}

/// What is kept of a name or a password.
fn first_bytes(text: &[u8]) -> &[u8] {
    text.get(..NAME_MAX).unwrap_or(text)
}

/// The length of the command word (RFC 959 §5.3): letters, and digits in newer commands; 0 if the
/// line does not begin with a command.
fn word_len(line: &[u8]) -> usize {
    let len = memchr::memchr(b' ', line).unwrap_or(line.len());
    let word = line.get(..len).unwrap_or_default();
    let is_word = word.first().is_some_and(u8::is_ascii_alphabetic)
        && word.len() <= WORD_MAX
        && word.iter().all(u8::is_ascii_alphanumeric);
    if is_word { len } else { 0 }
}

/// Whether a user name needs no password (Zeek's list).
fn is_guest(user: &[u8]) -> bool {
    let guests: [&[u8]; 4] = [b"anonymous", b"ftp", b"ftpuser", b"guest"];
    guests.iter().any(|guest| user.eq_ignore_ascii_case(guest))
}

/// Whether a word is a known command. A line that may be the rest of another one is read only if it
/// begins with one.
pub(super) fn is_known(word: &[u8]) -> bool {
    let mut letters = [b' '; 4];
    let Some(start) = letters.get_mut(..word.len()) else {
        return false;
    };
    start.copy_from_slice(word);
    KNOWN
        .binary_search(&letters.map(|letter| letter.to_ascii_uppercase()))
        .is_ok()
}

/// Sorted, for binary search.
const KNOWN: [[u8; 4]; 69] = [
    *b"ABOR", *b"ACCT", *b"ADAT", *b"ALLO", *b"APPE", *b"AUTH", *b"AVBL", *b"CCC ", *b"CDUP",
    *b"CLNT", *b"COMB", *b"CONF", *b"CSID", *b"CWD ", *b"DELE", *b"ENC ", *b"EPRT", *b"EPSV",
    *b"FEAT", *b"HASH", *b"HELP", *b"HOST", *b"LANG", *b"LIST", *b"LPRT", *b"LPSV", *b"MDTM",
    *b"MFCT", *b"MFF ", *b"MFMT", *b"MIC ", *b"MKD ", *b"MLSD", *b"MLST", *b"MODE", *b"NLST",
    *b"NOOP", *b"OPTS", *b"PASS", *b"PASV", *b"PBSZ", *b"PORT", *b"PROT", *b"PWD ", *b"QUIT",
    *b"REIN", *b"REST", *b"RETR", *b"RMD ", *b"RNFR", *b"RNTO", *b"SITE", *b"SIZE", *b"SMNT",
    *b"STAT", *b"STOR", *b"STOU", *b"STRU", *b"SYST", *b"TYPE", *b"USER", *b"XCRC", *b"XCUP",
    *b"XCWD", *b"XMD5", *b"XMKD", *b"XPWD", *b"XRMD", *b"XSHA",
];

/// More than the longest known command, which has eight letters.
const WORD_MAX: usize = 16;
/// Bytes kept of a user name and of a guest's password, as in Zeek.
const NAME_MAX: usize = 128;
