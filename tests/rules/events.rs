//! What is odd, by Suricata's names: of packets that are refused, of segments, of messages.

use crate::talk::{log, mixed, plan, sids, talk};
use flowpin_testkit::build::Ip;

/// A request without a version and without a colon in a field, and a response with a bad length.
const ODD: &[(bool, &[u8])] = &[
    (true, b"GET /one HTTP/1.1\r\nHost: s\r\nno colon\r\n\r\n"),
    (
        false,
        b"HTTP/1.1 200 OK\r\nContent-Length: x\r\nalone\r\n\r\n",
    ),
];

/// Each is found by its own name alone, whosever message it was.
#[test]
fn messages_are_odd_by_their_senders_names() {
    let rules = "\
alert http any any -> any any (flow:to_server; app-layer-event:http.request_field_missing_colon; \
sid:1;)
alert http any any -> any any (flow:to_client; app-layer-event:http.response_field_missing_colon; \
sid:2;)
alert http any any -> any any (app-layer-event:http.invalid_content_length_field_in_response; \
sid:3;)
alert http any any -> any any (app-layer-event:http.invalid_content_length_field_in_request; \
sid:4;)
alert http any any -> any any (app-layer-event:http.missing_host_header; sid:5;)
";
    for size in [1, 9, 2000] {
        assert_eq!(sids(&talk(ODD, size, 1), rules), [1, 3, 2], "{size}");
    }
}

/// An IPv4 header that says 4 bytes, a datagram that is not all there, a UDP length of 3.
fn refused() -> Vec<Vec<u8>> {
    let frame = talk(ODD, 2000, 7).remove(0);
    let change = |at: usize, byte: u8| {
        let mut frame = frame.clone();
        frame[at] = byte;
        frame
    };
    let mut cut = change(16, 0xff);
    cut.truncate(40);
    vec![change(14, 0x41), cut]
}

/// Packets that belong to no connection alert, too: in the same order for every shape, and counted
/// as others are.
#[test]
fn refused_packets_alert_in_every_shape() {
    let rules = "\
alert pkthdr any any -> any any (decode-event:ipv4.hlen_too_small; sid:1;)
alert pkthdr any any -> any any (decode-event:ipv4.trunc_pkt; threshold:type limit, track by_rule, \
count 3, seconds 600; sid:2;)
alert ip 10.9.9.9 any -> any any (decode-event:ipv4.trunc_pkt; sid:3;)
alert http any any -> any any (app-layer-event:http.request_field_missing_colon; sid:4;)
";
    let mut talks: Vec<_> = (1..20_u8).map(|host| talk(ODD, 11, host)).collect();
    for _ in 0..8 {
        talks.push(refused());
    }
    let frames = mixed(talks);
    let written = |pipeline: &str| {
        let mut plan = plan(rules);
        plan.pipeline = pipeline.parse().unwrap();
        plan.piece_bytes = 4096;
        log(&frames, plan)
    };
    let reference = written("1x1");
    let count = |sid: u32| {
        let sid = format!("\"signature_id\":{sid},");
        reference.lines().filter(|line| line.contains(&sid)).count()
    };
    assert_eq!([1, 2, 3, 4].map(count), [8, 3, 0, 19]);
    for pipeline in ["1x3", "1x7", "2x1", "2x4", "3x3"] {
        assert!(written(pipeline) == reference, "{pipeline}");
    }
}

/// Missing bytes of a stream.
#[test]
fn gaps_are_odd() {
    let rule = "alert tcp any any -> any any (stream-event:reassembly_seq_gap; sid:1;)\n";
    let mut frames = talk(ODD, 10, 1);
    assert_eq!(sids(&frames, rule), [0; 0]);
    frames.remove(4);
    assert_eq!(sids(&frames, rule), [1]);
}

/// Messages of ICMP that have no whole header, whether they end there or are not all captured.
#[test]
fn small_messages_of_icmp_are_odd() {
    let rules = "\
alert pkthdr any any -> any any (decode-event:icmpv4.pkt_too_small; sid:1;)
alert pkthdr any any -> any any (decode-event:icmpv6.pkt_too_small; sid:2;)
";
    let v4 = Ip::v4([10, 0, 0, 1], [10, 0, 0, 2]);
    let v6 = Ip::v6(1, 2);
    for len in 0..6 {
        let expected: &[u64] = if len < 4 { &[1, 2] } else { &[] };
        let frames = [v4, v6].map(|ip| ip.icmp(8, 0, &[0; 6][..len]).ethernet());
        assert_eq!(sids(&frames, rules), expected, "{len}");
    }
}
