//! Tests of the whole parser: segmentation, pairing, events, anomalies, limits.

use crate::fuzz::{options, reported, trial};
use crate::options::DnsOptions;
use flowpin_counters::Loss;
use flowpin_memory::Budget;
use flowpin_packet::Timestamp;
use flowpin_parser::testing::{Records, SHARD};
use flowpin_parser::{Parser, ParserSetup};
use flowpin_record::{MessageSchema, MessageSink, Value};
use proptest::prelude::*;

/// Protocols.
const DNS: u16 = 0;
const MDNS: u16 = 1;
const LLMNR: u16 = 2;

/// Types.
const A: u16 = 1;
const AAAA: u16 = 28;

fn query(id: u16, name: &str, kind: u16) -> Vec<u8> {
    let mut message = [&id.to_be_bytes()[..], b"\x01\0\0\x01\0\0\0\0\0\0"].concat();
    for label in name.split('.') {
        message.push(label.len() as u8);
        message.extend(label.as_bytes());
    }
    message.push(0);
    message.extend([&kind.to_be_bytes()[..], b"\0\x01"].concat());
    message
}

/// Builds the response to a query: an address, and an OPT record with a cookie.
fn response(query: &[u8]) -> Vec<u8> {
    let mut message = query.to_vec();
    message[2..12].copy_from_slice(b"\x81\x80\0\x01\0\x01\0\0\0\x01");
    message.extend(b"\xc0\x0c\0\x01\0\x01\0\0\x01\x2c\0\x04\xc0\0\x02\x07");
    message.extend(b"\0\0\x29\x04\xd0\0\0\x80\0\0\x0c\0\x0a\0\x08abcdefgh");
    message
}

fn with_length(message: &[u8]) -> Vec<u8> {
    [&(message.len() as u16).to_be_bytes()[..], message].concat()
}

fn conversation() -> Vec<Vec<u8>> {
    let (first, second) = (query(1, "a.example", A), query(2, "b.example", AAAA));
    let third = query(3, "lost.example", A);
    let request = [
        with_length(&first),
        with_length(&second),
        with_length(&third),
    ]
    .concat();
    let answered = [
        with_length(&response(&second)),
        with_length(&response(&first)),
    ]
    .concat();
    let again = with_length(&query(4, "c.example", A));
    let malformed = [
        with_length(&[&again[2..], b"x"].concat()),
        vec![0, 3, 1, 2, 3, 9],
    ]
    .concat();
    vec![request, answered, malformed, vec![0, 40, 1]]
}

