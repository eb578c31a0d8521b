//! Events of commands, in Suricata's fields.

use crate::exchange::Exchange;
use Kind::{Bool, Count, Enum, Text, TextList};
use flowpin_record::{Kind, MessageColumn, MessageSchema, MessageSink, Value, ValueLists};

const fn event(eve: &'static str, kind: Kind, doc: &'static str) -> MessageColumn {
    MessageColumn::new("", eve, kind, doc)
}

const COLUMNS: &[MessageColumn] = &[
    event(
        "ftp.command",
        Text,
        "The command, in upper case; left out of what the server says unsolicited.",
    ),
    event(
        "ftp.command_data",
        Text,
        "What stands behind it; where a password may be `<hidden>`, unless a guest's.",
    ),
    event(
        "ftp.command_truncated",
        Bool,
        "Whether the command was longer than is kept.",
    ),
    event(
        "ftp.completion_code",
        TextList,
        "The codes of the replies' lines.",
    ),
    event(
        "ftp.reply",
        TextList,
        "The replies' lines, without their codes.",
    ),
    event(
        "ftp.dynamic_port",
        Count,
        "The port where the data connection is waited for.",
    ),
    event(
        "ftp.mode",
        Enum,
        "Who opens the data connection: `active` the server, `passive` the client.",
    ),
    event(
        "ftp.reply_received",
        Enum,
        "`yes`, or `no` if the last reply is missing.",
    ),
    event(
        "ftp.reply_truncated",
        Bool,
        "Whether the replies were longer than is kept.",
    ),
];

/// The events of commands.
pub static FTP: MessageSchema = MessageSchema::new(
    "ftp",
    "An FTP command with its replies, or what the server says unsolicited.",
    COLUMNS,
)
.only_events();

/// Builds events; one instance serves all commands, so that its buffers are reused.
#[derive(Debug, Default)]
pub(crate) struct Event {
    lists: ValueLists<2>,
}

impl Event {
    pub(crate) fn report<S: MessageSink>(&mut self, exchange: &Exchange, sink: &mut S) {
        let mut lists = self.lists.lend();
        let [codes, texts] = &mut lists;
        for (code, text) in exchange.replies() {
            codes.extend(code.map(Value::Bytes));
            texts.push(Value::Bytes(text));
        }
        let has_command = !exchange.command().is_empty();
        let opens = matches!(exchange.command(), b"PORT" | b"EPRT" | b"PASV" | b"EPSV");
        let is_passive = match exchange.facts.channel {
            Some(channel) => channel.is_passive,
            None => matches!(exchange.command(), b"PASV" | b"EPSV"),
        };
        let mode = if is_passive { "passive" } else { "active" };
        let values = [
            Value::bytes(exchange.command()),
            Value::bytes(exchange.argument()),
            if has_command {
                Value::Bool(exchange.is_cut)
            } else {
                Value::Unset
            },
            listed(codes),
            listed(texts),
            Value::count(
                exchange
                    .facts
                    .channel
                    .map(|channel| channel.listener.port.into()),
            ),
            if opens || exchange.facts.channel.is_some() {
                Value::Text(mode)
            } else {
                Value::Unset
            },
            Value::Text(if exchange.facts.is_answered {
                "yes"
            } else {
                "no"
            }),
            Value::Bool(exchange.is_reply_cut),
        ];
        sink.message(&FTP, exchange.at, &values);
        self.lists.take_back(lists);
    }
}

/// A list, unset if it is empty.
fn listed<'a>(list: &'a [Value<'a>]) -> Value<'a> {
    if list.is_empty() {
        Value::Unset
    } else {
        Value::List(list)
    }
}
