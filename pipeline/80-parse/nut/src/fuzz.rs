//! The fuzzing entry point: any bytes, whole and in pieces.

use crate::Nut;
use flowpin_packet::{Shard, Timestamp};
use flowpin_parser::{Begin, Next, Parser, ParserSetup};
use flowpin_record::{MessageSchema, MessageSink, Value};

/// Collects all records as text.
#[derive(Debug, Default)]
pub(crate) struct Records(pub(crate) Vec<String>);

impl MessageSink for Records {
    fn message(&mut self, schema: &MessageSchema, _: Timestamp, values: &[Value<'_>]) {
        assert_eq!(values.len(), schema.columns.len());
        let shown = values.iter().map(|value| match value {
            Value::Unset => "-".to_owned(),
            Value::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            Value::Text(text) => (*text).to_owned(),
            Value::Count(count) => count.to_string(),
            Value::Bool(is) => is.to_string(),
            other => format!("{other:?}"),
        });
        self.0.push(shown.collect::<Vec<_>>().join("|"));
    }

    fn anomaly(&mut self, event: &'static str) {
        self.0.push(event.into());
    }
}

/// Splits `data` into turns: the records are the same for whole turns and for pieces, and all
/// memory is released.
#[doc(hidden)]
pub fn fuzz_nut(data: &[u8]) {
    let Some((&settings, data)) = data.split_first() else {
        return;
    };
    let turns: Vec<&[u8]> = data.split(|&byte| byte == 0xa5).collect();
    let whole = records(&turns, usize::MAX);
    let piece = usize::from(settings).saturating_add(1);
    assert_eq!(whole, records(&turns, piece), "{turns:02x?}");
}

/// The records of alternating turns, the client's first, cut into pieces. An empty turn is a gap.
pub(crate) fn records(turns: &[&[u8]], piece: usize) -> Vec<String> {
    let mut sink = Records::default();
    let Ok(mut nut) = Nut::new(&ParserSetup::default()) else {
        return sink.0;
    };
    let begin = Begin {
        protocol: 0,
        shard: Shard(7),
        at: Timestamp(0),
    };
    // The parser needs no addresses.
    let ends = || unreachable!("NUT records have no addresses of their own");
    let Some(connection) = Parser::begin(&mut nut, begin, ends) else {
        return sink.0;
    };
    let at = Timestamp(0);
    'turns: for (number, turn) in turns.iter().enumerate() {
        let to_server = number.is_multiple_of(2);
        if turn.is_empty() {
            nut.gap(connection, at, to_server, 5, &mut sink);
        }
        let mut read = 0usize;
        for part in turn.chunks(piece) {
            match nut.data(connection, at, to_server, part, &mut sink) {
                Next::More => read = read.saturating_add(part.len()),
                Next::Nothing => break 'turns,
                Next::Successor(_, used) => {
                    let at = read.saturating_add(used);
                    sink.0.push(format!("successor after {at}"));
                    break 'turns;
                }
            }
        }
    }
    nut.end(connection, at, &mut sink);
    assert_eq!(nut.in_use(), (0, 0));
    sink.0
}