/// TCP may segment anywhere: every split of every turn in two gives the same report.
#[test]
fn every_split_in_two_gives_the_same_report() {
    let conversation = conversation();
    let turns: Vec<&[u8]> = conversation.iter().map(Vec::as_slice).collect();
    let whole = reported(&turns, usize::MAX, false);
    assert_eq!(whole.len(), 13, "{whole:#?}");
    for (turn, bytes) in conversation.iter().enumerate() {
        for cut in 0..=bytes.len() {
            let mut dns = trial(options(), &ParserSetup::default()).unwrap();
            let mut sink = Records::default();
            let handle = dns.begin(DNS).unwrap();
            for (at, bytes) in conversation.iter().enumerate() {
                let (first, second) = bytes.split_at(if at == turn { cut } else { 0 });
                dns.data(handle, Timestamp(1), at % 2 == 0, first, &mut sink);
                dns.data(handle, Timestamp(1), at % 2 == 0, second, &mut sink);
            }
            dns.finish(&mut sink);
            assert_eq!(sink.records, whole, "turn {turn} cut at {cut}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Any pieces give the same report, for messages and for arbitrary bytes.
    #[test]
    fn random_cuts_give_the_same_report(
        piece in 1usize..40,
        noise in prop::collection::vec(any::<u8>(), 0..80),
    ) {
        let mut conversation = conversation();
        conversation.push(noise);
        let turns: Vec<&[u8]> = conversation.iter().map(Vec::as_slice).collect();
        prop_assert_eq!(reported(&turns, usize::MAX, false), reported(&turns, piece, false));
        prop_assert_eq!(reported(&turns, usize::MAX, true), reported(&turns, piece, true));
    }

    /// A message with any byte changed is processed to the end.
    #[test]
    fn changed_messages_are_read(
        changes in prop::collection::vec((0usize..80, any::<u8>()), 1..6),
    ) {
        let mut message = response(&query(7, "www.example.org", A));
        for (at, byte) in changes {
            let at = at % message.len();
            message[at] = byte;
        }
        crate::fuzz_dns(&[&[2][..], &message].concat());
    }
}

/// Names and values of columns as text.
type Row = Vec<(String, String)>;

/// The values of a record by column name, in the log or in events.
#[derive(Default)]
struct Columns {
    records: Vec<(String, Timestamp, Row)>,
    anomalies: Vec<&'static str>,
}

fn text(value: &Value<'_>) -> String {
    match value {
        Value::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Value::Text(text) => (*text).into(),
        Value::Count(count) | Value::Interval(count) => count.to_string(),
        Value::Address(address) => address.to_string(),
        Value::Bool(is) => is.to_string(),
        Value::List(values) => {
            let values: Vec<String> = values.iter().map(text).collect();
            values.join("|")
        }
        _ => "-".into(),
    }
}

impl MessageSink for Columns {
    fn message(&mut self, schema: &MessageSchema, time: Timestamp, values: &[Value<'_>]) {
        let columns = schema.columns.iter().zip(values);
        let set = columns.filter(|(_, value)| **value != Value::Unset);
        let set =
            set.map(|(column, value)| (format!("{}{}", column.name, column.eve), text(value)));
        self.records
            .push((schema.name.to_string(), time, set.collect()));
    }

    fn anomaly(&mut self, event: &'static str) {
        self.anomalies.push(event);
    }
}

impl Columns {
    fn of(&self, record: usize, name: &str) -> &str {
        let columns = &self.records[record].2;
        let found = columns.iter().find(|(column, _)| column == name);
        found.map_or("", |(_, value)| value)
    }

    fn all(&self, name: &str) -> Vec<&str> {
        (0..self.records.len())
            .map(|at| self.of(at, name))
            .collect()
    }
}

/// Returns the records of datagrams at the given times in seconds.
fn datagrams(options: DnsOptions, protocol: u16, messages: &[(u64, Vec<u8>)]) -> Columns {
    let mut dns = trial(options, &ParserSetup::default()).unwrap();
    let mut sink = Columns::default();
    let handle = dns.begin(protocol).unwrap();
    for (seconds, message) in messages {
        let at = Timestamp::new(*seconds, 0);
        dns.datagram(handle, at, true, (message, message.len()), &mut sink);
    }
    dns.finish(&mut sink);
    sink
}

fn only_log() -> DnsOptions {
    DnsOptions {
        events: false,
        ..options()
    }
}

/// A transaction is a request and the response with the same identifier and question.
#[test]
fn responses_are_paired_with_their_requests() {
    let request = query(7, "WWW.Example.org", A);
    let mut answered = response(&request);
    answered[13..28].make_ascii_lowercase();
    let other = response(&query(7, "other.example", A));
    let messages = [(10, request), (11, other), (12, answered)];
    let records = datagrams(only_log(), DNS, &messages);
    assert_eq!(records.all("query"), ["other.example", "WWW.Example.org"]);
    assert_eq!(records.all("rtt"), ["", "2000000000"]);
    assert_eq!(records.of(1, "answers"), "192.0.2.7");
    assert_eq!(
        (records.of(1, "TTLs"), records.of(1, "qtype_name")),
        ("300000000000", "A")
    );
    assert_eq!(records.records[1].1, Timestamp::new(10, 0));
    assert!(records.anomalies.is_empty());
}

/// A request without a response is reported at the end, or once its waiting time has passed.
#[test]
fn requests_without_response_are_reported() {
    let early = DnsOptions {
        wait_nanos: 5_000_000_000,
        ..only_log()
    };
    let first = query(1, "first.example", A);
    let messages = [
        (10, first.clone()),
        (20, query(2, "second.example", A)),
        (21, response(&first)),
    ];
    let records = datagrams(early, DNS, &messages);
    let names = ["first.example", "first.example", "second.example"];
    assert_eq!(records.all("query"), names);
    assert_eq!(records.all("rcode_name"), ["", "NOERROR", ""]);
}

/// An event shows the message as Suricata does.
#[test]
fn an_event_has_queries_answers_and_edns() {
    let options = DnsOptions {
        log: false,
        ..options()
    };
    let request = query(7, "www.example.org", A);
    let records = datagrams(
        options,
        DNS,
        &[(10, request.clone()), (12, response(&request))],
    );
    assert_eq!(records.all("dns.type"), ["request", "response"]);
    assert_eq!(
        (records.of(1, "dns.flags"), records.of(0, "dns.flags")),
        ("8180", "100")
    );
    let answer = ["rrname", "rrtype", "ttl", "rdata"].map(|key| format!("dns.answers[].{key}"));
    let answer = answer.each_ref().map(|key| records.of(1, key));
    assert_eq!(answer, ["www.example.org", "A", "300", "192.0.2.7"]);
    assert_eq!(records.of(1, "dns.grouped.A"), "192.0.2.7");
    assert_eq!(records.of(1, "dns.queries[].rrname"), "www.example.org");
    assert_eq!(
        records.of(1, "flowpin.edns.options"),
        "COOKIE 6162636465666768"
    );
    assert_eq!(records.of(1, "flowpin.edns.udp_size"), "1232");
    assert_eq!(
        (records.of(1, "flowpin.rtt"), records.of(1, "dns.ra")),
        ("2000000000", "true")
    );
}

/// RFC 2136 §2.4: the prerequisites of an update are records without contents, not addresses.
#[test]
fn records_without_contents_are_not_grouped() {
    let options = DnsOptions {
        log: false,
        ..options()
    };
    let mut update = query(7, "example.org", 6);
    update[2..8].copy_from_slice(b"\x28\0\0\x01\0\x01");
    update.extend(b"\xc0\x0c\0\x01\0\xff\0\0\0\0\0\0");
    let records = datagrams(options, DNS, &[(10, update)]);
    assert_eq!(records.of(0, "dns.answers[].rdata"), "\\# 0");
    assert_eq!(records.of(0, "dns.grouped.A"), "");
    assert!(records.anomalies.is_empty());
}

/// Strings of a text are answers of their own, but not of a message that is made of them: its event
/// would be a hundred times as long.
#[test]
fn strings_are_answers_as_long_as_they_are_few() {
    let options = DnsOptions {
        log: false,
        ..options()
    };
    for (texts, answers) in [(16, 16 * 64), (17, 17)] {
        let mut message = query(7, "a.local", A);
        message[2..8].copy_from_slice(&[0x84, 0, 0, 1, 0, texts]);
        for _ in 0..texts {
            message.extend(b"\xc0\x0c\0\x10\0\x01\0\0\0\x78\0\x40");
            message.extend([0; 64]);
        }
        let records = datagrams(options.clone(), DNS, &[(1, message)]);
        let names = records.of(0, "dns.answers[].rrname");
        assert_eq!(names.split('|').count(), answers, "{texts} texts");
    }
}

/// RFC 6762 §6: mDNS has no identifiers for pairing, and uses a bit of the class for its own
/// purpose.
#[test]
fn mdns_is_not_paired() {
    let mut request = query(0, "printer.local", A);
    let at = request.len() - 2;
    request[at] = 0x80;
    let records = datagrams(
        only_log(),
        MDNS,
        &[(1, request.clone()), (2, response(&request))],
    );
    assert_eq!(records.all("qclass"), ["1", "1"]);
    assert_eq!(records.all("rtt"), ["", ""]);
}

/// Events of protocols of the link name what records hold by the records' types, with the strings
/// of a text as a list (RFC 1035 §3.3.14).
#[test]
fn mdns_events_name_contents_by_their_type() {
    let options = DnsOptions {
        log: false,
        ..options()
    };
    let mut message = query(0, "a.local", A);
    message[2..8].copy_from_slice(b"\x84\0\0\x01\0\x03");
    message.extend(b"\xc0\x0c\0\x10\0\x01\0\0\0\x78\0\x08\x03b=c\x03d=e");
    message.extend(b"\xc0\x0c\0\x01\0\x01\0\0\0\x78\0\x04\xc0\0\x02\x07");
    message.extend(b"\xc0\x0c\0\x21\0\x01\0\0\0\x78\0\x08\0\x01\0\x02\0\x50\xc0\x0c");
    for (protocol, name) in [(MDNS, "mdns"), (LLMNR, "llmnr")] {
        let records = datagrams(options.clone(), protocol, &[(1, message.clone())]);
        let of = |key: &str| records.of(0, &format!("{name}.answers[].{key}")).to_owned();
        assert_eq!(of("rrname"), "a.local|a.local|a.local");
        assert_eq!(of("txt"), "b=c|d=e|-|-");
        assert_eq!(of("a"), "-|192.0.2.7|-");
        assert_eq!(["srv.port", "srv.name"].map(of), ["-|-|80", "-|-|a.local"]);
        assert_eq!(of("ptr"), "");
        // What these tell is not told again.
        let own = |key: &str| records.of(0, &format!("flowpin.{key}")).to_owned();
        assert_eq!(own("answers[].ttl"), "120|120|120");
        assert_eq!(own("answers[].rdata"), "-|-|-");
        for key in ["grouped.A", "answers[].srv.name", "version", "qr"] {
            assert_eq!(own(key), "", "{key}");
        }
    }
}

/// Suricata has an answer for each string of a text.
#[test]
fn strings_of_a_text_are_answers_of_their_own() {
    let options = DnsOptions {
        log: false,
        ..options()
    };
    let mut message = query(7, "a.example", 16);
    message[2..8].copy_from_slice(b"\x81\x80\0\x01\0\x01");
    message.extend(b"\xc0\x0c\0\x10\0\x01\0\0\0\x78\0\x08\x03b=c\x03d=e");
    let records = datagrams(options, DNS, &[(1, message)]);
    assert_eq!(records.of(0, "dns.answers[].rdata"), "b=c|d=e");
    assert_eq!(records.of(0, "dns.answers[].ttl"), "120|120");
}

/// Violations are named, and the readable parts are read.
#[test]
fn violations_are_named() {
    let good = response(&query(7, "www.example.org", A));
    let mut cases: Vec<(Vec<u8>, &str)> = vec![
        (good[..11].to_vec(), "dns_truncated_message"),
        ([&good[..], b"x"].concat(), "dns_trailing_bytes"),
        (good[..good.len() - 30].to_vec(), "dns_count_mismatch"),
    ];
    let mut changed = |at: usize, bytes: &[u8], event| {
        let mut message = good.clone();
        message[at..at + bytes.len()].copy_from_slice(bytes);
        cases.push((message, event));
    };
    changed(7, &[2], "dns_count_mismatch");
    changed(12, &[0x45], "dns_label_too_long");
    changed(12, &[0xc0, 12], "dns_pointer_loop");
    changed(12, &[60], "dns_truncated_name");
    changed(2, &[0x81, 0xc0], "dns_z_flag");
    changed(2, &[0xb9, 0x80], "dns_unknown_opcode");
    for (message, event) in cases {
        let records = datagrams(only_log(), DNS, &[(1, message)]);
        assert_eq!(records.anomalies, [event]);
    }
}

/// Truncation by the capture is not an error of the sender.
#[test]
fn truncation_by_the_capture_is_no_anomaly() {
    let good = response(&query(7, "www.example.org", A));
    for len in 12..good.len() {
        let mut dns = trial(only_log(), &ParserSetup::default()).unwrap();
        let mut sink = Columns::default();
        let handle = dns.begin(DNS).unwrap();
        dns.datagram(
            handle,
            Timestamp(1),
            false,
            (&good[..len], good.len()),
            &mut sink,
        );
        assert!(sink.anomalies.is_empty(), "{len}: {:?}", sink.anomalies);
        assert_eq!(sink.records.len(), 1);
    }
}

/// Names that are costly on purpose are cut off: 64 KiB of pointers to one long name.
#[test]
fn a_message_of_pointers_has_an_end() {
    let mut message = b"\0\x01\x81\x80\0\x01\xff\xff\0\0\0\0".to_vec();
    for _ in 0..3 {
        message.push(63);
        message.extend([b'x'; 63]);
    }
    message.extend(b"\0\0\x01\0\x01");
    while message.len() < 65_000 {
        message.extend(b"\xc0\x0c\0\x01\0\x01\0\0\0\0\0\x04\x01\x02\x03\x04");
    }
    let mut dns = trial(only_log(), &ParserSetup::default()).unwrap();
    let mut sink = Columns::default();
    let handle = dns.begin(DNS).unwrap();
    dns.datagram(
        handle,
        Timestamp(1),
        false,
        (&message, message.len()),
        &mut sink,
    );
    assert_eq!(sink.anomalies, ["dns_too_much_text"]);
    assert_eq!(dns.parser.losses().of(Loss::DnsText), 1);
    assert!(sink.of(0, "answers").len() < 1 << 20);
}

/// A connection's limit has a counter; the oldest request is evicted first.
#[test]
fn a_connection_has_only_so_many_requests() {
    let messages: Vec<_> = (0..5)
        .map(|at| (at, query(at as u16, &format!("n{at}.example"), A)))
        .collect();
    let mut dns = trial(only_log(), &ParserSetup::default()).unwrap();
    let mut sink = Columns::default();
    let handle = dns.begin(DNS).unwrap();
    for (at, message) in &messages {
        let payload = (message.as_slice(), message.len());
        dns.datagram(handle, Timestamp(*at), true, payload, &mut sink);
    }
    assert_eq!(sink.all("query"), ["n0.example", "n1.example"]);
    assert_eq!(dns.parser.losses().of(Loss::DnsQueries), 2);
    dns.end(handle, Timestamp(9), &mut sink);
    assert_eq!(sink.records.len(), 5);
}

/// Without memory, requests are reported at once and messages in parts are given up; both are
/// counted.
#[test]
fn a_shard_without_memory_keeps_nothing() {
    let setup = ParserSetup::default().with_budgets(Budget::new(1000), Budget::new(0));
    let mut dns = trial(only_log(), &setup).unwrap();
    let mut sink = Columns::default();
    let handle = dns.begin(DNS).unwrap();
    let message = query(7, "a.example", A);
    for at in 1..6 {
        dns.datagram(
            handle,
            Timestamp(at),
            true,
            (&message, message.len()),
            &mut sink,
        );
    }
    let lost = dns.parser.losses().of(Loss::DnsQueries);
    assert!((1..5).contains(&lost), "{lost}");
    assert_eq!(sink.records.len() as u64, lost);
    dns.data(handle, Timestamp(9), false, b"\xff\xff", &mut sink);
    dns.data(handle, Timestamp(9), false, &[0; 900], &mut sink);
    assert_eq!(sink.anomalies, ["dns_message_not_kept"]);
    assert!(dns.parser.losses().of(Loss::DnsMemory) >= 1);
    dns.finish(&mut sink);
    assert_eq!(sink.records.len(), 5);
    assert_eq!(setup.budget.left(SHARD), 1000);
}

/// The shortest requests in one segment: what they take of the memory is bounded (by `Trial`).
#[test]
fn many_requests_in_one_segment_take_little_memory() {
    let mut dns = trial(DnsOptions::default(), &ParserSetup::default()).unwrap();
    let mut sink = Columns::default();
    let handle = dns.begin(DNS).unwrap();
    let header = b"\0\x0c\0\x01\x01\0\0\0\0\0\0\0\0\0";
    dns.data(handle, Timestamp(1), true, &header.repeat(4000), &mut sink);
    assert!(dns.left() < ParserSetup::default().budget.left(0));
    dns.finish(&mut sink);
}

/// After missing bytes, reading continues only if the next bytes resemble a message.
#[test]
fn after_missing_bytes_messages_are_found_again() {
    let message = with_length(&query(1, "a.example", A));
    for (next, found) in [
        (&message[..], 2),
        (&b"\0\x20\xff\xff\xff\xff\xff\xff\xff\xff\xff"[..], 1),
    ] {
        let mut dns = trial(only_log(), &ParserSetup::default()).unwrap();
        let mut sink = Columns::default();
        let handle = dns.begin(DNS).unwrap();
        let at = Timestamp(1);
        dns.data(
            handle,
            at,
            true,
            &[&message[..], &message[..9]].concat(),
            &mut sink,
        );
        dns.gap(handle, at, true, 100, &mut sink);
        dns.data(handle, at, true, next, &mut sink);
        dns.data(handle, at, true, &[0; 40], &mut sink);
        dns.finish(&mut sink);
        assert_eq!(sink.records.len(), found);
        assert_eq!(sink.anomalies[0], "dns_message_cut_off");
    }
}
