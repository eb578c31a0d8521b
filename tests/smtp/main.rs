//! SMTP against what clients noted and what servers wrote into their logs.
//!
//! The captures are our own recordings (`testkit/record/mail`): Postfix and Exim, each with the
//! same clients, which pipeline, send chunks, are refused, go away, and send lines beyond any size.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use flowpin_testkit::{corpus, product};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;

/// The records of each connection are the mails that its client handed over, or tried to, in order:
/// envelope with refused recipients, header, and the server's answer.
#[test]
fn records_are_the_mails_that_clients_noted() {
    for (name, mails) in [("smtp-postfix", 32), ("smtp-exim", 32)] {
        let mut ours: BTreeMap<u64, Vec<Mail>> = BTreeMap::new();
        for record in records(name) {
            let port = record["id.orig_p"].as_u64().unwrap();
            ours.entry(port).or_default().push(Mail::told(&record));
        }
        let mut theirs: BTreeMap<u64, Vec<Mail>> = BTreeMap::new();
        for fact in facts(name).iter().filter(|fact| fact["talk"].is_string()) {
            let port = fact["port"].as_u64().unwrap();
            theirs.entry(port).or_default().push(Mail::noted(fact));
        }
        // What a client did not wait for it cannot know.
        for (port, noted) in &mut theirs {
            for (noted, told) in noted.iter_mut().zip(&ours[port]) {
                if noted.reply.is_empty() {
                    noted.reply.clone_from(&told.reply);
                }
            }
        }
        assert_eq!(ours, theirs, "{name}");
        assert_eq!(ours.values().flatten().count(), mails, "{name}");
    }
}

/// Every mail that a server says it took has one record that it took, with its number, sender,
/// recipients and name.
#[test]
fn accepted_records_are_the_lines_of_the_servers_logs() {
    for (name, hidden) in [("smtp-postfix", 1), ("smtp-exim", 0)] {
        let records = records(name);
        let told: Vec<Mail> = records.iter().map(Mail::told).collect();
        let is_taken = |mail: &&Mail| mail.reply.starts_with('2');
        let facts = facts(name);
        let logged: Vec<_> = facts
            .iter()
            .filter(|fact| fact["log"].is_string())
            .collect();
        // What came by TLS is in the log alone.
        assert_eq!(
            told.iter().filter(is_taken).count() + hidden,
            logged.len(),
            "{name}"
        );
        let mut missing = 0;
        for line in logged {
            let queue = line["queue"].as_str().unwrap();
            let mut found = told.iter().filter(|mail| mail.reply.contains(queue));
            let Some(mail) = found.next() else {
                missing += 1;
                continue;
            };
            assert_eq!(mail.from, text(line, "mail_from"), "{name}: {queue}");
            // Servers give mails without a name one of their own.
            if !mail.name.is_empty() {
                assert_eq!(mail.name, text(line, "message_id"), "{name}: {queue}");
            }
            for recipient in list(line, "rcpt_to") {
                let mut all = mail.recipients.iter();
                assert!(all.any(|one| one.ends_with(&recipient)), "{name}: {queue}");
            }
        }
        assert_eq!(missing, hidden, "{name}");
    }
}

/// A mail as records and clients know it.
#[derive(Debug, PartialEq)]
struct Mail {
    from: String,
    recipients: Vec<String>,
    header: [String; 3],
    name: String,
    reply: String,
}

impl Mail {
    fn told(record: &Value) -> Self {
        Self {
            from: text(record, "mailfrom"),
            recipients: list(record, "rcptto"),
            header: ["from", "to", "subject"].map(|key| text(record, key)),
            name: text(record, "msg_id"),
            reply: text(record, "last_reply"),
        }
    }

    fn noted(fact: &Value) -> Self {
        Self {
            from: text(fact, "mail_from"),
            recipients: list(fact, "rcpt_to"),
            header: ["from", "to", "subject"].map(|key| text(fact, key)),
            name: text(fact, "message_id"),
            reply: text(fact, "reply"),
        }
    }
}

fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}

fn list(value: &Value, key: &str) -> Vec<String> {
    let members = value[key].as_array().into_iter().flatten();
    members
        .map(|one| one.as_str().unwrap().to_owned())
        .collect()
}

fn records(name: &str) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    let capture = captures().join(format!("{name}.pcap.gz"));
    let (capture, output) = (capture.to_str().unwrap(), folder.path().to_str().unwrap());
    let words = [
        "run",
        "-q",
        "--format",
        "zeek-json",
        "-r",
        capture,
        "-l",
        output,
    ];
    let outcome = product::run(&words).unwrap();
    assert!(outcome.analysed(), "{name}: {}", outcome.stderr);
    let lines = fs::read_to_string(folder.path().join("smtp.json")).unwrap();
    let records = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    // A session that continues as TLS has a record without a mail.
    records
        .filter(|record: &Value| record["tls"] != true)
        .collect()
}

fn facts(name: &str) -> Vec<Value> {
    let truth = fs::read(captures().join(format!("{name}.json"))).unwrap();
    let truth: Value = serde_json::from_slice(&truth).unwrap();
    truth["facts"].as_array().unwrap().clone()
}

fn captures() -> std::path::PathBuf {
    corpus::workspace().join("testkit/captures")
}
