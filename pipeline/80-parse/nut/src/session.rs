//! One connection: its waiting commands, and the record of a command and its answer.

use crate::lines::Lines;
use crate::schema::NUT;
use crate::words::Words;
use flowpin_packet::Timestamp;
use flowpin_record::{MessageSink, Value};
use std::collections::VecDeque;

/// A connection.
#[derive(Debug, Default)]
pub(crate) struct Session {
    pub(crate) shard: u8,
    pub(crate) is_open: bool,
    pub(crate) client: Lines,
    pub(crate) server: Lines,
    /// Unanswered commands, the oldest first.
    pub(crate) waiting: VecDeque<Command>,
    user: Vec<u8>,
    /// Number of lines so far of the list that the server is sending.
    list: Option<u64>,
    /// Bytes were missing: until the next command, answers belong to no command.
    pub(crate) is_lost: bool,
}

/// A command as it was sent, without anything that may be a password.
#[derive(Debug)]
pub(crate) struct Command {
    pub(crate) at: Timestamp,
    pub(crate) line: Box<[u8]>,
    pub(crate) is_cut: bool,
}

impl Command {
    /// The memory that it takes while it waits: an empty line takes some, too.
    pub(crate) const fn cost(&self) -> usize {
        self.line.len().saturating_add(COMMAND_BYTES)
    }
}

/// A command's place in the queue, which grows by doubling, and its allocation.
const COMMAND_BYTES: usize = 112;

/// Buffers for the words of the current command and answer, shared by all connections.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    command: Words,
    answer: Words,
    name: Vec<u8>,
}

/// The result of reading a line of the server.
#[derive(Debug, Default)]
pub(crate) struct Answered {
    /// The command that the line answers; it has been reported.
    pub(crate) command: Option<Command>,
    /// The connection continues as TLS.
    pub(crate) is_tls: bool,
    /// The line is valid NUT.
    pub(crate) is_mine: bool,
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
    /// Prepares the session for a new connection.
    pub(crate) fn begin(&mut self, shard: u8) {
        (self.shard, self.is_open) = (shard, true);
    }

    pub(crate) fn forget(&mut self) {
        self.client.forget();
        self.server.forget();
        // A session that is kept for reuse keeps no memory of the last connection.
        (self.waiting, self.user) = (VecDeque::new(), Vec::new());
        (self.list, self.is_lost, self.is_open) = (None, false, false);
    }

    /// Handles missing bytes of one side.
    pub(crate) fn lose(&mut self, to_server: bool) {
        let lines = match to_server {
            true => &mut self.client,
            false => &mut self.server,
        };
        lines.lose();
        (self.list, self.is_lost) = (None, true);
    }

    /// Reads the command of a line, and removes what may be a password. Returns whether NUT has
    /// the command.
    pub(crate) fn command(&mut self, line: &mut Vec<u8>, scratch: &mut Scratch) -> bool {
        scratch.command.read(line);
        let verb = verb(scratch.command.get(0), scratch.command.get(1));
        match verb {
            Verb::User => {
                self.user.clear();
                self.user.extend_from_slice(scratch.command.get(1));
            }
            // Any argument may be a password.
            Verb::Bare | Verb::Unknown => {
                let len = memchr::memchr(b' ', line).unwrap_or(line.len());
                line.truncate(len);
            }
            Verb::One | Verb::Two => {}
        }
        self.is_lost = false;
        verb != Verb::Unknown
    }

    /// Reads a line of the server: an answer, or a part of a list.
    pub(crate) fn answer<S: MessageSink>(
        &mut self,
        (line, is_cut, at): (&[u8], bool, Timestamp),
        scratch: &mut Scratch,
        sink: &mut S,
    ) -> Answered {
        let mut answered = Answered {
            is_mine: true,
            ..Answered::default()
        };
        scratch.answer.read(line);
        let [first, second] = [0, 1].map(|place| scratch.answer.get(place));
        let is_list = second == b"LIST";
        match (first, self.list) {
            (b"BEGIN", None) if is_list => {
                self.list = Some(0);
                return answered;
            }
            (b"END", Some(_)) if is_list => {}
            (_, Some(lines)) => {
                self.list = Some(lines.saturating_add(1));
                return answered;
            }
            _ => {}
        }
        let is_known = self.list.is_some() || ANSWERS.contains(&first);
        let is_error = first == b"ERR";
        answered.is_tls = first == b"OK" && second == b"STARTTLS";
        let command = self.waiting.pop_front();
        let is_free = command.as_ref().is_some_and(|one| is_free_text(&one.line));
        if command.is_some() || (is_known && !self.is_lost) {
            let answer = Answer {
                is_error,
                items: self.list,
                line: (is_free && !is_error).then_some(line),
                is_cut,
            };
            self.report(command.as_ref(), Some(&answer), at, scratch, sink);
        }
        self.list = None;
        answered.is_mine = is_known || is_free;
        answered.command = command;
        answered
    }

    pub(crate) fn report<S: MessageSink>(
        &self,
        command: Option<&Command>,
        answer: Option<&Answer<'_>>,
        at: Timestamp,
        scratch: &mut Scratch,
        sink: &mut S,
    ) {
        let Scratch {
            command: words,
            answer: reply,
            name,
        } = scratch;
        words.read(command.map_or(b"", |command| &command.line));
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
        let is_cut = [command.map(|one| one.is_cut), answer.map(|one| one.is_cut)];
        let values = [
            Value::bytes(name),
            Value::bytes(ups),
            Value::bytes(named),
            Value::bytes(value),
            Value::bytes(&self.user),
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
pub(crate) struct Answer<'a> {
    is_error: bool,
    items: Option<u64>,
    /// The whole line, if the command is answered by free text.
    line: Option<&'a [u8]>,
    is_cut: bool,
}

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
