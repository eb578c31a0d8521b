//! One connection: its waiting commands, and the record of a command and its answer.

use crate::parser::Shared;
use crate::schema::NUT;
use crate::words::Words;
use flowpin_counters::Loss;
use flowpin_memory::Chain;
use flowpin_packet::Timestamp;
use flowpin_parser::{Line, PartialLine, Queue};
use flowpin_record::{MessageSink, Value};

/// A connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Session {
    shard: u8,
    /// Bytes were missing: until the next command, answers belong to no command.
    is_lost: bool,
    client: PartialLine,
    server: PartialLine,
    /// Unanswered commands.
    pub(crate) waiting: Queue,
    user: Chain,
    /// Number of lines so far of the list that the server is sending.
    list: Option<u64>,
}

/// A command. Its text is its line, without anything that may be a password.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Command {
    at: Timestamp,
    is_cut: bool,
}

/// Buffers for the current command and answer, shared by all connections. None grows past the
/// longest line.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// The line of a command that waits no longer.
    line: Vec<u8>,
    command: Words,
    answer: Words,
    name: Vec<u8>,
    user: Vec<u8>,
}

/// The argument layout of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verb {
    /// One word, then the power supply, a name and a value.
    One,
    /// Two words, then the same arguments.
    Two,
    /// No arguments are reported: there are none, or they are secret.
    Bare,
    User,
    Unknown,
}

impl Session {
    pub(crate) fn new(shard: u8) -> Self {
        Self {
            shard,
            is_lost: false,
            client: PartialLine::default(),
            server: PartialLine::default(),
            waiting: Queue::default(),
            user: Chain::default(),
            list: None,
        }
    }

    /// The shard, and the incomplete line of one direction.
    pub(crate) const fn side(&mut self, to_server: bool) -> (u8, &mut PartialLine) {
        let side = match to_server {
            true => &mut self.client,
            false => &mut self.server,
        };
        (self.shard, side)
    }

    /// Handles missing bytes.
    pub(crate) const fn lose(&mut self) {
        (self.list, self.is_lost) = (None, true);
    }

    pub(crate) fn forget_user(&mut self, shared: &mut Shared) {
        shared.users.release(self.shard, &mut self.user);
    }

    /// Queues a command until its answer arrives; without room, reports it without an answer.
    pub(crate) fn command<S: MessageSink>(
        &mut self,
        line: Line<'_>,
        at: Timestamp,
        shared: &mut Shared,
        sink: &mut S,
    ) {
        let words = &mut shared.scratch.command;
        words.read(line.text);
        let verb = verb(words.get(0), words.get(1));
        let mut text = line.text;
        match verb {
            Verb::User => {
                let is_kept = shared
                    .users
                    .replace(self.shard, &mut self.user, words.get(1));
                shared.losses.count(Loss::ParserBytes, (!is_kept).into());
            }
            // Any argument may be a password.
            Verb::Bare | Verb::Unknown => {
                let len = memchr::memchr(b' ', text).unwrap_or(text.len());
                text = text.get(..len).unwrap_or_default();
            }
            Verb::One | Verb::Two => {}
        }
        self.is_lost = false;
        sink.fits(verb != Verb::Unknown);
        let command = Command {
            at,
            is_cut: line.is_cut,
        };
        let waiting = &mut shared.waiting;
        if self.waiting.len() >= WAITING_MAX
            || !waiting.push(self.shard, &mut self.waiting, command, text)
        {
            let lost = text.len().max(1);
            shared.losses.count(Loss::ParserBytes, lost as u64);
            self.report(Some((command, text)), None, at, shared, sink);
        }
    }

    /// Reads a line of the server: an answer, or a part of a list. Returns whether the connection
    /// continues as TLS.
    pub(crate) fn answer<S: MessageSink>(
        &mut self,
        line: Line<'_>,
        at: Timestamp,
        shared: &mut Shared,
        sink: &mut S,
    ) -> bool {
        let words = &mut shared.scratch.answer;
        words.read(line.text);
        let [first, second] = [0, 1].map(|place| words.get(place));
        let is_list = second == b"LIST";
        match (first, self.list) {
            (b"BEGIN", None) if is_list => {
                self.list = Some(0);
                sink.fits(true);
                return false;
            }
            (b"END", Some(_)) if is_list => {}
            (_, Some(lines)) => {
                self.list = Some(lines.saturating_add(1));
                sink.fits(true);
                return false;
            }
            _ => {}
        }
        let is_known = self.list.is_some() || ANSWERS.contains(&first);
        let is_error = first == b"ERR";
        let is_tls = first == b"OK" && second == b"STARTTLS";
        let mut text = core::mem::take(&mut shared.scratch.line);
        let command = shared.waiting.pop(self.shard, &mut self.waiting, &mut text);
        let is_free = command.is_some() && is_free_text(&text);
        if command.is_some() || (is_known && !self.is_lost) {
            let answer = Answer {
                is_error,
                items: self.list,
                line: (is_free && !is_error).then_some(line.text),
                is_cut: line.is_cut,
            };
            let command = command.map(|command| (command, text.as_slice()));
            self.report(command, Some(&answer), at, shared, sink);
        }
        shared.scratch.line = text;
        self.list = None;
        sink.fits(is_known || is_free);
        is_tls
    }

