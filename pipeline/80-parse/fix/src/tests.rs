//! Tests of the whole parser: segmentation, turns, secrets, garbage, limits.

use crate::fuzz::{Collector, options, reported, trial};
use crate::{FixOptions, from_printed};
use flowpin_counters::Loss;
use flowpin_packet::Timestamp;
use flowpin_parser::{Next, Parser};
use flowpin_record::{MessageSchema, MessageSink, Value};
use proptest::prelude::*;

/// Builds a message with correct BodyLength and CheckSum.
pub(crate) fn message(version: &str, body: &str) -> Vec<u8> {
    let body = from_printed(format!("{body}|").as_bytes());
    let mut wire = format!("8={version}\u{1}9={}\u{1}", body.len()).into_bytes();
    wire.extend(body);
    let sum = wire.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
    wire.extend(format!("10={sum:03}\u{1}").into_bytes());
    wire
}

fn conversation() -> Vec<Vec<u8>> {
    let v = "FIX.4.4";
    let logon = "35=A|34=1|49=C|56=S|52=20260101-00:00:00|98=0|108=30|553=me|554=tiger";
    let order = "35=D|34=2|49=C|56=S|52=20260101-00:00:01|11=o1|55=IBM|54=1|38=100|40=2|44=10.5";
    let client = [message(v, logon), message(v, order)].concat();
    let report = "35=8|34=2|49=S|56=C|52=20260101-00:00:01|37=1|11=o1|17=e1|150=0|39=0|55=IBM";
    let parties = "35=8|34=5|49=S|56=C|453=2|448=a|452=1|448=b|802=1|523=x|803=2|452=3|17=e2";
    let server = [
        message(v, &logon.replace("49=C|56=S", "49=S|56=C")),
        message(v, report),
        message(v, parties),
    ]
    .concat();
    let mut blob = b"95=12\x0196=a\x0110=000\x018=FIX\x01".to_vec();
    blob.splice(0..0, *b"35=B\x0134=3\x0149=C\x0156=S\x01");
    let mut news = format!("8=FIXT.1.1\u{1}9={}\u{1}", blob.len()).into_bytes();
    news.extend(blob);
    let sum = news.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
    news.extend(format!("10={sum:03}\u{1}").into_bytes());
    let wrong = message(v, "35=1|34=4|49=C|56=S|112=abc").to_ascii_uppercase();
    let short = String::from_utf8(message(v, "35=0|34=5|49=C|56=S"))
        .unwrap()
        .replace("9=20", "9=10");
    let last = message(v, "35=5|34=6|49=C|56=S|58=bye");
    let garbage = b"8=FI\r\n8=FIX.4.4\x0135=0\x01";
    let again = [
        &news[..],
        &wrong,
        garbage,
        short.as_bytes(),
        &last,
        b"8=FIX.4.4\x019=9",
    ];
    vec![client, server, again.concat(), b"HTTP/1.1".to_vec()]
}

fn turns(turns: &[Vec<u8>]) -> Vec<&[u8]> {
    turns.iter().map(Vec::as_slice).collect()
}

