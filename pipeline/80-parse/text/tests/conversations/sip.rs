//! SIP: requests and final answers, in streams and datagrams.

use crate::support::{Log, check, messages, trial, whole};
use flowpin_packet::Timestamp;
use flowpin_parser::Parser;
use flowpin_text::{TextOptions, built_in};

/// RFC 3261: each answer has its request, provisional ones too; ACK has no answer, and bodies are
/// skipped.
#[test]
fn sip_pairs_each_answer_with_its_request() {
    check(
        "sip",
        &[
            (
                true,
                b"INVITE sip:bob@b SIP/2.0\r\nf: Ann <sip:ann@a>;x=1;tag=7\r\nTo: <sip:bob@b>\r\n\
              i: 77@a\r\nCSeq: 1 INVITE\r\nv: SIP/2.0/UDP a;branch=z9\r\nDate: today\r\n\
              c: application/sdp\r\nReply-To: <sip:a@a>\r\nContent-Length : 6\r\n\r\n\
              v=0\r\n\xff\r\n",
            ),
            (
                false,
                b"SIP/2.0 180 Ringing\r\nVia: SIP/2.0/UDP a;rport=1; branch=z9\r\nl: 2\r\n\
              c: text/plain\r\n\r\nxxSIP/2.0 404 Not Found\r\nServer: s/1\r\nWarning: 399 b\r\n\
              From: Ann <sip:ann@a>; Tag=7\r\nt: <sip:bob@b>;tag=8\r\nv: SIP/2.0/UDP a\r\n\
              l: 0\r\n\r\n",
            ),
            (true, b"ACK sip:bob@b SIP/2.0\r\nCall-ID: 77@a\r\n\r\n"),
        ],
        &[
            "sip @0 trans_depth=0 method=INVITE uri=sip:bob@b date=today \
             request_from=Ann <sip:ann@a>;x=1 request_to=<sip:bob@b> reply_to=<sip:a@a> \
             call_id=77@a seq=1 INVITE request_path=SIP/2.0/UDP a \
             response_path=SIP/2.0/UDP a;rport=1 status_code=180 status_msg=Ringing \
             request_body_len=6 response_body_len=2 content_type=text/plain version=SIP/2.0 \
             request_content_type=application/sdp",
            "sip @0 trans_depth=0 method=INVITE uri=sip:bob@b date=today \
             request_from=Ann <sip:ann@a>;x=1 request_to=<sip:bob@b> \
             response_from=Ann <sip:ann@a> response_to=<sip:bob@b>;tag=8 reply_to=<sip:a@a> \
             call_id=77@a seq=1 INVITE request_path=SIP/2.0/UDP a \
             response_path=SIP/2.0/UDP a;rport=1|SIP/2.0/UDP a status_code=404 \
             status_msg=Not Found warning=399 b request_body_len=6 response_body_len=0 \
             content_type=text/plain version=SIP/2.0 server=s/1 \
             request_content_type=application/sdp",
            "sip @2 trans_depth=0 method=ACK uri=sip:bob@b call_id=77@a version=SIP/2.0",
        ],
    );
}

