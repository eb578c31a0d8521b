//! Reads the client's commands, and applies them to the session.

use super::{Context, Open, Session, secrets};
use crate::exchange::{Channel, Exchange};
use crate::syntax::address;
use crate::syntax::line::{Line, without_telnet};
use flowpin_counters::Loss;
use flowpin_record::{MessageSink, RecordEndpoint};

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
            context.sink.anomaly("request_command_too_long");
        }
        self.end_open_reply(context);
        if !self.make_room(context) {
            return;
        }
        let mut exchange = context.shared.spare.pop().unwrap_or_default();
        exchange.at = context.at;
        exchange.is_cut = line.is_cut;
        let secret_at = secrets::begin(text, word, is_guest(&self.user));
        // A line that is not a command is not kept: it may be a password.
        let kept = if word_len == 0 { &[] } else { text };
        let budget = &mut context.shared.budget;
        exchange.set_command((kept, word_len), secret_at, self.shard, budget);
        self.apply_command(&mut exchange, context);
        if !self.has_server {
            self.announce_data(&mut exchange, context);
        }
        self.waiting.push_back(exchange);
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

    /// Makes room for one more waiting command; false if there is none.
    fn make_room<S: MessageSink>(&mut self, context: &mut Context<'_, S>) -> bool {
        let (budget, most) = (
            &mut context.shared.budget,
            context.options.commands_max as usize,
        );
        if self.left_out == 0 && self.waiting.len() < most && budget.take(self.shard, COMMAND_BYTES)
        {
            return true;
        }
        if self.has_server || self.waiting.is_empty() {
            self.left_out = self.left_out.saturating_add(1);
            context.shared.budget.losses.count(Loss::FtpCommands, 1);
            return false;
        }
        // The server is not in the capture.
        self.reported_early = self.reported_early.saturating_add(1);
        self.report_oldest(context);
        context.shared.budget.take(self.shard, COMMAND_BYTES)
    }

    /// Applies a command to the session.
    fn apply_command<S: MessageSink>(
        &mut self,
        exchange: &mut Exchange,
        context: &mut Context<'_, S>,
    ) {
        let (shard, budget) = (self.shard, &mut context.shared.budget);
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
            b"PORT" => self.set_active_channel(exchange, address::of_port, context),
            b"EPRT" => self.set_active_channel(exchange, address::of_extended_port, context),
            _ => {}
        }
    }

    /// Sets the data channel from the address and port that the client names.
    fn set_active_channel<S: MessageSink>(
        &self,
        exchange: &mut Exchange,
        read: fn(&[u8]) -> Option<RecordEndpoint>,
        context: &mut Context<'_, S>,
    ) {
        let Some((listener, ends)) = read(exchange.argument()).zip(self.ends) else {
            context.sink.anomaly("ftp_bad_port");
            return;
        };
        if listener.address != ends.client.address {
            context.sink.anomaly("ftp_bounce");
        }
        exchange.channel = Some(Channel {
            is_passive: false,
            opener: ends.server.address,
            listener,
        });
    }
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
/// Memory of a waiting command, without its text.
pub(super) const COMMAND_BYTES: u32 = 256;
const _: () = assert!(size_of::<Exchange>() <= COMMAND_BYTES as usize);