/// The report does not depend on segmentation: every split of every turn in two.
#[test]
fn every_split_in_two_gives_the_same_report() {
    let conversation = conversation();
    let options = options(true, 1 << 16);
    let whole = reported(&options, &turns(&conversation), usize::MAX);
    assert_eq!(whole.len(), 16, "{whole:#?}");
    let mut fix = trial(&options, 1 << 18).unwrap();
    for (turn, bytes) in conversation.iter().enumerate() {
        for cut in 0..=bytes.len() {
            let mut sink = Collector::default();
            let handle = fix.begin(0).unwrap();
            for (at, bytes) in conversation.iter().enumerate() {
                let cut = if at == turn { cut } else { 0 };
                let (first, second) = bytes.split_at(cut);
                fix.data(handle, Timestamp(1), at % 2 == 0, first, &mut sink);
                fix.data(handle, Timestamp(1), at % 2 == 0, second, &mut sink);
            }
            fix.end(handle, Timestamp(1), &mut sink);
            assert_eq!(sink.0, whole, "turn {turn} cut at {cut}");
        }
    }
    fix.finish(&mut Collector::default());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Any pieces give the same report, as long as the directions keep their turns.
    #[test]
    fn random_cuts_give_the_same_report(cuts in prop::collection::vec(1usize..60, 1..30)) {
        let conversation = conversation();
        let options = options(false, 1 << 16);
        let whole = reported(&options, &turns(&conversation), usize::MAX);
        let mut fix = trial(&options, 1 << 18).unwrap();
        let mut sink = Collector::default();
        let handle = fix.begin(0).unwrap();
        let mut lengths = cuts.iter().cycle();
        for (at, bytes) in conversation.iter().enumerate() {
            let mut rest = &bytes[..];
            while !rest.is_empty() {
                let (now, later) = rest.split_at(rest.len().min(*lengths.next().unwrap()));
                fix.data(handle, Timestamp(1), at % 2 == 0, now, &mut sink);
                rest = later;
            }
        }
        fix.end(handle, Timestamp(1), &mut sink);
        prop_assert_eq!(sink.0, whole);
    }

    /// Arbitrary bytes, also those that resemble messages, give the same report however they are
    /// cut.
    #[test]
    fn any_bytes_give_the_same_report(
        parts in prop::collection::vec(prop::sample::select(PARTS), 0..40),
        piece in 1usize..50,
    ) {
        let stream = parts.concat();
        let options = options(true, 300);
        let whole = reported(&options, &[&stream], usize::MAX);
        prop_assert_eq!(whole, reported(&options, &[&stream], piece));
    }
}

/// Parts of messages, and bytes that resemble them.
const PARTS: &[&[u8]] = &[
    b"8=FIX.4.2\x019=",
    b"8=FIX",
    b"10=001\x01",
    b"\x01",
    b"35=D\x0134=7\x01",
    b"95=5\x0196=",
    b"8=",
    b"999",
    b"20\x01",
];

