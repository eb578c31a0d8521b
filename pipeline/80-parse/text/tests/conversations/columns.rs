//! Columns that nearly all records of mails and of Redis have.

use crate::mail::HELLO;
use flowpin_memory::Budget;
use flowpin_packet::Timestamp;
use flowpin_parser::testing::Trial;
use flowpin_parser::{Parser, ParserSetup};
use flowpin_record::{MessageSchema, MessageSink, Shown, Value};
use flowpin_text::{Text, TextOptions, built_in};

/// Of each record in formats of columns, the values of some.
struct Columns(&'static [&'static str], Vec<String>);

impl MessageSink for Columns {
    fn message(&mut self, schema: &MessageSchema, _: Timestamp, values: &[Value<'_>]) {
        if schema.shown == Shown::InEvents {
            return;
        }
        let columns = schema.columns.iter().zip(values);
        let wanted = columns.filter(|(column, _)| self.0.contains(&&*column.name));
        let shown = wanted.map(|(_, value)| match value {
            Value::Bytes(bytes) => bytes.escape_ascii().to_string(),
            Value::Count(count) => count.to_string(),
            Value::Bool(is_so) => is_so.to_string(),
            _ => "-".to_owned(),
        });
        self.1.push(shown.collect::<Vec<_>>().join(" "));
    }
    fn anomaly(&mut self, _: &'static str) {}
}

fn columns(protocol: &str, turns: &[(bool, &[u8])], names: &'static [&'static str]) -> Vec<String> {
    let budget = || Budget::new(1 << 20);
    let setup = ParserSetup::default().with_budgets(budget(), budget());
    let text = Text::with_protocols(TextOptions::default(), built_in(), &setup).unwrap();
    let mut text = Trial::new(text, &setup);
    let mut columns = Columns(names, Vec::new());
    let protocol = text.parser.protocol(protocol).unwrap();
    let handle = text.begin(protocol).unwrap();
    for (to_server, bytes) in turns {
        text.data(handle, Timestamp(1), *to_server, bytes, &mut columns);
    }
    text.end(handle, Timestamp(9), &mut columns);
    text.finish(&mut columns);
    columns.1
}

/// A mail is the next one if those before it were accepted, as Zeek counts. The last Received field
/// is that of the first server (RFC 5321 §4.4: each one adds its own in front).
#[test]
fn mails_are_counted_and_their_way_is_told() {
    let envelope = b"MAIL FROM:<a@a>\r\nRCPT TO:<b@b>\r\nDATA\r\n".as_slice();
    let go = b"250 ok\r\n250 ok\r\n354 go\r\n".as_slice();
    let mut turns = HELLO.to_vec();
    for (mail, reply) in [
        (
            b"Received: three\r\nReceived: two\r\n words\r\nReceived: one\r\n\r\n.\r\n".as_slice(),
            b"250 ok\r\n".as_slice(),
        ),
        (b"Received: one\r\n\r\n.\r\n", b"550 no\r\n"),
        (b"\r\n.\r\n", b"250 ok\r\n"),
    ] {
        turns.extend([(true, envelope), (false, go), (true, mail), (false, reply)]);
    }
    turns.extend([(true, b"STARTTLS\r\n".as_slice()), (false, b"220 go\r\n")]);
    let names = &["trans_depth", "first_received", "second_received", "tls"];
    let expected = [
        "1 one two words false",
        "2 one - false",
        "2 - - false",
        "3 - - true",
    ];
    assert_eq!(columns("smtp", &turns, names), expected);
}

/// Redis: a reply is one of success, unless it is an error.
#[test]
fn replies_of_redis_are_successes_or_errors() {
    let turns: [(bool, &[u8]); 2] = [
        (true, b"GET a\r\nGET b\r\nGET c\r\n"),
        (false, b"$1\r\nx\r\n-ERR no\r\n_\r\n"),
    ];
    assert_eq!(
        columns("redis", &turns, &["success"]),
        ["true", "false", "true"]
    );
}
