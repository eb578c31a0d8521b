//! Messages in every format, by a schema that is data.
#![allow(clippy::unwrap_used, reason = "tests stop where something is missing")]

use flowpin_config::{Format, OutputPlan};
use flowpin_output::{Disk, Formatter, Merger, MessageSchemas, Writers};
use flowpin_packet::{InterfaceId, Timestamp};
use flowpin_record::{
    Kind, MessageColumn, MessagePlace, MessageSchema, RecordEndpoint, RecordKey, RecordSink, Shown,
    ToolNames, Uid, Value,
};
use std::path::Path;

const COLUMNS: &[MessageColumn] = &[
    MessageColumn::new("query", "dns.rrname", Kind::Text, "What is asked for."),
    MessageColumn::new("rcode", "dns.rcode", Kind::Count, "The answer's code."),
    MessageColumn::new("AA", "dns.flags.aa", Kind::Bool, "Authoritative."),
    MessageColumn::new("rtt", "dns.rtt", Kind::Interval, "How long it took."),
    MessageColumn::new("answers", "dns.answers[].rdata", Kind::TextList, "Answers."),
    MessageColumn::new("TTLs", "", Kind::IntervalList, "Their times to live."),
    MessageColumn::new(
        "",
        "dns.answers[].ttl",
        Kind::CountList,
        "Their times to live.",
    ),
    MessageColumn::new("offset", "dns.offset", Kind::Int, "A number below zero."),
];

static ASKED: MessageSchema = MessageSchema::in_file("asked", "dns", "A question.", COLUMNS);
static OTHER: MessageSchema = MessageSchema::new("other", "Nothing of it comes.", &[]);

fn place(number: u64) -> MessagePlace {
    let end = |address: [u8; 4], port| RecordEndpoint {
        address: address.into(),
        port,
    };
    MessagePlace {
        time: Timestamp::new(1_700_000_000, 123_456_789),
        uid: Uid(62),
        protocol: 17,
        client: end([10, 0, 0, 1], 1234),
        server: end([10, 0, 0, 2], 53),
        vlans: [0xffff; 2],
        interface: InterfaceId::NONE,
        app: "dns",
        in_tools: ToolNames::of("dns"),
        transaction: 7,
        packet_number: Some(number).filter(|&number| number > 0),
        shown_client: None,
    }
}

/// Writes one record in a format and returns its file.
fn written(format: Format, file: &str) -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    write(format, dir.path());
    std::fs::read(dir.path().join(file)).unwrap()
}

fn write(format: Format, dir: &Path) {
    let plan = OutputPlan {
        dir: dir.to_owned(),
        formats: vec![format],
        ..OutputPlan::default()
    };
    let schemas = MessageSchemas::new([&OTHER, &ASKED]);
    let mut formatter = Formatter::with_messages(&plan, &schemas);
    let mut writers = Writers::with_messages(&plan, &schemas, Box::new(Disk::default())).unwrap();
    let answers = [
        Value::Bytes(b"a,\"b"),
        Value::Bytes(b"\xff c"),
        Value::Unset,
    ];
    let (ttls, seconds) = (
        [Value::Interval(5_000_000_000), Value::Interval(0)],
        [Value::Count(5)],
    );
    let values = [
        Value::Bytes(b"x\t\xc3\xa9\\"),
        Value::Count(3),
        Value::Bool(true),
        Value::Unset,
        Value::List(&answers),
        Value::List(&ttls),
        Value::List(&seconds),
        Value::Int(-5),
    ];
    for (number, values) in [(2, &values[..]), (0, &[])] {
        let key = RecordKey {
            time: Timestamp(5 - number),
            number,
            ordinal: 1,
        };
        formatter.message(key, &place(number), &ASKED, values);
    }
    let mut merger = Merger::new(1);
    merger.push(0, formatter.take_batch(Timestamp::MAX));
    merger.drain(&mut writers, |_, _| ()).unwrap();
    writers.finish().unwrap();
    let summary = writers.summary();
    let counts: Vec<_> = summary
        .messages
        .iter()
        .map(|one| (one.name.as_str(), one.built, one.written))
        .collect();
    assert_eq!(counts, [("other", 0, 0), ("asked", 2, 2)]);
    assert_eq!(
        std::fs::read_dir(dir).unwrap().count(),
        if format == Format::Eve { 1 } else { 2 }
    );
}

