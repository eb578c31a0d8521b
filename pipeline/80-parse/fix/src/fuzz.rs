//! Fuzzing: arbitrary bytes in arbitrary turns, and the properties that hold for all of them.

use crate::{Dictionary, Fix, FixOptions, from_printed};
use flowpin_memory::Budget;
use flowpin_packet::Timestamp;
use flowpin_parser::ParserSetup;
use flowpin_parser::testing::Trial;
use flowpin_record::{MessageSchema, MessageSink, Value};
use std::io;
use std::sync::{Arc, OnceLock};

/// Collects everything that the parser reports.
#[derive(Debug, Default)]
pub(crate) struct Collector(pub(crate) Vec<String>);

impl MessageSink for Collector {
    fn message(&mut self, schema: &MessageSchema, _: Timestamp, values: &[Value<'_>]) {
        assert!(values.len() <= schema.columns.len());
        self.0.push(format!("{values:?}"));
    }

    fn anomaly(&mut self, event: &'static str) {
        self.0.push(event.into());
    }
}

/// Reads turns from `data`: whole turns and pieces of them give the same report, and no memory
/// stays in use.
#[doc(hidden)]
pub fn fuzz_fix(data: &[u8]) {
    let Some((&settings, data)) = data.split_first() else {
        return;
    };
    let turns: Vec<&[u8]> = data.split(|&byte| byte == 0xa5).collect();
    let options = options(
        settings & 1 == 0,
        if settings & 2 == 0 { 512 } else { 1 << 16 },
    );
    let whole = reported(&options, &turns, usize::MAX);
    let pieces = reported(&options, &turns, usize::from(settings >> 4) + 1);
    assert_eq!(whole, pieces, "{turns:02x?}");
    from_printed(data);
    if let Ok(xml) = core::str::from_utf8(data) {
        let _ = Dictionary::default().load_quickfix(xml);
    }
}

pub(crate) fn options(all_fields: bool, message_bytes_max: u32) -> FixOptions {
    static ONE: OnceLock<Arc<Dictionary>> = OnceLock::new();
    let dictionary = ONE.get_or_init(|| Arc::new(Dictionary::bundled()));
    FixOptions {
        dictionary: Arc::clone(dictionary),
        all_fields,
        message_bytes_max,
        fields_max: 64,
    }
}

/// Returns a parser whose shards have `shard_bytes`.
pub(crate) fn trial(options: &FixOptions, shard_bytes: u64) -> io::Result<Trial<Fix>> {
    let budget = || Budget::new(shard_bytes);
    let setup = ParserSetup::default().with_budgets(budget(), budget());
    Ok(Trial::new(
        Fix::with_options(options.clone(), &setup)?,
        &setup,
    ))
}

/// Returns what is reported for turns (the client's first) delivered in pieces of `piece` bytes.
pub(crate) fn reported(options: &FixOptions, turns: &[&[u8]], piece: usize) -> Vec<String> {
    let mut sink = Collector::default();
    let Ok(mut fix) = trial(options, 1 << 18) else {
        return sink.0;
    };
    let Some(handle) = fix.begin(0) else {
        return sink.0;
    };
    let mut to_server = true;
    let at = Timestamp(1);
    for turn in turns {
        for part in turn.chunks(piece) {
            fix.data(handle, at, to_server, part, &mut sink);
        }
        if turn.is_empty() {
            fix.gap(handle, at, to_server, 1, &mut sink);
        }
        to_server = !to_server;
    }
    fix.end(handle, at, &mut sink);
    fix.finish(&mut sink);
    sink.0
}
