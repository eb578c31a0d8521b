//! Every field of every event is one that Suricata 8's have, of the same type, or stands where
//! Suricata has none: under `flowpin`, or in the object of an event type of our own.
//!
//! `suricata_fields.tsv` has the facts of Suricata's schema: a path and a type in each row.

use flowpin_testkit::{corpus, product};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Event types that Suricata does not have; what is theirs stands in an object of that name.
const OWN: [&str; 8] = [
    "fix",
    "flood",
    "flow_interim",
    "host_pair",
    "redis",
    "scan",
    "tunnel",
    "websocket",
];

#[test]
fn events_hold_what_suricatas_may() {
    let fields: BTreeMap<&str, &str> = include_str!("suricata_fields.tsv")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split_once('\t').unwrap())
        .collect();
    let mut captures = corpus::bundled();
    let public = corpus::captures(&["A", "D ", "E "], "types of EVE's fields");
    let every = if corpus::is_long() { 1 } else { 5 };
    captures.extend(
        public
            .into_iter()
            .step_by(every)
            .map(|capture| capture.path),
    );
    let (mut wrong, mut kinds) = (BTreeSet::new(), BTreeMap::<String, usize>::new());
    for capture in captures {
        let words = [
            "run",
            "-q",
            "--output",
            "-",
            "--host-pairs",
            "--pipeline",
            "1x1",
            "-r",
        ];
        let outcome = product::run(&[&words[..], &[capture.to_str().unwrap()]].concat()).unwrap();
        let text = String::from_utf8(outcome.stdout).unwrap();
        for line in text.lines() {
            let event: Value = serde_json::from_str(line).unwrap();
            let kind = event["event_type"].as_str().unwrap();
            *kinds.entry(kind.to_owned()).or_default() += 1;
            for (name, value) in event.as_object().unwrap() {
                let is_own = name == "flowpin" || (OWN.contains(&kind) && name == kind);
                if !is_own {
                    look(&fields, name, value, &mut wrong);
                }
            }
        }
    }
    println!("{kinds:?}");
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(kinds.len() >= 8, "{kinds:?}");
}

/// Notes what stands at a path and may not.
fn look(fields: &BTreeMap<&str, &str>, path: &str, value: &Value, wrong: &mut BTreeSet<String>) {
    let kind = match value {
        Value::Object(members) => {
            for (name, member) in members {
                look(fields, &format!("{path}.{name}"), member, wrong);
            }
            return;
        }
        Value::Array(members) => {
            if members.is_empty() {
                wrong.insert(format!("{path}: an empty array"));
            }
            for member in members {
                look(fields, &format!("{path}[]"), member, wrong);
            }
            return;
        }
        Value::String(_) => "string",
        Value::Bool(_) => "boolean",
        Value::Number(number) if !number.is_f64() => "integer",
        Value::Number(_) => "number",
        Value::Null => "null",
    };
    match fields.get(path) {
        Some(&wanted) if wanted == kind => {}
        Some(wanted) => {
            wrong.insert(format!("{path}: {kind}, Suricata has {wanted}"));
        }
        None => {
            wrong.insert(format!("{path}: Suricata has no such field"));
        }
    }
}