fn text(format: Format, file: &str) -> String {
    String::from_utf8(written(format, file)).unwrap()
}

/// Nested by paths, arrays zipped, unset fields and empty objects left out, common fields first.
#[test]
fn eve_nests_by_paths() {
    let text = text(Format::Eve, "eve.json");
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(
        lines[0],
        concat!(
            r#"{"timestamp":"2023-11-14T22:13:20.123456+0000","flow_id":0,"pcap_cnt":2,"event_"#,
            r#"type":"asked","src_ip":"10.0.0.1","src_port":1234,"dest_ip":"10.0.0.2","dest_po"#,
            r#"rt":53,"ip_v":4,"proto":"UDP","tx_id":7,"app_proto":"dns","community_id":"1:Ea0"#,
            r#"b+QAKyyyZmzLMpe+46vMamSo=","dns":{"rrname":"x\té\\","rcode":3,"flags":{"aa":tru"#,
            r#"e},"answers":[{"rdata":"a,\"b","ttl":5},{"rdata":"\\xff c"},{}],"offset":-5},"f"#,
            r#"lowpin":{"uid":"C00000000010"}}"#,
        )
    );
    assert!(lines[1].contains(r#""community_id":"#) && !lines[1].contains("pcap_cnt"));
    assert!(lines[1].ends_with(r#"=","flowpin":{"uid":"C00000000010"}}"#));
    lines.iter().for_each(|line| {
        serde_json::from_str::<serde_json::Value>(line).unwrap();
    });
}

/// The tags of the connection's first packet stand where a flow's do, outermost first.
#[test]
fn eve_has_the_vlans() {
    let tagged = |vlans: [u16; 2]| {
        let schemas = MessageSchemas::new([&OTHER, &ASKED]);
        let mut formatter = Formatter::with_messages(&OutputPlan::default(), &schemas);
        let place = MessagePlace { vlans, ..place(1) };
        let key = RecordKey {
            time: Timestamp(1),
            number: 1,
            ordinal: 1,
        };
        formatter.message(key, &place, &ASKED, &[]);
        let dir = tempfile::tempdir().unwrap();
        let plan = OutputPlan {
            dir: dir.path().to_owned(),
            ..OutputPlan::default()
        };
        let mut writers =
            Writers::with_messages(&plan, &schemas, Box::new(Disk::default())).unwrap();
        let mut merger = Merger::new(1);
        merger.push(0, formatter.take_batch(Timestamp::MAX));
        merger.drain(&mut writers, |_, _| ()).unwrap();
        writers.finish().unwrap();
        std::fs::read_to_string(dir.path().join("eve.json")).unwrap()
    };
    let two = r#""event_type":"asked","vlan":[5,6],"src_ip":"10.0.0.1""#;
    assert!(tagged([5, 6]).contains(two), "{}", tagged([5, 6]));
    assert!(tagged([5, 0xffff]).contains(r#","vlan":[5],"#));
}

/// Zeek's file name, header, escapes and unset values.
#[test]
fn zeek_has_its_file_and_escapes() {
    let tsv = text(Format::ZeekTsv, "dns.log");
    assert!(tsv.contains("#path\tdns\n"));
    assert!(tsv.contains(
        "#fields\tts\tuid\tid.orig_h\tid.orig_p\tid.resp_h\tid.resp_p\tquery\trcode\tAA\trtt\ta\
          nswers\tTTLs\toffset\n"
    ));
    assert!(tsv.contains(
        "#types\ttime\tstring\taddr\tport\taddr\tport\tstring\tcount\tbool\tinterval\tvector[st\
          ring]\tvector[interval]\tint\n"
    ));
    assert!(tsv.contains(
        "1700000000.123456\tC00000000010\t10.0.0.1\t1234\t10.0.0.2\t53\tx\\x09é\\x5c\t3\tT\t-\t\
          a\\x2c\"b,\\xff c,-\t5.000000,0.000000\t-5\n"
    ));
    let json = text(Format::ZeekJson, "dns.json");
    let first = json.lines().next().unwrap();
    assert!(first.ends_with(concat!(
        r#""query":"x\té\\","rcode":3,"AA":true,"answers":["a,\"b","\\xff c",null],"TTLs":"#,
        r#"[5.000000,0.000000],"offset":-5}"#,
    )));
}

/// A record is one line, whatever its text is.
#[test]
fn csv_quotes_and_escapes() {
    let csv = text(Format::Csv, "dns.csv");
    let lines: Vec<_> = csv.lines().collect();
    assert_eq!(
        lines[0],
        "ts,uid,id_orig_h,id_orig_p,id_resp_h,id_resp_p,query,rcode,AA,rtt,answers,TTLs,offset,\
          community_id,transaction,packet_number"
    );
    assert_eq!(
        lines[1],
        concat!(
            r#"2023-11-14T22:13:20.123456789Z,C00000000010,10.0.0.1,1234,10.0.0.2,53,"x\x09é\""#,
            r#",3,true,,"a,""b \xff\x20c ","5.000000000 0.000000000",-5,1:Ea0b+QAKyyyZmzLMpe+4"#,
            r#"6vMamSo=,7,2"#,
        )
    );
}

/// Lists are lists, numbers numbers.
#[test]
fn parquet_has_lists() {
    let dir = tempfile::tempdir().unwrap();
    write(Format::Parquet, dir.path());
    let rows = parquet_rows(&dir.path().join("dns.parquet"));
    assert_eq!(rows.len(), 2);
    let first = &rows[0];
    for part in [
        r#"answers: ["a,"b", "\xff c", null]"#,
        "TTLs: [5.0, 0E0]",
        "offset: -5",
        "rcode: 3",
        "packet_number: 2",
    ] {
        assert!(first.contains(part), "{part} in {first}");
    }
}

/// The rows of a file, as text.
fn parquet_rows(path: &Path) -> Vec<String> {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    let reader = SerializedFileReader::new(std::fs::File::open(path).unwrap()).unwrap();
    let rows = reader.get_row_iter(None).unwrap();
    rows.map(|row| row.unwrap().to_string()).collect()
}

static SHAPED: MessageSchema = MessageSchema::new("mail", "A mail.", SHAPED_COLUMNS);

const SHAPED_COLUMNS: &[MessageColumn] = &[
    MessageColumn::new("to", "email.to=list", Kind::Text, "Who gets it."),
    MessageColumn::new("code", "mail.code=text", Kind::Count, "What was answered."),
    MessageColumn::new("reply", "flowpin.reply", Kind::Text, "The answer's words."),
    MessageColumn::new("by", "mail.by=path", Kind::Text, "Whose it is."),
    MessageColumn::new("for", "mail.for=path", Kind::TextList, "Whom it is for."),
    MessageColumn::new("until", "mail.until=time", Kind::Text, "How long."),
];

/// One event of [`SHAPED`].
fn shaped(values: &[Value<'_>]) -> serde_json::Value {
    let dir = tempfile::tempdir().unwrap();
    write_shaped(Format::Eve, dir.path(), values);
    let text = std::fs::read_to_string(dir.path().join("eve.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn write_shaped(format: Format, dir: &Path, values: &[Value<'_>]) {
    let plan = OutputPlan {
        dir: dir.to_owned(),
        formats: vec![format],
        ..OutputPlan::default()
    };
    let schemas = MessageSchemas::new([&SHAPED]);
    let mut formatter = Formatter::with_messages(&plan, &schemas);
    let key = RecordKey {
        time: Timestamp(5),
        number: 1,
        ordinal: 1,
    };
    formatter.message(key, &place(1), &SHAPED, values);
    let mut writers = Writers::with_messages(&plan, &schemas, Box::new(Disk::default())).unwrap();
    let mut merger = Merger::new(1);
    merger.push(0, formatter.take_batch(Timestamp::MAX));
    merger.drain(&mut writers, |_, _| ()).unwrap();
    writers.finish().unwrap();
}

/// A time that is text elsewhere is a time in Parquet; what is none is unset.
#[test]
fn parquet_has_times_where_text_is_one() {
    for (until, part) in [
        (&b"2036-02-29T23:59:59"[..], "until: 2036-02-29 23:59:59"),
        (b"9999-12-31T23:59:59", "until: 9999-12-31 23:59:59"),
        (b"1950-05-13T12:00:00", "until: 1950-05-13 12:00:00"),
        (b"1000-12-31T23:59:59", "until: null"),
        (b"2036-02-30T23:59:59", "until: null"),
        (b"2036-02-29 23:59:59", "until: null"),
        (b"2036-02-29T24:59:59", "until: null"),
        (b"2036-02-29T+1:59:59", "until: null"),
    ] {
        let mut values = [Value::Unset; 6];
        values[5] = Value::Bytes(until);
        let text = core::str::from_utf8(until).unwrap();
        assert_eq!(shaped(&values)["mail"]["until"], text);
        let dir = tempfile::tempdir().unwrap();
        write_shaped(Format::Parquet, dir.path(), &values);
        let rows = parquet_rows(&dir.path().join("mail.parquet"));
        assert!(rows.len() == 1 && rows[0].contains(part), "{rows:?}");
    }
}

/// What is an array in EVE is a list in Parquet, of the same parts.
#[test]
fn parquet_has_lists_where_events_have_arrays() {
    for (to, part) in [
        (
            &br#""A, B" <a@b>, c@d ,,"#[..],
            r#"to: [""A, B" <a@b>", "c@d"]"#,
        ),
        (b"e@f", r#"to: ["e@f"]"#),
        (b" , ", "to: null"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let mut values = [Value::Unset; 6];
        values[0] = Value::Bytes(to);
        write_shaped(Format::Parquet, dir.path(), &values);
        let rows = parquet_rows(&dir.path().join("mail.parquet"));
        assert!(rows.len() == 1 && rows[0].contains(part), "{rows:?}");
    }
}

/// Types are Suricata's where the columns have others; what it has no name for is under `flowpin`.
#[test]
fn events_have_the_shapes_that_paths_ask_for() {
    let event = shaped(&[
        Value::Bytes(br#""Doe, \"J, " <a@b>, c@d ,, <x,y@z>"#),
        Value::Count(404),
        Value::Bytes(b"gone"),
        Value::Bytes(br#""a" b@c"#),
        Value::List(&[Value::Bytes(b"d@e"), Value::Bytes(b"f")]),
        Value::Unset,
    ]);
    assert_eq!(event["mail"]["by"], r#"<"a" b@c>"#);
    assert_eq!(event["mail"]["for"], serde_json::json!(["<d@e>", "<f>"]));
    let to = serde_json::json!([r#""Doe, \"J, " <a@b>"#, "c@d", "<x,y@z>"]);
    assert_eq!(event["email"]["to"], to);
    assert_eq!(event["mail"]["code"], "404");
    assert_eq!(event["flowpin"]["reply"], "gone");
    assert!(event["flowpin"]["uid"].is_string());
    let event = shaped(&[
        Value::Bytes(b" , "),
        Value::Unset,
        Value::Unset,
        Value::Unset,
        Value::Unset,
        Value::Unset,
    ]);
    assert!(event["email"].is_null() && event["mail"].is_null());
    assert_eq!(event["flowpin"].as_object().unwrap().len(), 1);
}

static ALONE: MessageSchema =
    MessageSchema::new("thing", "A thing.", ALONE_COLUMNS).standing_alone();

const ALONE_COLUMNS: &[MessageColumn] = &[MessageColumn::new(
    "name",
    "",
    Kind::Text,
    "What it is called.",
)];

/// The file of things that so many workers have seen.
fn seen(format: Format, file: &str, workers: usize) -> String {
    let dir = tempfile::tempdir().unwrap();
    let plan = OutputPlan {
        dir: dir.path().to_owned(),
        formats: vec![format],
        ..OutputPlan::default()
    };
    let schemas = MessageSchemas::new([&ASKED, &ALONE]);
    let mut writers = Writers::with_messages(&plan, &schemas, Box::new(Disk::default())).unwrap();
    let mut merger = Merger::new(workers);
    let hours = [
        (0, "a"),
        (1, "b"),
        (2, "a"),
        (3, "a"),
        (23, "b"),
        (26, "a"),
        (27, "b"),
        (49, "a"),
    ];
    for worker in 0..workers {
        let mut formatter = Formatter::with_messages(&plan, &schemas);
        for (number, (hour, name)) in (1u64..).zip(hours) {
            let time = Timestamp(hour * 3_600_000_000_000 + 1);
            let key = RecordKey {
                time,
                number,
                ordinal: 1,
            };
            // Of whichever connection.
            let place = MessagePlace {
                time,
                uid: Uid(number),
                ..place(number)
            };
            if number as usize % workers == worker {
                formatter.message(key, &place, &ALONE, &[Value::Bytes(name.as_bytes())]);
                formatter.message(key, &place, &ASKED, &[Value::Bytes(b"x")]);
            }
        }
        merger.push(worker, formatter.take_batch(Timestamp::MAX));
    }
    merger.drain(&mut writers, |_, _| ()).unwrap();
    writers.finish().unwrap();
    let summary = writers.summary();
    let written: Vec<_> = summary.messages.iter().map(|one| one.written).collect();
    assert_eq!(written, [8, 4]);
    std::fs::read_to_string(dir.path().join(file)).unwrap()
}

/// What many connections show is written once a day, whichever workers saw it, with its own
/// columns alone.
#[test]
fn what_stands_alone_is_written_once_a_day() {
    let tsv = seen(Format::ZeekTsv, "thing.log", 1);
    assert!(
        tsv.contains("#fields\tts\tname\n#types\ttime\tstring\n"),
        "{tsv}"
    );
    let rows: Vec<_> = tsv.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(
        rows,
        [
            "0.000000\ta",
            "3600.000000\tb",
            "93600.000000\ta",
            "97200.000000\tb"
        ]
    );
    let json = seen(Format::ZeekJson, "thing.json", 1);
    assert_eq!(json.lines().count(), 4);
    assert!(
        json.starts_with("{\"ts\":0.000000,\"name\":\"a\"}\n"),
        "{json}"
    );
    for workers in [2, 3] {
        assert_eq!(seen(Format::ZeekTsv, "thing.log", workers), tsv);
        assert_eq!(seen(Format::ZeekJson, "thing.json", workers), json);
    }
}

/// Only Zeek's formats have it: without them nobody reads its values.
#[test]
fn only_zeek_has_what_stands_alone() {
    for (format, has_it) in [
        (Format::Eve, false),
        (Format::ZeekTsv, true),
        (Format::ZeekJson, true),
        (Format::Csv, false),
        (Format::Parquet, false),
        (Format::None, false),
    ] {
        let plan = OutputPlan {
            formats: vec![format],
            ..OutputPlan::default()
        };
        let formatter = Formatter::with_messages(&plan, &MessageSchemas::new([&ALONE]));
        assert_eq!(
            formatter.reads_messages(Shown::InZeek),
            has_it,
            "{format:?}"
        );
    }
}
