//! SIP: requests and final answers, in streams and datagrams.

use crate::support::{Log, check, messages, trial, whole};
use flowpin_packet::Timestamp;
use flowpin_parser::Parser;
use flowpin_text::{TextOptions, built_in};

/// RFC 3261: provisional answers are not reported, ACK has no answer, and bodies are skipped.
#[test]
fn sip_pairs_requests_with_final_answers() {
    check(
        "sip",
        &[
            (
                true,
                b"INVITE sip:bob@b SIP/2.0\r\nf: Ann <sip:ann@a>\r\nTo: <sip:bob@b>\r\ni: \
              77@a\r\nCSeq: 1 INVITE\r\nContent-Length : 6\r\n\r\nv=0\r\n\xff\r\n",
            ),
            (
                false,
                b"SIP/2.0 180 Ringing\r\nl: 2\r\n\r\nxxSIP/2.0 404 Not Found\r\nServer: s\
              /1\r\nl: 0\r\n\r\n",
            ),
            (true, b"ACK sip:bob@b SIP/2.0\r\nCall-ID: 77@a\r\n\r\n"),
        ],
        &[
            "sip @0 method=INVITE uri=sip:bob@b version=SIP/2.0 request_from=Ann <sip:ann@a> \
             request_to=<sip:bob@b> call_id=77@a seq=1 INVITE request_body_len=6 \
             status_code=404 status_msg=Not Found server=s/1 response_body_len=0",
            "sip @2 method=ACK uri=sip:bob@b version=SIP/2.0 call_id=77@a",
        ],
    );
}

/// Builds a request or an answer with the fields that pair the two.
fn sip(line: &str, call: &str, seq: &str) -> Vec<u8> {
    format!("{line}\r\nCall-ID: {call}\r\nCSeq: {seq}\r\n\r\n").into_bytes()
}

/// RFC 3261 §9.2 and §17.1.3: in a cancelled call, the answer to CANCEL comes first; calls are
/// independent of each other; an answer may be repeated.
#[test]
fn sip_answers_are_paired_with_the_requests_that_they_name() {
    let turns = [
        (true, sip("INVITE sip:b SIP/2.0", "1", "1 INVITE")),
        (true, sip("CANCEL sip:b SIP/2.0", "1", "1 CANCEL")),
        (true, sip("BYE sip:c SIP/2.0", "2", "7 BYE")),
        (false, sip("SIP/2.0 481 Gone", "2", "7 BYE")),
        (false, sip("SIP/2.0 200 OK", "1", "1 CANCEL")),
        (false, sip("SIP/2.0 487 Terminated", "1", "1 INVITE")),
        (false, sip("SIP/2.0 487 Terminated", "1", "1 INVITE")),
        (true, sip("OPTIONS sip:b SIP/2.0", "3", "1 OPTIONS")),
    ];
    let turns: Vec<(bool, &[u8])> = turns
        .iter()
        .map(|(to, sent)| (*to, sent.as_slice()))
        .collect();
    let expected = [
        "sip @2 method=BYE uri=sip:c version=SIP/2.0 call_id=2 seq=7 BYE status_code=481 \
         status_msg=Gone",
        "sip @1 method=CANCEL uri=sip:b version=SIP/2.0 call_id=1 seq=1 CANCEL status_code=200 \
         status_msg=OK",
        "sip @0 method=INVITE uri=sip:b version=SIP/2.0 call_id=1 seq=1 INVITE status_code=487 \
         status_msg=Terminated",
        "sip @6 version=SIP/2.0 call_id=1 seq=1 INVITE status_code=487 status_msg=Terminated",
        "sip @7 method=OPTIONS uri=sip:b version=SIP/2.0 call_id=3 seq=1 OPTIONS",
    ];
    check("sip", &turns, &expected);
}

/// If answers name their requests, the oldest unanswered request makes room for a new one.
#[test]
fn unanswered_requests_make_room_for_new_ones() {
    let asks: Vec<Vec<u8>> = (0..300)
        .map(|nth| sip("OPTIONS sip:b SIP/2.0", "1", &format!("{nth} OPTIONS")))
        .collect();
    let answer = sip("SIP/2.0 200 OK", "1", "299 OPTIONS");
    let mut turns: Vec<(bool, &[u8])> = asks.iter().map(|ask| (true, ask.as_slice())).collect();
    turns.push((false, &answer));
    let lines = messages("sip", &turns, whole);
    assert_eq!(lines.len(), 300);
    assert!(lines[0].starts_with("sip @0 ") && lines[43].starts_with("sip @43 "));
    assert!(
        lines[44].contains("seq=299 OPTIONS status_code=200"),
        "{}",
        lines[44]
    );
}

/// Each datagram is a message of its own; an unanswered question is emitted at the end.
#[test]
fn datagrams_are_messages_of_their_own() {
    let mut text = trial(TextOptions::default(), built_in());
    let mut log = Log::default();
    let sip = text.parser.protocol("sip").unwrap();
    let handle = text.begin(sip).unwrap();
    let cut_off = b"OPTIONS sip:a SIP/2.0\r\nFrom: x";
    text.datagram(
        handle,
        Timestamp(1),
        true,
        (cut_off, cut_off.len()),
        &mut log,
    );
    let message = b"OPTIONS sip:b SIP/2.0\r\nFrom: y\r\n\r\n";
    text.datagram(
        handle,
        Timestamp(2),
        true,
        (message, message.len()),
        &mut log,
    );
    text.end(handle, Timestamp(3), &mut log);
    assert_eq!(log.0[0], "! sip_line_broken");
    let last = "sip @2 method=OPTIONS uri=sip:b version=SIP/2.0 request_from=y";
    assert_eq!(log.0[1..], [last]);
}

/// The next message is found after a gap; missing bytes may be among those to be skipped.
#[test]
fn messages_are_found_after_a_gap() {
    let mut text = trial(TextOptions::default(), built_in());
    let mut log = Log::default();
    let sip = text.parser.protocol("sip").unwrap();
    let handle = text.begin(sip).unwrap();
    let begun = b"BYE sip:a SIP/2.0\r\nContent-Length: 10\r\n\r\nab";
    text.data(handle, Timestamp(1), true, begun, &mut log);
    text.gap(handle, Timestamp(1), true, 8, &mut log);
    text.data(
        handle,
        Timestamp(2),
        true,
        b"BYE sip:b SIP/2.0\r\nFro",
        &mut log,
    );
    text.gap(handle, Timestamp(3), true, 8, &mut log);
    text.data(
        handle,
        Timestamp(3),
        true,
        b"rest\r\n\r\nBYE sip:c SIP/2.0\r\n\r\n",
        &mut log,
    );
    text.end(handle, Timestamp(4), &mut log);
    assert_eq!(log.0[0], "! text_gap");
    assert!(log.0[1].contains("uri=sip:a") && log.0[1].contains("request_body_len=10"));
    assert!(log.0[2].contains("uri=sip:c"));
}
