//! Two engines, recorded: what each noted that it sent is what the records say.

use crate::events::events;
use flowpin_testkit::corpus;
use serde_json::Value;

/// Every message of both sides in order; numbers skipped and sent again are told as such; orders
/// have their latency; the password is nowhere.
#[test]
fn records_are_what_the_engines_sent() {
    let capture = corpus::workspace().join("testkit/captures/fix.pcap");
    let truth = std::fs::read(capture.with_extension("json")).unwrap();
    let truth: Value = serde_json::from_slice(&truth).unwrap();
    let facts = truth["facts"].as_array().unwrap();
    let (events, text) = events(&capture);
    for (side, to_server) in [("client", true), ("server", false)] {
        let sent = facts.iter().filter(|fact| fact["side"] == side);
        // The client's last resend of a message is noted with its first number.
        let sent: Vec<_> = sent
            .map(|fact| (fact["msg_type"].as_str(), fact["cl_ord_id"].as_str()))
            .collect();
        let seen = events.iter().filter(|event| event.to_server() == to_server);
        let mut seen: Vec<_> = seen
            .map(|event| (event.text("msg_type"), event.text("cl_ord_id")))
            .collect();
        let mut sent = sent;
        // Within one answer to a ResendRequest, the engine notes before it sends.
        sent.sort();
        seen.sort();
        assert_eq!(seen, sent, "{side}");
    }
    let of = |key: &str, word: &str| events.iter().filter(|e| e.text(key) == Some(word)).count();
    assert_eq!(of("sequence", "gap"), 1);
    assert_eq!(of("session", "resend_request"), 1);
    assert_eq!(of("session", "gap_fill"), 1);
    assert_eq!((of("session", "logon"), of("session", "logout")), (2, 2));
    let latencies = events
        .iter()
        .filter(|event| event.fix["latency"].is_f64())
        .count();
    assert_eq!(latencies, 4, "one for each order");
    let all_right = |event: &&crate::events::Event| {
        event.fix["checksum_ok"] == true && event.fix["body_length_ok"] == true
    };
    assert_eq!(events.iter().filter(all_right).count(), events.len());
    let secret = facts
        .iter()
        .find_map(|fact| fact["secret"].as_str())
        .unwrap();
    assert!(text.contains("lab-user") && !text.contains(secret));
}
