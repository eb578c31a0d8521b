//! What connections of several parts decide together: alerts, and the sums of pairs of hosts.

use crate::divided::{Rows, Sink, at_once, by_connection, decide, splits};
use crate::{all_in_a_file, assert_same, seconds};
use flowpin_engine::Plan;
use flowpin_engine::parts::{Division, Joint, Note, Whole};
use flowpin_packet::Timestamp;
use flowpin_rules::Reader;
use std::sync::Arc;

/// Thresholds, bits and sets reach over connections; the others are of a packet that belongs to no
/// connection, of a stream, of a message, of a connection's end.
const RULES: &str = r#"
alert tcp any any -> any any (msg:"opens"; flags:S,12; threshold:type both,track by_src,count 3,seconds 5; sid:1;)
alert tcp any any -> any any (msg:"some"; flags:S,12; threshold:type limit,track by_rule,count 2,seconds 1; sid:2;)
alert tcp any any -> any any (msg:"many"; flags:S,12; detection_filter:track by_dst,count 4,seconds 60; sid:3;)
alert udp any any -> any any (msg:"was here"; xbits:set,here,track ip_src,expire 864000; noalert; sid:4;)
alert tcp any any -> any any (msg:"again"; flags:S,12; xbits:isset,here,track ip_src; sid:5;)
alert tcp any any -> any any (msg:"first time"; flow:established; xbits:isnotset,seen,track ip_pair; xbits:set,seen,track ip_pair,expire 3600; sid:6;)
alert dns any any -> any any (msg:"name"; dns.query; dataset:set,names,type string; sid:7;)
alert dns any any -> any any (msg:"known name"; dns.query; dataset:isset,names,type string; threshold:type threshold,track by_both,count 2,seconds 60; sid:8;)
alert http any any -> any any (msg:"method"; http.method; content:"GET"; sid:9;)
alert http any any -> any any (msg:"body"; flow:to_client; file.data; content:"a"; sid:10;)
alert tcp any any -> any any (msg:"stream"; flow:established,to_server; content:"HTTP/1."; pcre:"/^Host/m"; sid:11;)
alert ftp any any -> any any (msg:"file"; content:"RETR"; sid:12;)
alert ip any any -> any any (msg:"fragment"; decode-event:ipv4.frag_overlap; sid:13;)
alert ip any any -> any any (msg:"icmp"; itype:8; threshold:type limit,track by_src,count 1,seconds 600; sid:14;)
alert tcp any any -> any any (msg:"bad"; stream-event:reassembly_overlap_different_data; sid:15;)
alert pkthdr any any -> any any (msg:"short"; decode-event:tcp.pkt_too_small; threshold:type limit,track by_src,count 3,seconds 60; sid:16;)
alert ip any any -> 10.9.0.2 any (msg:"address"; sid:17;)
alert smtp any any -> any any (msg:"mail"; flowbits:set,mail; content:"MAIL FROM"; sid:18;)
"#;

/// Beside the records: rules with all that alerts can show, and host pairs.
fn with_rules(plan: &Plan) -> Plan {
    let mut reader = Reader::default();
    reader.read_text("test.rules", RULES);
    let loaded = reader.finish();
    assert!(loaded.problems.is_empty(), "{}", loaded.problems[0]);
    let mut plan = plan.clone();
    plan.rules.loaded = Some(Arc::new(loaded.set));
    (plan.rules.payload_bytes, plan.rules.packet) = (100, true);
    plan.output.host_pairs = true;
    plan
}

/// How many rows a table has.
fn count(plan: &Plan, rows: &Rows, name: &str) -> u64 {
    let tables = flowpin_engine::tables(plan);
    let table = tables.iter().find(|table| table.name == name).unwrap();
    let own = rows.iter().filter(|((of, _), _)| *of == table.number);
    own.map(|(_, count)| count).sum()
}

#[test]
fn parts_together_have_the_alerts_and_the_pairs_of_one_run() {
    let (capture, plan, _folder) = all_in_a_file();
    let plan = with_rules(&plan);
    let whole = at_once(&plan);
    assert!(count(&plan, &whole, "alert") > 100);
    assert!(count(&plan, &whole, "host_pairs") > 10);
    for (split_len, parts) in [(20_000, 3), (300_000, 7)] {
        let splits = splits(&capture, split_len.min(capture.len()));
        let rows = by_connection(&plan, &splits, parts, &[]);
        assert_same(&plan, &whole, &rows, &format!("{parts} parts"));
    }
}

#[test]
fn slices_of_time_have_the_alerts_and_the_pairs_of_one_run() {
    let (capture, plan, _folder) = all_in_a_file();
    let plan = with_rules(&plan);
    let whole = at_once(&plan);
    let splits = splits(&capture, 100_000);
    let times = seconds(&plan);
    let borders: Vec<Timestamp> = times.iter().copied().step_by(times.len() / 8).collect();
    let rows = by_connection(&plan, &splits, 2, &borders[1..]);
    assert_same(&plan, &whole, &rows, &format!("slices at {borders:?}"));
}

/// Rules are numbered by their place: by others these would be other alerts. What is no note at
/// all is refused, too.
#[test]
fn notes_of_other_rules_are_refused() {
    let (_, plan, _folder) = all_in_a_file();
    let plan = with_rules(&plan);
    let division = Division {
        parts: 1,
        hosts: Vec::new(),
    };
    let none = 0_u64.to_le_bytes();
    for (bytes, expected) in [
        ([none, none].concat(), "other rules than these"),
        (none[1..].to_vec(), "is damaged"),
    ] {
        let note = Note {
            joint: Joint::Alerts,
            order: 0,
            bytes,
        };
        let which = (&division, Whole::default());
        let refused = decide(&plan, which, vec![(0, note)], &Sink::default());
        let line = refused.unwrap_err().to_string();
        assert!(line.contains(expected), "{line}");
    }
}
