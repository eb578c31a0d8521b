//! `Expect: 100-continue` (RFC 9110 §10.1.1), answered in all ways there are.

use super::{C, S, told_of};
use crate::fuzz::Step;

const PUT: &[u8] =
    b"PUT /1 HTTP/1.1\r\nHost: h\r\nExpect: 100-Continue\r\nContent-Length: 5\r\n\r\n";
const CHUNKED: &[u8] =
    b"PUT /1 HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n";
const REFUSED: &[u8] = b"HTTP/1.1 417 No\r\nContent-Length: 0\r\n\r\n";
const TAKEN: &[u8] = b"HTTP/1.1 201 Made\r\nContent-Length: 0\r\n\r\n";
const GET: &[u8] = b"GET /2 HTTP/1.1\r\nHost: h\r\n\r\n";
const FOUND: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// Target, lengths and status of each record, and anomalies.
fn outcome(steps: &[Step<'_>]) -> Vec<String> {
    let part = |part: &&str| {
        part.split_once('=').is_none_or(|(name, _)| {
            matches!(name, "uri" | "sent" | "got" | "status" | "info" | "method")
        })
    };
    let brief = |line: &String| {
        let parts: Vec<&str> = line.split(' ').filter(part).collect();
        parts.join(" ")
    };
    told_of(steps).iter().map(brief).collect()
}

fn turns(turns: &[(bool, &[u8])]) -> Vec<String> {
    let steps: Vec<Step<'_>> = turns
        .iter()
        .map(|&(side, bytes)| Step::Data(side, bytes))
        .collect();
    outcome(&steps)
}

const LEFT_OUT: &str = "method=PUT uri=/1 sent=0 got=0 status=417";
const SECOND: &str = "method=GET uri=/2 sent=0 got=2 status=200";

/// The client closes, at once or after a while: nothing is odd.
#[test]
fn a_client_may_close_after_a_final_answer() {
    for head in [PUT, CHUNKED] {
        let data = [Step::Data(C, head), Step::Data(S, REFUSED)];
        assert_eq!(outcome(&data), [LEFT_OUT]);
        let closed = [&data[..], &[Step::Closed(C), Step::Closed(S)]].concat();
        assert_eq!(outcome(&closed), [LEFT_OUT]);
        let closed = [&data[..], &[Step::Closed(S), Step::Closed(C)]].concat();
        assert_eq!(outcome(&closed), [LEFT_OUT]);
    }
    // Also where the answer is long, and the client did not wait for the end of it.
    let long = b"HTTP/1.1 401 No\r\nContent-Length: 9\r\n\r\n1234".as_slice();
    let steps = [
        Step::Data(C, PUT),
        Step::Data(S, long),
        Step::Closed(C),
        Step::Data(S, b"56789"),
    ];
    assert_eq!(
        outcome(&steps),
        ["method=PUT uri=/1 sent=0 got=9 status=401"]
    );
}

/// The next request is one, and has its own answer.
#[test]
fn a_client_may_go_on_with_the_next_request() {
    for head in [PUT, CHUNKED] {
        let found = turns(&[(C, head), (S, REFUSED), (C, GET), (S, FOUND)]);
        assert_eq!(found, [LEFT_OUT, SECOND]);
        // Twice, as a handshake of authentication is, and then with its body.
        let whole = b"PUT /3 HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello";
        let found = turns(&[
            (C, head),
            (S, REFUSED),
            (C, head),
            (S, REFUSED),
            (C, whole),
            (S, TAKEN),
        ]);
        let third = "method=PUT uri=/3 sent=5 got=0 status=201";
        assert_eq!(found, [LEFT_OUT, LEFT_OUT, third]);
    }
}

/// Unless the answer asks for the same again, receivers may differ.
#[test]
fn a_body_left_out_without_being_asked_again_is_told() {
    for status in [201, 403, 413, 500] {
        let answer = format!("HTTP/1.1 {status} X\r\nContent-Length: 0\r\n\r\n");
        let found = turns(&[(C, PUT), (S, answer.as_bytes()), (C, GET), (S, FOUND)]);
        let first = format!("method=PUT uri=/1 sent=0 got=0 status={status}");
        assert_eq!(found, ["http_body_omitted", &first, SECOND]);
    }
    for status in [307, 401, 407, 417] {
        let answer = format!("HTTP/1.1 {status} X\r\nContent-Length: 0\r\n\r\n");
        let found = turns(&[(C, PUT), (S, answer.as_bytes()), (C, GET), (S, FOUND)]);
        assert_eq!(found.len(), 2, "{found:?}");
    }
}

/// Some servers ask for the body and do not wait for it: it comes, whatever it looks like, or the
/// client closes.
#[test]
fn after_continue_the_body_comes() {
    let answer = [b"HTTP/1.1 100 Continue\r\n\r\n", REFUSED].concat();
    let hints = [b"HTTP/1.1 100 C\r\n\r\nHTTP/1.1 103 E\r\n\r\n", REFUSED].concat();
    let request = format!(
        "PUT /1 HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: {}\r\n\r\n",
        GET.len()
    )
    .into_bytes();
    for (answer, info) in [(&answer, 100), (&hints, 103)] {
        let found = turns(&[(C, &request), (S, answer), (C, GET), (C, GET), (S, FOUND)]);
        let sent = LEFT_OUT.replace("sent=0", &format!("sent={}", GET.len()));
        assert_eq!(found, [format!("{sent} info={info}"), SECOND.to_owned()]);
        for head in [PUT, CHUNKED] {
            let found = turns(&[(C, head), (S, answer)]);
            assert_eq!(found, [format!("{LEFT_OUT} info={info}")]);
        }
        let found = turns(&[(C, PUT), (S, answer), (C, b"he")]);
        assert_eq!(found[0], "http_body_cut");
        assert!(found.len() == 2, "{found:?}");
    }
}

/// The client sends its body all the same: it is one, whatever it begins with.
#[test]
fn a_client_may_send_its_body_after_a_final_answer() {
    for body in [
        b"hello",
        b"HELLO",
        b"GET /",
        b"A B C",
        b"\r\n\r\n\n",
        b"GET\n ",
    ] {
        for answer in [REFUSED, TAKEN] {
            let rest = [body.as_slice(), GET].concat();
            let found = turns(&[(C, PUT), (S, answer), (C, &rest), (S, FOUND)]);
            assert!(found[0].contains("sent=5"), "{found:?}");
            assert_eq!(found[1..], [SECOND], "{}", body.escape_ascii());
        }
        let found = turns(&[(C, PUT), (S, REFUSED), (C, body)]);
        assert_eq!(found, [LEFT_OUT.replace("sent=0", "sent=5")]);
    }
    let chunks = [b"5;x\r\nhello\r\n0\r\n\r\n", GET].concat();
    let found = turns(&[(C, CHUNKED), (S, REFUSED), (C, &chunks), (S, FOUND)]);
    assert_eq!(found, [&LEFT_OUT.replace("sent=0", "sent=5"), SECOND]);
    // A body that stops inside is cut, as any is.
    for part in [b"hel".as_slice(), b"GET"] {
        let found = turns(&[(C, PUT), (S, REFUSED), (C, part)]);
        assert_eq!(found[0], "http_body_cut");
    }
}

/// Once the body has begun, or in HTTP/1.0, or where nothing was waited for, an answer is early.
#[test]
fn other_early_answers_are_told() {
    let old = b"PUT /1 HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n";
    let other = b"PUT /1 HTTP/1.1\r\nHost: h\r\nExpect: x\r\nContent-Length: 5\r\n\r\n";
    for (request, answer) in [
        ([PUT, b"h"].concat(), REFUSED.to_vec()),
        ([CHUNKED, b"5"].concat(), REFUSED.to_vec()),
        (old.to_vec(), REFUSED.to_vec()),
        (other.to_vec(), REFUSED.to_vec()),
    ] {
        let found = turns(&[(C, &request), (S, &answer)]);
        assert_eq!(found[..2], ["http_early_response", "http_body_cut"]);
    }
    // Hints alone say nothing of the body.
    let hints = [b"HTTP/1.1 103 E\r\n\r\n", REFUSED].concat();
    let found = turns(&[(C, PUT), (S, &hints), (C, GET), (S, FOUND)]);
    assert_eq!(found, [format!("{LEFT_OUT} info=103"), SECOND.to_owned()]);
}

/// Missing bytes there are a body or requests: the next request is looked for.
#[test]
fn a_gap_after_a_final_answer_is_passed() {
    let steps = [
        Step::Data(C, PUT),
        Step::Data(S, REFUSED),
        Step::Gap(C, 3),
        Step::Data(C, b"lo"),
        Step::Data(C, b"x\r\n"),
        Step::Data(C, GET),
        Step::Data(S, FOUND),
    ];
    assert_eq!(outcome(&steps), ["http_missing_bytes", LEFT_OUT, SECOND]);
}