    /// Reports all waiting commands without answers.
    pub(crate) fn report_waiting<S: MessageSink>(&mut self, shared: &mut Shared, sink: &mut S) {
        let mut text = core::mem::take(&mut shared.scratch.line);
        while let Some(command) = shared.waiting.pop(self.shard, &mut self.waiting, &mut text) {
            self.report(Some((command, &text)), None, command.at, shared, sink);
        }
        shared.scratch.line = text;
    }

    /// Reports a command and its line, and the answer to it.
    fn report<S: MessageSink>(
        &self,
        command: Option<(Command, &[u8])>,
        answer: Option<&Answer<'_>>,
        at: Timestamp,
        shared: &mut Shared,
        sink: &mut S,
    ) {
        let Scratch {
            command: words,
            answer: reply,
            name,
            user,
            ..
        } = &mut shared.scratch;
        user.clear();
        shared.users.read(&self.user, user);
        words.read(command.map_or(b"", |(_, line)| line));
        let verb = verb(words.get(0), words.get(1));
        name.clear();
        name.extend(words.get(0).iter().map(u8::to_ascii_uppercase));
        if verb == Verb::Two {
            name.push(b' ');
            name.extend(words.get(1).iter().map(u8::to_ascii_uppercase));
        }
        let [ups, named, set] = match verb {
            Verb::One => [1, 2, 3].map(|place| words.get(place)),
            Verb::Two => [2, 3, 4].map(|place| words.get(place)),
            Verb::Bare | Verb::User | Verb::Unknown => [&[][..]; 3],
        };
        let value = match answer {
            _ if !set.is_empty() => set,
            Some(Answer {
                line: Some(line), ..
            }) => line,
            Some(answer) if !answer.is_error => value_of(reply),
            _ => &[],
        };
        let error = answer.filter(|answer| answer.is_error);
        let command = command.map(|(command, _)| command);
        let is_cut = [command.map(|one| one.is_cut), answer.map(|one| one.is_cut)];
        let values = [
            Value::bytes(name),
            Value::bytes(ups),
            Value::bytes(named),
            Value::bytes(value),
            Value::bytes(user),
            match answer {
                Some(answer) => Value::Text(if answer.is_error { "ERR" } else { "OK" }),
                None => Value::Unset,
            },
            error.map_or(Value::Unset, |_| Value::bytes(reply.get(1))),
            Value::count(answer.and_then(|answer| answer.items)),
            Value::Bool(is_cut.contains(&Some(true))),
        ];
        let time = command.map_or(at, |command| command.at);
        sink.message(&NUT, time, &values);
    }
}

/// The server's answer to a command.
struct Answer<'a> {
    is_error: bool,
    items: Option<u64>,
    /// The whole line, if the command is answered by free text.
    line: Option<&'a [u8]>,
    is_cut: bool,
}

/// Waiting commands of one connection: clients usually send one at a time.
const WAITING_MAX: usize = 32;

/// The value in an answer to GET.
fn value_of(answer: &Words) -> &[u8] {
    match answer.get(0) {
        b"VAR" | b"DESC" | b"CMDDESC" => answer.get(3),
        b"TYPE" => answer.rest(3),
        b"UPSDESC" | b"NUMLOGINS" | b"NUMATTACH" => answer.get(2),
        _ => &[],
    }
}

/// Whether a command is answered by free text.
fn is_free_text(command: &[u8]) -> bool {
    let free: [&[u8]; 4] = [b"VER", b"HELP", b"NETVER", b"PROTVER"];
    free.iter().any(|one| command.eq_ignore_ascii_case(one))
}

/// Classifies a command by its first words (RFC 9271 §4.2, and the names used before the RFC).
fn verb(first: &[u8], second: &[u8]) -> Verb {
    let is_in = |word: &[u8], all: &[&[u8]]| all.iter().any(|one| word.eq_ignore_ascii_case(one));
    match () {
        () if is_in(first, &[b"LIST"]) && is_in(second, LISTS) => Verb::Two,
        () if is_in(first, &[b"GET"]) && is_in(second, GETS) => Verb::Two,
        () if is_in(first, &[b"SET"]) && is_in(second, &[b"VAR", b"TRACKING"]) => Verb::Two,
        () if is_in(first, &[b"USERNAME"]) => Verb::User,
        () if is_in(first, OF_UPS) => Verb::One,
        () if is_in(first, BARE) => Verb::Bare,
        () => Verb::Unknown,
    }
}

const LISTS: &[&[u8]] = &[b"UPS", b"VAR", b"RW", b"CMD", b"CLIENT", b"ENUM", b"RANGE"];
const GETS: &[&[u8]] = &[
    b"VAR",
    b"TYPE",
    b"DESC",
    b"CMDDESC",
    b"UPSDESC",
    b"NUMLOGINS",
    b"NUMATTACH",
    b"TRACKING",
];
const OF_UPS: &[&[u8]] = &[
    b"INSTCMD", b"FSD", b"LOGIN", b"ATTACH", b"PRIMARY", b"MASTER",
];
const BARE: &[&[u8]] = &[
    b"PASSWORD",
    b"STARTTLS",
    b"LOGOUT",
    b"DETACH",
    b"VER",
    b"HELP",
    b"NETVER",
    b"PROTVER",
];
/// First words of answers.
const ANSWERS: &[&[u8]] = &[
    b"OK",
    b"ERR",
    b"VAR",
    b"TYPE",
    b"DESC",
    b"CMDDESC",
    b"UPSDESC",
    b"NUMLOGINS",
    b"NUMATTACH",
];