/// The values of a record by column name.
#[derive(Default)]
struct Columns(Vec<Vec<(String, String)>>, Vec<&'static str>);

impl MessageSink for Columns {
    fn message(&mut self, schema: &MessageSchema, _: Timestamp, values: &[Value<'_>]) {
        let columns = schema.columns.iter().zip(values);
        let set = columns.filter(|(_, value)| **value != Value::Unset);
        let text = |value: &Value<'_>| match value {
            Value::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            Value::Text(text) => (*text).into(),
            Value::Count(count) | Value::Interval(count) => count.to_string(),
            other => format!("{other:?}"),
        };
        self.0.push(
            set.map(|(column, value)| (column.name.to_string(), text(value)))
                .collect(),
        );
    }

    fn anomaly(&mut self, event: &'static str) {
        self.1.push(event);
    }
}

impl Columns {
    fn of(&self, record: usize, name: &str) -> Option<&str> {
        let (_, value) = self.0[record].iter().find(|(column, _)| column == name)?;
        Some(value)
    }
}

fn columns(options: FixOptions, turns: &[(bool, u64, Vec<u8>)]) -> Columns {
    let mut fix = trial(&options, 1 << 18).unwrap();
    let mut sink = Columns::default();
    let handle = fix.begin(0).unwrap();
    for (to_server, at, bytes) in turns {
        fix.data(handle, Timestamp(*at), *to_server, bytes, &mut sink);
    }
    fix.end(handle, Timestamp(0), &mut sink);
    sink
}

/// The first report of an order gives its waiting time; the fields are those of the message.
#[test]
fn a_record_has_the_common_fields_and_the_latency() {
    let conversation = conversation();
    let turns = [
        (true, 1_000, conversation[0].clone()),
        (false, 4_500, conversation[1].clone()),
    ];
    let records = columns(options(false, 1 << 16), &turns);
    assert_eq!((records.0.len(), &records.1[..]), (5, &[][..]));
    let of = |record, name| records.of(record, name).unwrap_or("-");
    assert_eq!(
        (of(0, "msg_name"), of(0, "session"), of(0, "username")),
        ("Logon", "logon", "me")
    );
    assert_eq!(
        (of(1, "cl_ord_id"), of(1, "symbol"), of(1, "price")),
        ("o1", "IBM", "10.5")
    );
    assert_eq!((of(1, "latency"), of(1, "sequence")), ("-", "ok"));
    assert_eq!(
        (of(3, "latency"), of(3, "order_id"), of(3, "exec_type")),
        ("3500", "1", "0")
    );
    let gap = (of(4, "sequence"), of(4, "missing"), of(4, "expected_seq"));
    assert_eq!((gap, of(4, "latency")), (("gap", "2", "3"), "-"));
}

/// All output is free of secrets and contains the positions in repeating groups.
#[test]
fn all_fields_are_shown_but_for_secrets() {
    let conversation = conversation();
    let options = options(true, 1 << 16);
    let all = reported(&options, &turns(&conversation), usize::MAX).join("\n");
    assert!(!all.contains("tiger") && !all.contains(&format!("{:?}", b"tiger")));
    let records = columns(options, &[(false, 0, conversation[1].clone())]);
    let places: String = records.of(2, "groups").unwrap().into();
    let place = |text: &str| {
        places
            .matches(&format!("Bytes({:?})", text.as_bytes()))
            .count()
    };
    let found = ["453[0]", "453[1]", "453[1].802[0]"].map(place);
    assert_eq!(found, [2, 3, 2], "{places}");
}

/// Secrets of each kind, in the messages where they are secret.
#[test]
fn each_secret_is_masked() {
    let bodies = [
        "35=A|95=6|96=secret|554=secret|925=secret",
        "35=BE|553=u|554=secret|95=6|96=secret|1401=6|1402=secret|1403=6|1404=secret",
    ];
    for body in bodies {
        let turns = [(true, 0, message("FIXT.1.1", body))];
        let records = columns(options(true, 1 << 16), &turns);
        let values = records.of(0, "values").unwrap();
        assert!(!values.contains(&format!("{:?}", b"secret")), "{body}");
        assert_eq!(
            values.matches(&format!("{:?}", b"***")).count(),
            body.matches("=secret").count()
        );
    }
}

/// The rest of a secret that contains a SOH, and a password with a misspelled tag, stay out of the
/// output; other messages show bytes that are not a field.
#[test]
fn pieces_of_secrets_are_masked() {
    let bodies = [
        ("35=A|95=99|96=a\u{1}secret\u{1}secret", 3),
        ("35=A|554=a\u{1}secret", 2),
        ("35=BE\u{1}+554=secret", 1),
        ("35=8|554=a\u{1}secret", 2),
        ("35=8|554=a|58=b\u{1}shown", 1),
    ];
    for (body, masks) in bodies {
        let turns = [(true, 0, message("FIX.4.4", body))];
        let records = columns(options(true, 1 << 16), &turns);
        let values = records.of(0, "values").unwrap();
        let count = |word: &[u8]| values.matches(&format!("{word:?}")).count();
        assert_eq!(count(b"***"), masks, "{body}");
        assert_eq!(count(b"secret") + count(b"+554=secret"), 0, "{body}");
        assert_eq!(count(b"shown") > 0, body.contains("shown"));
    }
}

/// After garbage the next message is read, and the garbage is reported once.
#[test]
fn messages_after_garbage_are_found() {
    let good = message("FIX.4.0", "35=0|34=1");
    let stream = [&b"\0\0garbage 8=F"[..], &good, b"xx", b"8=FI", &good, &good].concat();
    let records = columns(options(false, 1 << 16), &[(true, 0, stream)]);
    assert_eq!(records.0.len(), 3);
    assert_eq!(records.1, ["fix_garbage"; 2]);
}

/// A gap ends the message before it; the messages after it are not a sequence gap.
#[test]
fn after_missing_bytes_the_next_message_is_read() {
    let good = |seq: u32| message("FIX.4.0", &format!("35=0|34={seq}"));
    let mut fix = trial(&options(false, 1 << 16), 1 << 18).unwrap();
    let mut sink = Columns::default();
    let handle = fix.begin(0).unwrap();
    let at = Timestamp(0);
    fix.data(
        handle,
        at,
        true,
        &[&good(1)[..], &good(2)[..20]].concat(),
        &mut sink,
    );
    fix.gap(handle, at, true, 100, &mut sink);
    fix.data(
        handle,
        at,
        true,
        &[&good(8)[9..], &good(9)].concat(),
        &mut sink,
    );
    fix.end(handle, at, &mut sink);
    assert_eq!(sink.0.len(), 2);
    assert_eq!(sink.of(1, "sequence"), Some("first"));
    assert_eq!(sink.1, ["fix_message_cut_off"]);
}

/// A message for which its shard has no memory is lost, and counted.
#[test]
fn messages_without_memory_are_lost_and_counted() {
    let mut fix = trial(&options(false, 1 << 16), 1024).unwrap();
    let mut sink = Columns::default();
    let handle = fix.begin(0).unwrap();
    let left = fix.left();
    let long = b"8=FIX.4.4\x019=60000\x0135=D\x0158=".to_vec();
    let mut data = |bytes: &[u8]| {
        fix.data(handle, Timestamp(0), true, bytes, &mut sink);
        fix.left()
    };
    assert!(data(&long) < left);
    assert_eq!(data(&[b'x'; 2000]), left);
    data(&message("FIX.4.4", "35=0|34=1"));
    let losses = fix.parser.losses();
    assert_eq!(losses.of(Loss::FixMemory), 2000 + long.len() as u64);
    assert_eq!(sink.1, ["fix_message_not_kept"]);
    assert_eq!(sink.0.len(), 1);
}

/// No input takes more memory than its length justifies: orders that get no report, messages that
/// are cut off, wrong lengths. All of it is given back at the end.
#[test]
fn memory_is_in_proportion_to_the_bytes() {
    let order = |number: u32| message("FIX.4.0", &format!("35=D|11={number}"));
    let orders: Vec<u8> = (0..5000).flat_map(order).collect();
    let short: Vec<u8> = (0..5000)
        .flat_map(|number| from_printed(format!("8=FIX|35=D|11={number}|10=000|").as_bytes()))
        .collect();
    let begins = b"8=FIX.4.4\x019=60000\x0135=D\x0158=".repeat(50);
    for stream in [orders, short, begins] {
        for piece in [usize::MAX, 1460, 7] {
            let mut fix = trial(&options(false, 1 << 16), 1 << 18).unwrap();
            let handles = [fix.begin(0).unwrap(), fix.begin(0).unwrap()];
            let mut sink = Collector::default();
            for part in stream.chunks(piece) {
                for (to_server, handle) in [(true, handles[0]), (false, handles[1])] {
                    let next = fix.data(handle, Timestamp(1), to_server, part, &mut sink);
                    assert_eq!(next, Next::More);
                }
            }
            fix.finish(&mut sink);
        }
    }
}

/// A wrong BodyLength holds the bytes that it announces, and each message in them is examined
/// again: above a limit, messages are reported as they arrive.
#[test]
fn wrong_lengths_are_waited_for_up_to_a_limit() {
    let mut fix = trial(&options(false, 1 << 16), 1 << 18).unwrap();
    let handle = fix.begin(0).unwrap();
    let mut sink = Collector::default();
    let wrong = b"8=FIX.4.4\x019=60000\x0135=0\x0110=000\x01";
    let left = fix.left();
    for _ in 0..3000 {
        fix.data(handle, Timestamp(1), true, wrong, &mut sink);
    }
    assert!(left - fix.left() <= 136);
    fix.finish(&mut sink);
}
