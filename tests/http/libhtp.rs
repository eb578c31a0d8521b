//! Conversations that libhtp, Suricata's parser, is tested with.
//!
//! Each file holds turns behind `>>>` (client) and `<<<` (server). The table says what comes of
//! each: method, target, status, bytes of both bodies, then anomalies.

use flowpin_http::{BodyOptions, Http, HttpOptions, Parser};
use flowpin_packet::{Shard, Timestamp};
use flowpin_parser::{Begin, ParserSetup};
use flowpin_record::{MessageSchema, MessageSink, Value};
use flowpin_testkit::corpus;
use std::collections::BTreeMap;
use std::fs;

/// What was told of one conversation.
#[derive(Default)]
struct Told(Vec<String>);

impl MessageSink for Told {
    fn message(&mut self, schema: &MessageSchema, _: Timestamp, values: &[Value<'_>]) {
        if schema.file_stem != "http" {
            return;
        }
        let text = |name: &str| {
            let at = schema.columns.iter().position(|column| column.name == name);
            match at.and_then(|at| values.get(at)) {
                Some(Value::Bytes(bytes)) if bytes.len() > 40 => format!("({} bytes)", bytes.len()),
                Some(Value::Bytes(bytes)) => bytes.escape_ascii().to_string(),
                Some(Value::Count(count)) => count.to_string(),
                _ => "-".to_owned(),
            }
        };
        let columns = [
            "method",
            "uri",
            "status_code",
            "request_body_len",
            "response_body_len",
        ];
        self.0.push(columns.map(text).join(" "));
    }

    fn anomaly(&mut self, event: &'static str) {
        self.0.push(event.trim_start_matches("http_").to_owned());
    }
}

/// The turns of a file: the line end before a mark belongs to the mark.
fn turns(file: &[u8]) -> Vec<(bool, Vec<u8>)> {
    let mut turns: Vec<(bool, Vec<u8>)> = Vec::new();
    for line in file.split_inclusive(|&byte| byte == b'\n') {
        let is_mark = |mark: &[u8]| line.trim_ascii_end() == mark;
        if is_mark(b">>>") || is_mark(b"<<<") {
            if let Some((_, before)) = turns.last_mut() {
                before.pop_if(|last| *last == b'\n');
                before.pop_if(|last| *last == b'\r');
            }
            turns.push((is_mark(b">>>"), Vec::new()));
        } else if let Some((_, turn)) = turns.last_mut() {
            turn.extend_from_slice(line);
        }
    }
    turns
}

fn told(turns: &[(bool, Vec<u8>)], piece: usize) -> Vec<String> {
    let options = HttpOptions {
        bodies: BodyOptions {
            decode: true,
            ..BodyOptions::default()
        },
        ..HttpOptions::default()
    };
    let mut http = Http::with_options(options, &ParserSetup::default()).unwrap();
    let mut told = Told::default();
    let begin = Begin {
        protocol: 0,
        shard: Shard(0),
        at: Timestamp(0),
    };
    let handle = http.begin(begin, || unreachable!()).unwrap();
    for (to_server, bytes) in turns {
        for part in bytes.chunks(piece.min(bytes.len().max(1))) {
            http.data(handle, Timestamp(0), *to_server, part, &mut told);
        }
    }
    http.end(handle, Timestamp(0), &mut told);
    told.0
}

/// Every conversation has the outcome of the table, in segments and byte by byte.
#[test]
fn conversations_of_libhtp_have_their_outcome() {
    let Some(shared) = corpus::shared_dir("conversations of libhtp") else {
        return;
    };
    let folder = shared.join("corpus/libhtp/test/files");
    let table = include_str!("../explained/libhtp.tsv");
    let expected: BTreeMap<&str, &str> = table
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once('\t'))
        .collect();
    let mut wrong = Vec::new();
    let mut seen = 0;
    let mut paths: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .flatten()
        .map(|one| one.path())
        .collect();
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !name.ends_with(".t") {
            continue;
        }
        let turns = turns(&fs::read(&path).unwrap());
        let whole = told(&turns, usize::MAX);
        assert_eq!(whole, told(&turns, 1), "{name} byte by byte");
        let whole = whole.join("; ");
        seen += 1;
        let outcome = expected
            .get(name.as_str())
            .and_then(|row| row.split('\t').next());
        if outcome != Some(&whole) {
            wrong.push(format!("{name}\t{whole}"));
        }
    }
    assert!(wrong.is_empty(), "of {seen}:\n{}", wrong.join("\n"));
}