/// RFC 3261 §17.1: over UDP a request is repeated until it is answered, which is no other request;
/// so is an ACK, which is in the log only if no other request follows.
#[test]
fn repeated_requests_are_one() {
    let via = |line: &str, seq: &str| {
        format!("{line}\r\nCall-ID: 1\r\nCSeq: {seq}\r\nVia: v;branch=b\r\n\r\n").into_bytes()
    };
    let turns = [
        (true, via("INVITE sip:b SIP/2.0", "1 INVITE")),
        (true, via("INVITE sip:b SIP/2.0", "1 INVITE")),
        (false, via("SIP/2.0 180 Ringing", "1 INVITE")),
        (true, via("INVITE sip:b SIP/2.0", "1 INVITE")),
        (false, via("SIP/2.0 486 Busy", "1 INVITE")),
        (true, via("ACK sip:b SIP/2.0", "1 ACK")),
        (true, via("ACK sip:b SIP/2.0", "1 ACK")),
        (true, via("INVITE sip:b SIP/2.0", "2 INVITE")),
        (false, via("SIP/2.0 486 Busy", "2 INVITE")),
        (true, via("ACK sip:b SIP/2.0", "2 ACK")),
        (true, via("ACK sip:b SIP/2.0", "2 ACK")),
    ];
    let turns: Vec<(bool, &[u8])> = turns
        .iter()
        .map(|(to, sent)| (*to, sent.as_slice()))
        .collect();
    let head = "trans_depth=0 method=INVITE uri=sip:b call_id=1 seq=";
    check(
        "sip",
        &turns,
        &[
            &format!(
                "sip @0 {head}1 INVITE request_path=v|v response_path=v status_code=180 \
                 status_msg=Ringing version=SIP/2.0"
            ),
            &format!(
                "sip @0 {head}1 INVITE request_path=v|v|v response_path=v|v status_code=486 \
                 status_msg=Busy version=SIP/2.0"
            ),
            &format!(
                "sip @7 {head}2 INVITE request_path=v response_path=v status_code=486 \
                 status_msg=Busy version=SIP/2.0"
            ),
            "sip @10 trans_depth=0 method=ACK uri=sip:b call_id=1 seq=2 ACK request_path=v \
             version=SIP/2.0",
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
        "sip @2 trans_depth=0 method=BYE uri=sip:c call_id=2 seq=7 BYE status_code=481 \
         status_msg=Gone version=SIP/2.0",
        "sip @1 trans_depth=0 method=CANCEL uri=sip:b call_id=1 seq=1 CANCEL status_code=200 \
         status_msg=OK version=SIP/2.0",
        "sip @0 trans_depth=0 method=INVITE uri=sip:b call_id=1 seq=1 INVITE status_code=487 \
         status_msg=Terminated version=SIP/2.0",
        "sip @6 trans_depth=0 call_id=1 seq=1 INVITE status_code=487 status_msg=Terminated \
         version=SIP/2.0",
        "sip @7 trans_depth=0 method=OPTIONS uri=sip:b call_id=3 seq=1 OPTIONS version=SIP/2.0",
    ];
    check("sip", &turns, &expected);
}

/// A request is repeated with sixteen provisional answers and the last one, however many there are.
#[test]
fn answers_in_parts_do_not_repeat_their_question_without_end() {
    let part = sip("SIP/2.0 180 Ringing", "1", "1 INVITE");
    let (ask, last) = (
        sip("INVITE sip:bob@b SIP/2.0", "1", "1 INVITE"),
        sip("SIP/2.0 200 OK", "1", "1 INVITE"),
    );
    let mut turns: Vec<(bool, &[u8])> = vec![(true, &ask)];
    turns.extend((0..40).map(|_| (false, part.as_slice())));
    turns.push((false, &last));
    let lines = messages("sip", &turns, whole);
    let with_question: Vec<_> = lines
        .iter()
        .map(|line| line.contains("sip:bob@b"))
        .collect();
    let expected: Vec<_> = (0..41).map(|nth| nth < 16 || nth == 40).collect();
    assert_eq!(with_question, expected, "{lines:#?}");
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
    let last = "sip @2 trans_depth=0 method=OPTIONS uri=sip:b request_from=y version=SIP/2.0";
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

/// An answer behind missing bytes is found as well, whatever its status.
#[test]
fn answers_are_found_after_a_gap() {
    for status in ["180", "200", "404"] {
        let mut text = trial(TextOptions::default(), built_in());
        let mut log = Log::default();
        let protocol = text.parser.protocol("sip").unwrap();
        let handle = text.begin(protocol).unwrap();
        let request = sip("BYE sip:a SIP/2.0", "1", "1 BYE");
        text.data(handle, Timestamp(1), true, &request, &mut log);
        text.gap(handle, Timestamp(2), false, 8, &mut log);
        let answer = sip(&format!("st\r\nSIP/2.0 {status} x"), "1", "1 BYE");
        text.data(handle, Timestamp(3), false, &answer, &mut log);
        text.end(handle, Timestamp(4), &mut log);
        assert_eq!(log.0[0], "! text_gap");
        let is_it = |line: &String| line.contains("BYE") && line.contains(status);
        assert!(is_it(&log.0[1]), "{:?}", log.0);
    }
}
