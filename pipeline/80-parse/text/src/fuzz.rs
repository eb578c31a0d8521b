//! The fuzzing entry point.

use crate::{Text, TextOptions, built_in};
use flowpin_memory::Budget;
use flowpin_packet::Timestamp;
use flowpin_parser::ParserSetup;
use flowpin_parser::testing::Trial;
use flowpin_record::{MessageSchema, MessageSink, Value};

/// Reads any bytes as a conversation in one of the built-in grammars, in pieces of two lengths: the
/// messages are the same.
///
/// The first byte chooses the grammar, the second the length of pieces. Turns follow: a byte with
/// the sender and a length, and that number of bytes.
pub fn fuzz_text(data: &[u8]) {
    let Some((&[choice, piece], rest)) = data.split_first_chunk() else {
        return;
    };
    let whole = messages(choice, rest, usize::MAX);
    let piece = usize::from(piece).max(1);
    assert_eq!(messages(choice, rest, piece), whole);
    record_into(Log::default(), choice, rest, (piece, SCARCE));
}

fn messages(choice: u8, data: &[u8], piece: usize) -> Vec<String> {
    record_into(Log::default(), choice, data, (piece, AMPLE))
}

/// Bytes of a shard that suffice for any conversation, and that do not.
const AMPLE: u64 = 1 << 18;
const SCARCE: u64 = 1200;

fn record_into(
    mut log: Log,
    choice: u8,
    data: &[u8],
    (piece, shard_bytes): (usize, u64),
) -> Vec<String> {
    let options = TextOptions {
        questions_max: 4,
        ..TextOptions::default()
    };
    let protocols = built_in();
    let count = u16::try_from(protocols.len()).unwrap_or(1);
    let budget = || Budget::new(shard_bytes);
    let mut setup = ParserSetup::default().with_budgets(budget(), budget());
    // So that the parts of mails are read, too.
    setup.files.md5 = true;
    let Ok(text) = Text::with_protocols(options, protocols, &setup) else {
        return log.messages;
    };
    let mut text = Trial::new(text, &setup);
    let protocol = u16::from(choice).checked_rem(count).unwrap_or(0);
    let Some(handle) = text.begin(protocol) else {
        return log.messages;
    };
    let mut rest = data;
    while let Some((&head, body)) = rest.split_first() {
        let len = usize::from(head >> 1).min(body.len());
        let (bytes, next) = body.split_at(len);
        rest = next;
        for bytes in bytes.chunks(piece) {
            text.data(handle, Timestamp(1), head & 1 == 0, bytes, &mut log);
        }
    }
    text.end(handle, Timestamp(2), &mut log);
    text.finish(&mut log);
    log.messages
}

#[derive(Default)]
struct Log {
    messages: Vec<String>,
    /// The values of messages are not read.
    is_unread: bool,
}

impl MessageSink for Log {
    fn message(&mut self, schema: &MessageSchema, time: Timestamp, values: &[Value<'_>]) {
        self.messages.push(match self.is_unread {
            true => schema.name.to_string(),
            false => format!("{} {time:?} {values:?}", schema.name),
        });
    }
    fn reads(&self, _: &MessageSchema) -> bool {
        !self.is_unread
    }
    fn anomaly(&mut self, event: &'static str) {
        self.messages.push(event.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::{AMPLE, Log, fuzz_text, messages, record_into};

    /// Messages whose values are not read are emitted all the same, with the same anomalies.
    #[test]
    fn unread_messages_are_emitted() {
        let sent: [&[u8]; 6] = [
            b"220 mail.example\r\n",
            b"EHLO a\r\nMAIL FROM:<a@b>\r\nRCPT TO:<c@d>\r\nDATA\r\n",
            b"250 a\r\n250 b\r\n250 c\r\n354 d\r\n",
            b"Subject: one\r\n two\r\nFrom: <a@b>\r\n\r\ntext\r\n.\r\n",
            b"*2\r\n$3\r\nGET\r\n$3\r\nkey\r\nOPTIONS sip:a SIP/2.0\r\nTo: x\r\n\r\n",
            b"+OK\r\n250 e\r\nSIP/2.0 200 OK\r\nTo: x\r\n\r\n",
        ];
        let mut data = Vec::new();
        for (number, turn) in (0u8..).zip(sent) {
            let len = u8::try_from(turn.len()).unwrap();
            data.push(len << 1 | (number + 1) & 1);
            data.extend_from_slice(turn);
        }
        for choice in 0..3 {
            let mut read = messages(choice, &data, 7);
            // What goes by columns is not reported where no format has it.
            read.retain(|line| !line.starts_with("sip_log "));
            let log = Log {
                is_unread: true,
                ..Log::default()
            };
            let unread = record_into(log, choice, &data, (7, AMPLE));
            assert_eq!(unread.len(), read.len());
            for (read, unread) in read.iter().zip(unread) {
                assert!(read.starts_with(&unread), "{read}, {unread}");
            }
            assert!(!read.is_empty());
            fuzz_text(&[&[choice, 3], &*data].concat());
        }
    }
}
