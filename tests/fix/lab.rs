//! Generated sessions with their truth: plain, coalesced, split and byte by byte.

use crate::events::events;
use flowpin_testkit::corpus;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Every well-formed message of the truth is a record with the same fields. What the truth calls
/// malformed has no record.
#[test]
fn records_are_the_truth_about_generated_sessions() {
    let Some(folder) = folder() else {
        return;
    };
    let mut captures: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "pcap"))
        .collect();
    captures.sort();
    assert!(!captures.is_empty());
    for capture in captures {
        let truth = std::fs::read_to_string(capture.with_extension("jsonl")).unwrap();
        let (events, _) = events(&capture);
        let mut ours: BTreeMap<(String, bool), Vec<&Value>> = BTreeMap::new();
        for event in &events {
            let key = (event.client.clone(), event.to_server());
            ours.entry(key).or_default().push(&event.fix);
        }
        let mut compared = 0;
        for line in truth.lines() {
            let session: Value = serde_json::from_str(line).unwrap();
            for (direction, to_server) in [("c2s", true), ("s2c", false)] {
                let messages = session["msgs"].as_array().unwrap().iter();
                let theirs: Vec<_> = messages
                    .filter(|one| one["dir"] == direction && one["wellformed"] == true)
                    .collect();
                let key = (session["client"].as_str().unwrap().to_owned(), to_server);
                let ours = ours.get(&key).map_or(&[][..], Vec::as_slice);
                assert_eq!(ours.len(), theirs.len(), "{} {direction}", session["test"]);
                for (ours, theirs) in ours.iter().zip(theirs) {
                    same(ours, theirs, &session["test"]);
                    compared += 1;
                }
            }
        }
        println!("{}: {compared} messages", capture.display());
    }
}

/// The truth's names and ours.
const FIELDS: &[(&str, &str)] = &[
    ("len", "length"),
    ("begin", "begin_string"),
    ("body_len_ok", "body_length_ok"),
    ("checksum_ok", "checksum_ok"),
    ("msgtype", "msg_type"),
    ("sender", "sender_comp_id"),
    ("target", "target_comp_id"),
    ("clordid", "cl_ord_id"),
    ("symbol", "symbol"),
];

fn same(ours: &Value, theirs: &Value, test: &Value) {
    for (theirs_name, ours_name) in FIELDS {
        assert_eq!(
            ours[ours_name], theirs[theirs_name],
            "{test}: {ours_name} of {theirs}"
        );
    }
    // Numbers are numbers here, and text there, which may be none.
    let number = theirs["seq"]
        .as_str()
        .and_then(|text| text.parse::<u64>().ok());
    assert_eq!(ours["seq_num"].as_u64(), number, "{test}: {theirs}");
}

fn folder() -> Option<PathBuf> {
    let shared = corpus::shared_dir("FIX records against generated sessions")?;
    Some(shared.join("corpus/fix/lab"))
}
