//! What the client says: commands, and what they tell of the session.

use super::{Open, Scene, Session, secrets};
use crate::exchange::{Channel, Exchange};
use crate::syntax::address;
use crate::syntax::line::{Line, without_telnet};
use flowpin_counters::Loss;
use flowpin_record::{MessageSink, RecordEndpoint};

impl Session {
    pub(super) fn command<S: MessageSink>(&mut self, line: Line<'_>, scene: &mut Scene<'_, S>) {
        let text = without_telnet(line.text);
        let word_len = word_len(text);
        let word = text.get(..word_len).unwrap_or_default();
        if text.is_empty() || line.is_rest && !is_known(word) {
            return;
        }
        scene.sink.fits(is_known(word));
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
        let secret_at = secrets::begin(text, word, is_guest(&self.user));
        // Of what is no command nothing is kept: it may be anything, a password too.
        let kept = if word_len == 0 { &[] } else { text };
        let budget = &mut scene.shared.budget;
        exchange.ask((kept, word_len), secret_at, self.shard, budget);
        self.note(&mut exchange, scene);
        if !self.has_server {
            self.tell_data(&mut exchange, scene);
        }
        self.waiting.push_back(exchange);
    }

    /// A client that goes on takes the reply before for whole. Some servers begin one of several
    /// lines and never end it: the next one counts.
    pub(super) fn client_goes_on<S: MessageSink>(&mut self, scene: &mut Scene<'_, S>) {
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
        let (budget, most) = (
            &mut scene.shared.budget,
            scene.options.commands_max as usize,
        );
        if self.unkept == 0 && self.waiting.len() < most && budget.take(self.shard, COMMAND_BYTES) {
            return true;
        }
        if self.has_server || self.waiting.is_empty() {
            self.unkept = self.unkept.saturating_add(1);
            scene.shared.budget.losses.count(Loss::FtpCommands, 1);
            return false;
        }
        // The server is not in the capture.
        self.passed = self.passed.saturating_add(1);
        self.tell_oldest(scene);
        scene.shared.budget.take(self.shard, COMMAND_BYTES)
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

/// In order.
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

/// The longest command known has eight letters.
const WORD_MAX: usize = 16;
/// Of a user's name, and of a guest's password: as many as Zeek keeps.
const NAME_MAX: usize = 128;
/// What a command takes that waits, besides its text.
pub(super) const COMMAND_BYTES: u32 = 256;
const _: () = assert!(size_of::<Exchange>() <= COMMAND_BYTES as usize);
