//! Runs conversations in the built-in grammars, whole and cut anywhere, and collects the messages.

use flowpin_memory::Budget;
use flowpin_packet::Timestamp;
use flowpin_parser::testing::Trial;
use flowpin_parser::{Parser, ParserSetup};
use flowpin_record::{MessageColumn, MessageSchema, MessageSink, Shown, Value};
use flowpin_text::{Protocol, Text, TextOptions, built_in};
use std::sync::Arc;

/// What formats of columns have.
#[derive(Default)]
pub(crate) struct Log(pub(crate) Vec<String>);

/// What EVE has: of each value its path.
#[derive(Default)]
pub(crate) struct Events(pub(crate) Vec<String>);

impl MessageSink for Events {
    fn message(&mut self, schema: &MessageSchema, time: Timestamp, values: &[Value<'_>]) {
        if schema.shown == Shown::InColumns {
            return;
        }
        let from = match schema.is_from_server(values) {
            true => "server",
            false => "client",
        };
        let mut line = format!("{} @{} {from}", schema.name, time.0);
        let columns = schema.columns.iter().zip(values);
        for (column, value) in columns.filter(|(column, _)| !column.eve.is_empty()) {
            if let Some(value) = show(value) {
                line.push_str(&format!(" {}={value}", column.eve));
            }
        }
        self.0.push(line);
    }
    fn anomaly(&mut self, event: &'static str) {
        self.0.push(format!("! {event}"));
    }
}

fn show(value: &Value<'_>) -> Option<String> {
    match value {
        Value::Unset => None,
        Value::Bytes(bytes) => Some(bytes.escape_ascii().to_string()),
        Value::Count(count) => Some(count.to_string()),
        Value::Bool(is_so) => Some(is_so.to_string()),
        Value::List(list) => {
            let members: Vec<String> = list.iter().filter_map(show).collect();
            Some(members.join("|"))
        }
        other => panic!("{other:?}"),
    }
}

impl MessageSink for Log {
    fn message(&mut self, schema: &MessageSchema, time: Timestamp, values: &[Value<'_>]) {
        if schema.shown == Shown::InEvents {
            return;
        }
        let mut line = format!("{} @{}", schema.file_stem, time.0);
        let columns = schema.columns.iter().zip(values);
        // Zeek's logs have the same values under other names.
        let is_column = |column: &MessageColumn| {
            let is_of_all = schema.file_stem != "sip" && OF_ALL.contains(&&*column.name);
            column.logs.in_tables() && !column.name.is_empty() && !is_of_all
        };
        for (column, value) in columns.filter(|(column, _)| is_column(column)) {
            if let Some(value) = show(value) {
                line.push_str(&format!(" {}={value}", column.name));
            }
        }
        self.0.push(line);
    }
    fn anomaly(&mut self, event: &'static str) {
        self.0.push(format!("! {event}"));
    }
}

/// Columns that (nearly) all records have: `columns.rs` looks at them.
const OF_ALL: [&str; 5] = [
    "trans_depth",
    "tls",
    "success",
    "first_received",
    "second_received",
];

/// A parser whose calls are checked.
pub(crate) fn trial(options: TextOptions, protocols: Vec<Arc<Protocol>>) -> Trial<Text> {
    trial_within(1 << 20, options, protocols)
}

/// The same, with less memory.
pub(crate) fn trial_within(
    shard_bytes: u64,
    options: TextOptions,
    protocols: Vec<Arc<Protocol>>,
) -> Trial<Text> {
    let budget = || Budget::new(shard_bytes);
    let setup = ParserSetup::default().with_budgets(budget(), budget());
    Trial::new(
        Text::with_protocols(options, protocols, &setup).unwrap(),
        &setup,
    )
}

/// The turns of a conversation in order; `true`: sent by the client.
pub(crate) type Turns<'a> = &'a [(bool, &'a [u8])];

/// The messages of a conversation whose turns are cut by `cut`.
pub(crate) fn messages(
    protocol: &str,
    turns: Turns<'_>,
    cut: impl Fn(usize, &[u8]) -> Vec<Vec<u8>>,
) -> Vec<String> {
    let mut log = Log::default();
    say(protocol, turns, cut, &mut log);
    log.0
}

/// The events of a conversation in whole turns.
pub(crate) fn events(protocol: &str, turns: Turns<'_>) -> Vec<String> {
    let mut log = Events::default();
    say(protocol, turns, whole, &mut log);
    log.0
}

fn say(
    protocol: &str,
    turns: Turns<'_>,
    cut: impl Fn(usize, &[u8]) -> Vec<Vec<u8>>,
    log: &mut impl MessageSink,
) {
    let mut text = trial(TextOptions::default(), built_in());
    let protocol = text.parser.protocol(protocol).unwrap();
    let handle = text.begin(protocol).unwrap();
    for (turn, (to_server, bytes)) in turns.iter().enumerate() {
        for piece in cut(turn, bytes) {
            text.data(handle, Timestamp(turn as u64), *to_server, &piece, log);
        }
    }
    text.end(handle, Timestamp(99), log);
    text.finish(log);
}

pub(crate) fn whole(_: usize, bytes: &[u8]) -> Vec<Vec<u8>> {
    vec![bytes.to_vec()]
}

/// Checks the messages of whole turns, of each turn cut in two at every position, of single bytes,
/// and of pieces of three bytes.
pub(crate) fn check(protocol: &str, turns: Turns<'_>, expected: &[&str]) {
    let got = messages(protocol, turns, whole);
    assert_eq!(got, expected);
    let longest = turns.iter().map(|(_, bytes)| bytes.len()).max().unwrap();
    for at in 0..=longest {
        let cut = |_: usize, bytes: &[u8]| {
            let (front, back) = bytes.split_at(at.min(bytes.len()));
            vec![front.to_vec(), back.to_vec()]
        };
        assert_eq!(messages(protocol, turns, cut), expected, "cut at {at}");
    }
    for len in [1, 3] {
        let cut = |_: usize, bytes: &[u8]| bytes.chunks(len).map(<[u8]>::to_vec).collect();
        assert_eq!(
            messages(protocol, turns, cut),
            expected,
            "in pieces of {len}"
        );
    }
}
