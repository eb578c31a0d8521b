//! What fuzzing drives.

use crate::{Text, TextOptions, built_in};
use flowpin_packet::{Shard, Timestamp};
use flowpin_record::{MessageSchema, MessageSink, Value};

/// Any bytes as a conversation in one of the built-in grammars, told in pieces of two lengths: the
/// messages are the same.
///
/// The first byte chooses the grammar, the second how long pieces are; then pieces: a byte that
/// says who sends and how much, and so many bytes.
pub fn fuzz_text(data: &[u8]) {
    let Some((&[choice, piece], rest)) = data.split_first_chunk() else {
        return;
    };
    let whole = told(choice, rest, usize::MAX);
    assert_eq!(told(choice, rest, usize::from(piece).max(1)), whole);
}

fn told(choice: u8, data: &[u8], piece: usize) -> Vec<String> {
    told_to(Log::default(), choice, data, piece)
}

fn told_to(mut log: Log, choice: u8, data: &[u8], piece: usize) -> Vec<String> {
    let options = TextOptions {
        shard_bytes_max: 1 << 16,
        questions_max: 4,
        ..TextOptions::default()
    };
    let protocols = built_in();
    let count = u16::try_from(protocols.len()).unwrap_or(1);
    let mut text = Text::new(options, protocols);
    let protocol = u16::from(choice).checked_rem(count).unwrap_or(0);
    let Some(handle) = text.begin(Shard(choice), protocol) else {
        return log.told;
    };
    let mut rest = data;
    while let Some((&head, behind)) = rest.split_first() {
        let len = usize::from(head >> 1).min(behind.len());
        let (bytes, next) = behind.split_at(len);
        rest = next;
        for bytes in bytes.chunks(piece) {
            text.data(handle, Timestamp(1), head & 1 == 0, bytes, &mut log);
        }
    }
    text.end(handle, Timestamp(2), &mut log);
    assert_eq!(text.shared_bytes(), 0);
    log.told
}

#[derive(Default)]
struct Log {
    told: Vec<String>,
    /// Nobody reads the values of messages.
    is_unread: bool,
}

impl MessageSink for Log {
    fn message(&mut self, schema: &MessageSchema, time: Timestamp, values: &[Value<'_>]) {
        self.told.push(match self.is_unread {
            true => schema.name.to_string(),
            false => format!("{} {time:?} {values:?}", schema.name),
        });
    }
    fn reads(&self, _: &MessageSchema) -> bool {
        !self.is_unread
    }
    fn anomaly(&mut self, event: &'static str) {
        self.told.push(event.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::{Log, fuzz_text, told, told_to};

    /// Where nobody reads messages there are as many, with the same anomalies.
    #[test]
    fn what_is_unread_is_told_all_the_same() {
        let said: [&[u8]; 6] = [
            b"220 mail.example\r\n",
            b"EHLO a\r\nMAIL FROM:<a@b>\r\nRCPT TO:<c@d>\r\nDATA\r\n",
            b"250 a\r\n250 b\r\n250 c\r\n354 d\r\n",
            b"Subject: one\r\n two\r\nFrom: <a@b>\r\n\r\ntext\r\n.\r\n",
            b"*2\r\n$3\r\nGET\r\n$3\r\nkey\r\nOPTIONS sip:a SIP/2.0\r\nTo: x\r\n\r\n",
            b"+OK\r\n250 e\r\nSIP/2.0 200 OK\r\nTo: x\r\n\r\n",
        ];
        let mut data = Vec::new();
        for (number, said) in (0u8..).zip(said) {
            let len = u8::try_from(said.len()).unwrap();
            data.push(len << 1 | (number + 1) & 1);
            data.extend_from_slice(said);
        }
        for choice in 0..3 {
            let read = told(choice, &data, 7);
            let log = Log {
                is_unread: true,
                ..Log::default()
            };
            let unread = told_to(log, choice, &data, 7);
            assert_eq!(unread.len(), read.len());
            for (read, unread) in read.iter().zip(unread) {
                assert!(read.starts_with(&unread), "{read}, {unread}");
            }
            assert!(!read.is_empty());
            fuzz_text(&[&[choice, 3], &*data].concat());
        }
    }
}
