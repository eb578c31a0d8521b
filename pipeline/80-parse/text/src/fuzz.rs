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
    let options = TextOptions {
        shard_bytes_max: 1 << 16,
        questions_max: 4,
        ..TextOptions::default()
    };
    let protocols = built_in();
    let count = u16::try_from(protocols.len()).unwrap_or(1);
    let mut text = Text::new(options, protocols);
    let mut log = Log::default();
    let protocol = u16::from(choice).checked_rem(count).unwrap_or(0);
    let Some(handle) = text.begin(Shard(choice), protocol) else {
        return log.0;
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
    log.0
}

#[derive(Default)]
struct Log(Vec<String>);

impl MessageSink for Log {
    fn message(&mut self, schema: &MessageSchema, time: Timestamp, values: &[Value<'_>]) {
        self.0.push(format!("{} {time:?} {values:?}", schema.name));
    }
    fn anomaly(&mut self, event: &'static str) {
        self.0.push(event.to_owned());
    }
}
