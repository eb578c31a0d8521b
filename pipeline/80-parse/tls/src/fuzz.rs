//! Fuzzing: arbitrary bytes in arbitrary turns.

use crate::{Quic, Tls};
use flowpin_memory::Budget;
use flowpin_packet::Timestamp;
use flowpin_parser::testing::Trial;
use flowpin_parser::{Next, Parser, ParserSetup};
use flowpin_record::{MessageSchema, MessageSink, Value};
use std::io;

/// Collects records with their values.
#[derive(Debug, Default, PartialEq, Eq)]
struct Collector(Vec<String>);

/// Counts records without reading their values.
struct RecordCounter(usize);

impl MessageSink for RecordCounter {
    fn message(&mut self, _: &MessageSchema, _: Timestamp, values: &[Value<'_>]) {
        assert_eq!(values, [], "values are not read");
        self.0 = self.0.saturating_add(1);
    }

    fn anomaly(&mut self, _: &'static str) {
        self.0 = self.0.saturating_add(1);
    }

    fn reads(&self, _: &MessageSchema) -> bool {
        false
    }
}

impl MessageSink for Collector {
    fn message(&mut self, schema: &MessageSchema, time: Timestamp, values: &[Value<'_>]) {
        assert_eq!(
            schema.columns.len(),
            values.len(),
            "a value for each column"
        );
        self.0.push(format!("{} {time:?} {values:?}", schema.name));
    }

    fn anomaly(&mut self, event: &'static str) {
        self.0.push(event.to_owned());
    }
}

/// Reads turns from `data` (length, direction, bytes): as one stream, byte by byte, and as
/// datagrams. The first two give the same records, and no memory stays in use.
#[doc(hidden)]
pub fn fuzz_tls(data: &[u8]) {
    let whole = written(data, usize::MAX);
    assert_eq!(whole, written(data, 1), "cuts do not matter");
    let mut unread = RecordCounter(0);
    report(data, usize::MAX, AMPLE, &mut unread);
    // Of certificates nothing is told where nobody reads it.
    let told = whole.0.iter().filter(|one| !one.starts_with("x509 "));
    assert_eq!(told.count(), unread.0, "nor whether the records are read");
    report(data, 50, SCARCE, &mut Collector::default());
    for shard_bytes in [AMPLE, SCARCE] {
        datagrams(&Tls::new, data, shard_bytes);
        datagrams(&Quic::new, data, shard_bytes);
    }
}

/// Bytes of a shard that suffice for any conversation, and that do not.
pub(crate) const AMPLE: u64 = 1 << 17;
const SCARCE: u64 = 3 << 10;

/// Returns a parser with little or much memory.
pub(crate) fn trial<P: Parser>(
    new: &impl Fn(&ParserSetup) -> io::Result<P>,
    shard_bytes: u64,
) -> io::Result<Trial<P>> {
    let budget = || Budget::new(shard_bytes);
    let setup = ParserSetup::default().with_budgets(budget(), budget());
    Ok(Trial::new(new(&setup)?, &setup))
}

/// Parses the turns as datagrams of one connection.
fn datagrams<P: Parser>(
    new: &impl Fn(&ParserSetup) -> io::Result<P>,
    data: &[u8],
    shard_bytes: u64,
) {
    let mut sink = Collector::default();
    let Ok(mut trial) = trial(new, shard_bytes) else {
        return;
    };
    let Some(connection) = trial.begin(0) else {
        return;
    };
    for (to_server, bytes) in turns(data) {
        let payload = (bytes, bytes.len());
        let next = trial.datagram(connection, Timestamp(1), to_server, payload, &mut sink);
        if next == Next::Nothing {
            break;
        }
    }
    trial.finish(&mut sink);
}

/// Returns the records of all turns as one stream.
fn written(data: &[u8], cut: usize) -> Collector {
    let mut sink = Collector::default();
    report(data, cut, AMPLE, &mut sink);
    sink
}

fn report(data: &[u8], cut: usize, shard_bytes: u64, sink: &mut impl MessageSink) {
    let Ok(mut tls) = trial(&Tls::new, shard_bytes) else {
        return;
    };
    let Some(connection) = tls.begin(0) else {
        return;
    };
    'turns: for (to_server, bytes) in turns(data) {
        for part in bytes.chunks(cut) {
            if tls.data(connection, Timestamp(1), to_server, part, sink) == Next::Nothing {
                break 'turns;
            }
        }
    }
    tls.finish(sink);
}

/// Each turn is a length in two bytes, whose highest bit is the direction, and that number of
/// bytes.
fn turns(mut data: &[u8]) -> impl Iterator<Item = (bool, &[u8])> {
    core::iter::from_fn(move || {
        let (&[high, low], rest) = data.split_first_chunk()?;
        let len = usize::from(u16::from_be_bytes([high & 0x7f, low])).min(rest.len());
        let (turn, rest) = rest.split_at(len);
        data = rest;
        Some((high & 0x80 == 0, turn))
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::{AMPLE, Collector, fuzz_tls, trial};
    use crate::{Quic, Tls};
    use flowpin_counters::Loss;
    use flowpin_packet::Timestamp;
    use flowpin_parser::{Next, Parser};
    use flowpin_record::{MessageSchema, MessageSink, Value};
    use proptest::prelude::*;

    /// Returns the bytes after their length, which takes `N` bytes.
    pub(crate) fn sized<const N: usize>(bytes: &[u8]) -> Vec<u8> {
        let len = (bytes.len() as u32).to_be_bytes();
        [&len[4 - N..], bytes].concat()
    }

    fn extension(kind: u16, value: &[u8]) -> Vec<u8> {
        [&kind.to_be_bytes()[..], &sized::<2>(value)].concat()
    }

    pub(crate) fn record(kind: u8, body: &[u8]) -> Vec<u8> {
        [&[kind, 3, 3][..], &sized::<2>(body)].concat()
    }

    pub(crate) fn message(kind: u8, body: &[u8]) -> Vec<u8> {
        [&[kind][..], &sized::<3>(body)].concat()
    }

    pub(crate) fn client_hello(name: &str) -> Vec<u8> {
        let entry = [&[0][..], &sized::<2>(name.as_bytes())].concat();
        let extensions = [
            extension(0, &sized::<2>(&entry)),
            extension(16, &sized::<2>(b"\x02h2\x08http/1.1")),
        ];
        let body = [
            &[3, 3][..],
            &[7; 32],
            &sized::<1>(&[9; 32]),
            &sized::<2>(&[0xc0, 0x2f, 0x00, 0x9c]),
            &[1, 0],
            &sized::<2>(&extensions.concat()),
        ];
        message(1, &body.concat())
    }

    pub(crate) fn server_hello() -> Vec<u8> {
        let alpn = extension(16, &sized::<2>(b"\x02h2"));
        let body = [
            &[3, 3][..],
            &[8; 32],
            &sized::<1>(&[9; 32]),
            &[0xc0, 0x2f, 0],
            &sized::<2>(&alpn),
        ];
        message(2, &body.concat())
    }

    /// Returns an unsigned certificate with the names `O=A, CN=a.example`.
    fn certificate() -> Vec<u8> {
        let der = |tag: u8, content: &[u8]| [&[tag][..], &sized::<1>(content)].concat();
        let part = |id: u8, text: &[u8]| {
            let pair = [der(6, &[0x55, 4, id]), der(0x13, text)].concat();
            der(0x31, &der(0x30, &pair))
        };
        let name = der(0x30, &[part(10, b"A"), part(3, b"a.example")].concat());
        let times = [der(0x17, b"170323000000Z"), der(0x17, b"500513120000Z")];
        let fields = [
            der(0xa0, &der(2, &[2])),
            der(2, &[0, 0xab, 0x01]),
            der(0x30, &[]),
            name.clone(),
            der(0x30, &times.concat()),
            name,
        ];
        let fields = fields.concat();
        let inner = [&[0x30, 0x81][..], &sized::<1>(&fields)].concat();
        let outer = [&[0x30, 0x81][..], &sized::<1>(&inner)].concat();
        message(11, &sized::<3>(&sized::<3>(&outer)))
    }

    /// Returns the turns of a complete TLS 1.2 handshake; `true` marks the client's.
    fn handshake() -> Vec<(bool, Vec<u8>)> {
        let server = [server_hello(), certificate(), message(14, &[])].concat();
        let (first, second) = server.split_at(90);
        let finish = [record(20, &[1]), record(22, &[5; 40]), record(23, &[6; 90])];
        vec![
            (true, record(22, &client_hello("a.example"))),
            (false, [record(22, first), record(22, second)].concat()),
            (
                true,
                [&[22, 3, 3, 0, 4, 16, 0, 0, 0][..], &finish.concat()].concat(),
            ),
            (false, finish.concat()),
        ]
    }

    /// Names and values of EVE fields.
    #[derive(Debug, Default, PartialEq, Eq)]
    struct Fields(Vec<(String, String)>);

    impl MessageSink for Fields {
        fn message(&mut self, schema: &MessageSchema, _: Timestamp, values: &[Value<'_>]) {
            let text = |value: &Value<'_>| match value {
                Value::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
                Value::Text(text) => (*text).to_owned(),
                other => format!("{other:?}"),
            };
            for (column, value) in schema.columns.iter().zip(values) {
                if *value != Value::Unset && !column.eve.is_empty() {
                    self.0.push((column.eve.clone().into_owned(), text(value)));
                }
            }
        }

        fn anomaly(&mut self, _: &'static str) {}
    }

    fn reported(turns: &[(bool, Vec<u8>)], cut: usize) -> Fields {
        let mut tls = trial(&Tls::new, AMPLE).unwrap();
        let mut sink = Fields::default();
        let handle = tls.begin(0).unwrap();
        let parts = turns
            .iter()
            .flat_map(|(to_server, bytes)| bytes.chunks(cut).map(|part| (*to_server, part)));
        for (to_server, part) in parts {
            if tls.data(handle, Timestamp(1), to_server, part, &mut sink) == Next::Nothing {
                break;
            }
        }
        tls.finish(&mut sink);
        sink
    }

    /// A TLS 1.2 handshake is reported once, with all its facts.
    #[test]
    fn a_handshake_is_reported_once_it_is_done() {
        let fields = reported(&handshake(), usize::MAX);
        let has = |name: &str| {
            let found = fields.0.iter().filter(|(one, _)| one == name);
            found.map(|(_, value)| value.as_str()).collect::<Vec<_>>()
        };
        assert_eq!(has("tls.version"), ["TLS 1.2"]);
        assert_eq!(has("tls.sni"), ["a.example"]);
        assert_eq!(
            has("flowpin.cipher"),
            ["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"]
        );
        assert_eq!(has("tls.subject"), ["O=A, CN=a.example"]);
        assert_eq!(has("tls.issuerdn"), ["O=A, CN=a.example"]);
        assert_eq!(has("tls.serial"), ["00:AB:01"]);
        assert_eq!(has("tls.notbefore=time"), ["2017-03-23T00:00:00"]);
        assert_eq!(has("tls.notafter=time"), ["1950-05-13T12:00:00"]);
        assert_eq!(has("tls.session_resumed"), ["Bool(true)"]);
        assert_eq!(has("flowpin.established"), ["Bool(true)"]);
        assert_eq!(has("tls.client_alpns").len(), 1);
        assert!(has("tls.ja4")[0].starts_with("t12d0202h2_"), "{fields:?}");
    }

    /// Every segmentation of a handshake gives the same report.
    #[test]
    fn a_handshake_in_any_parts_gives_the_same_report() {
        let whole = reported(&handshake(), usize::MAX);
        for cut in 1..200 {
            assert_eq!(reported(&handshake(), cut), whole, "in parts of {cut}");
        }
    }

    /// RFC 8446 §5.1: a message may be cut over records anywhere, and records without content are
    /// skipped.
    #[test]
    fn a_hello_in_any_records_gives_the_same_report() {
        let whole = reported(&handshake(), usize::MAX);
        for len in 1..150 {
            let hello = client_hello("a.example");
            let records = hello.chunks(len).map(|part| record(22, part));
            let cut = records.collect::<Vec<_>>().join(&record(22, &[])[..]);
            let mut turns = handshake();
            turns[0].1 = cut;
            assert_eq!(reported(&turns, usize::MAX), whole, "in records of {len}");
            assert_eq!(reported(&turns, 7), whole, "in records of {len}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Nothing panics, segmentation has no effect, and no memory stays in use; also for
        /// handshakes with some bytes changed.
        #[test]
        fn any_bytes_are_read_alike_in_any_parts(
            noise in prop::collection::vec(any::<u8>(), 0..400),
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        ) {
            fuzz_tls(&noise);
            let mut data = Vec::new();
            for (to_server, bytes) in handshake() {
                let [high, low] = (bytes.len() as u16).to_be_bytes();
                data.extend([if to_server { high } else { high | 0x80 }, low]);
                data.extend(bytes);
            }
            for (at, byte) in &changes {
                let at = at.index(data.len());
                data[at] = *byte;
            }
            fuzz_tls(&data);
        }
    }

    /// Without memory, a hello in parts is not reported, and the texts of a whole one are not:
    /// both are counted.
    #[test]
    fn messages_without_memory_are_counted() {
        let hello = record(22, &client_hello("x"));
        let at = Timestamp(1);
        for (cut, records) in [(50, 0), (usize::MAX, 1)] {
            let mut tls = trial(&Tls::new, u64::from(Tls::CONNECTION_BYTES)).unwrap();
            let handle = tls.begin(0).unwrap();
            let mut sink = Collector::default();
            for part in hello.chunks(cut) {
                tls.data(handle, at, true, part, &mut sink);
            }
            let parser = tls.finish(&mut sink);
            assert_eq!(sink.0.len(), records);
            let refused = if records == 0 { 2 } else { 1 };
            assert_eq!(parser.losses().of(Loss::TlsMemory), refused);
        }
    }

    /// However long the messages are that a side announces, and wherever its frames are to go, a
    /// connection takes no more than two blocks and a page.
    #[test]
    fn memory_is_in_proportion_to_the_bytes() {
        let mut tls = trial(&Tls::new, AMPLE).unwrap();
        let mut dtls = trial(&Tls::new, AMPLE).unwrap();
        let mut quic = trial(&Quic::new, AMPLE).unwrap();
        let mut sink = Collector::default();
        let begun = [tls.begin(0), dtls.begin(1), quic.begin(0)].map(Option::unwrap);
        let most = |left: u64| AMPLE - left <= 36 << 10;
        let part = record(22, &[&[1, 0xff, 0xff, 0xff][..], &[0; 1000]].concat());
        let fragment = [
            &[22, 0xfe, 0xfd][..],
            &[0; 8],
            &[0, 20],
            &[1, 0, 0x40, 0, 0, 0, 0],
        ];
        let fragment = [&fragment.concat()[..], &[0, 0, 0, 8], &[7; 12]].concat();
        let at = Timestamp(1);
        let mut least = AMPLE;
        for _ in 0..20 {
            tls.data(begun[0], at, true, &part, &mut sink);
            let payload = (&*fragment, fragment.len());
            dtls.datagram(begun[1], at, true, payload, &mut sink);
            quic.datagram(begun[2], at, true, payload, &mut sink);
            assert!(most(tls.left()) && most(dtls.left()) && most(quic.left()));
            least = least.min(tls.left());
        }
        assert!(least < AMPLE - (16 << 10), "the message is kept");
        tls.finish(&mut sink);
        dtls.finish(&mut sink);
        quic.finish(&mut sink);
    }

    /// The sink of the fuzz target sees the record.
    #[test]
    fn the_fuzz_sink_counts_records() {
        let mut sink = Collector::default();
        let mut tls = trial(&Tls::new, AMPLE).unwrap();
        let handle = tls.begin(0).unwrap();
        let hello = record(22, &client_hello("x"));
        let next = tls.data(handle, Timestamp(1), true, &hello, &mut sink);
        assert_eq!(next, Next::More);
        tls.finish(&mut sink);
        assert_eq!(sink.0.len(), 1);
    }
}
