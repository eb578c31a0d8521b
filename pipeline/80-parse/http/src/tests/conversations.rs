//! Ordinary and less ordinary conversations.

use super::{C, S, told, told_of};
use crate::HttpOptions;
use crate::fuzz::{Step, Told, parser};
use flowpin_packet::Timestamp;
use flowpin_parser::{Next, Successor};

const GET: &[u8] = b"GET /a HTTP/1.1\r\nHost: h.example\r\n\r\n";

fn brief(lines: &[String], names: &[&str]) -> Vec<String> {
    lines
        .iter()
        .map(|line| {
            let parts = line.split(' ').filter(|part| {
                part.split_once('=')
                    .is_none_or(|(name, _)| names.contains(&name))
            });
            parts.collect::<Vec<_>>().join(" ")
        })
        .collect()
}

fn outcome(turns: &[(bool, &[u8])]) -> Vec<String> {
    brief(
        &told(turns),
        &["method", "uri", "status", "sent", "got", "info", "upgrade"],
    )
}

/// One record has both sides.
#[test]
fn a_request_and_its_response_are_one_record() {
    let found = told(&[
        (
            C,
            b"POST /f?x=%00 HTTP/1.1\r\nhost: H.example:8080\r\nUser-Agent: a b\r\n\
              Referer: http://r/\r\nOrigin: null\r\nX-Forwarded-For: 10.0.0.1\r\n\
              Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\nContent-Length: 3\r\n\r\nabc",
        ),
        (
            S,
            b"HTTP/1.0 302 Found\r\nContent-Type: text/html; charset=x\r\n\
              Location: /g\r\nContent-Length: 5\r\n\r\nhello",
        ),
    ]);
    let (before, after) = found[0].split_once("proxied=").unwrap();
    assert_eq!(
        before,
        "depth=1 method=POST host=H.example uri=/f?x=%00 referrer=http://r/ version=1.0 \
         agent=a_b origin=null sent=3 got=5 status=302 reason=Found user=Aladdin "
    );
    let (_, after) = after.split_once(' ').unwrap();
    assert_eq!(
        after,
        "protocol=HTTP/1.1 port=8080 type=text/html location=/g xff=10.0.0.1"
    );
    assert_eq!(found.len(), 1);
}

/// RFC 9110 §5.3: fields of one name are one list. Its end counts, and is there in full: also where
/// lines and lists are longer than their limits, and where the head is cut.
#[test]
fn hops_of_proxies_are_one_list() {
    let long = "x".repeat(8185);
    let longer = format!("1.1.1.1, {}", "x".repeat(17_000));
    for (fields, end, expected) in [
        (
            "X-Forwarded-For: 1.1.1.1\r\nA: b\r\nx-forwarded-for: 2.2.2.2",
            "\r\n\r\n",
            "1.1.1.1,_2.2.2.2",
        ),
        (
            &format!("X-Forwarded-For: {long},77.77.77.77"),
            "\r\n\r\n",
            ",77.77.77.77",
        ),
        (
            &format!("X-Forwarded-For: 1.1.1.1,{long}1234567"),
            "\r\n\r\n",
            ",",
        ),
        (
            &format!("X-Forwarded-For: {longer}, 2.2.2.2"),
            "\r\n\r\n",
            ",",
        ),
        ("X-Forwarded-For: 1.1.1.1", "\r\nX-Forwarded-", "1.1.1.1,"),
    ] {
        let request = format!("GET / HTTP/1.0\r\n{fields}{end}");
        let found = told(&[(C, request.as_bytes())]);
        let xff = found.iter().find_map(|line| line.split_once("xff="));
        assert_eq!(xff.map(|(_, xff)| xff), Some(expected));
    }
}

/// RFC 3986 §3.2.1: a URL may hold a password, wherever one stands. RFC 9112 §3.2.2: the host of an
/// absolute target counts, with its port, whatever the Host field says.
#[test]
fn passwords_in_urls_are_hidden() {
    let found = told(&[
        (
            C,
            b"GET http://me:secret@h:8080/x HTTP/1.1\r\nHost: h\r\n\
              Referer: https://you:se:cret@r/?a@b\r\n\r\n",
        ),
        (
            S,
            b"HTTP/1.1 302 Found\r\nLocation: http://:pw@l/\r\nContent-Length: 0\r\n\r\n",
        ),
    ]);
    for part in [
        "host=h uri=http://me:***@h:8080/x referrer=https://you:***@r/?a@b ",
        "port=8080",
        "location=http://:***@l/",
    ] {
        assert!(found[0].contains(part), "{part}: {}", found[0]);
    }
}

/// RFC 9112 §9.3.2: responses come in the order of requests.
#[test]
fn pipelined_requests_are_paired_in_order() {
    let requests: Vec<u8> = (0..5)
        .flat_map(|n| format!("GET /{n} HTTP/1.1\r\nHost: h\r\n\r\n").into_bytes())
        .collect();
    let responses: Vec<u8> = (0..5)
        .flat_map(|n| {
            format!(
                "HTTP/1.1 50{n} x\r\nContent-Length: {n}\r\n\r\n{}",
                "b".repeat(n)
            )
            .into_bytes()
        })
        .collect();
    let found = outcome(&[(C, &requests), (S, &responses)]);
    let expected: Vec<String> = (0..5)
        .map(|n| format!("method=GET uri=/{n} sent=0 got={n} status=50{n}"))
        .collect();
    assert_eq!(found, expected);
}

/// RFC 9110 §6.4.1 and RFC 9112 §6.3: no body, whatever the length says.
#[test]
fn responses_without_bodies_end_with_their_head() {
    let found = outcome(&[
        (C, b"HEAD / HTTP/1.1\r\nHost: h\r\n\r\n"),
        (S, b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"),
        (C, GET),
        (
            S,
            b"HTTP/1.1 304 Not Modified\r\nContent-Length: 1000\r\n\r\n",
        ),
        (C, GET),
        (
            S,
            b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n\
              HTTP/1.1 204 No\r\n\r\n",
        ),
    ]);
    assert_eq!(
        found,
        [
            "method=HEAD uri=/ sent=0 got=0 status=200",
            "method=GET uri=/a sent=0 got=0 status=304",
            "method=GET uri=/a sent=0 got=0 status=204 info=103",
        ]
    );
}

/// RFC 9112 §7.1: chunks, extensions, trailers; only their data counts.
#[test]
fn chunks_are_joined() {
    let found = outcome(&[
        (
            C,
            b"POST /up HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n\
              3;a=b\r\nabc\r\n0\r\n\r\n",
        ),
        (
            S,
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n\
              A;x=\"y\"\r\n0123456789\r\n0\r\nExpires: never\r\n\r\n",
        ),
        (C, GET),
        (S, b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
    ]);
    assert_eq!(
        found,
        [
            "method=POST uri=/up sent=3 got=15 status=200",
            "method=GET uri=/a sent=0 got=0 status=200",
        ]
    );
}

/// RFC 9112 §6.3: without a length the body ends with the stream.
#[test]
fn a_body_without_length_ends_with_the_stream() {
    let found = outcome(&[
        (C, GET),
        (S, b"HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 is a body"),
    ]);
    assert_eq!(found, ["method=GET uri=/a sent=0 got=22 status=200"]);
}

/// HTTP/0.9: a line, then a body without any head.
#[test]
fn the_first_version_has_no_heads() {
    let found = outcome(&[(C, b"GET /old\r\n"), (S, b"<html>old</html>")]);
    assert_eq!(found, ["method=GET uri=/old sent=0 got=16"]);
    let found = outcome(&[(C, b"GET /old\r\n"), (S, b"HTTP"), (S, b"x")]);
    assert_eq!(found, ["method=GET uri=/old sent=0 got=5"]);
}

/// RFC 9110 §7.8 and §9.3.6: streams go on as something else, in both directions.
#[test]
fn other_protocols_take_over() {
    let found = outcome(&[
        (
            C,
            b"GET /chat HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
        ),
        (
            S,
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n\x81\x05hello",
        ),
        (C, b"\x81\x85GET / HTTP/1.1\r\n"),
    ]);
    assert_eq!(
        found,
        ["method=GET uri=/chat sent=0 got=0 status=101 info=101 upgrade=websocket"]
    );
    let found = outcome(&[
        (C, b"CONNECT h:443 HTTP/1.1\r\nHost: h:443\r\n\r\n"),
        (S, b"HTTP/1.1 407 No\r\nContent-Length: 2\r\n\r\nno"),
        (C, b"CONNECT h:443 HTTP/1.1\r\nHost: h:443\r\n\r\n"),
        (S, b"HTTP/1.1 200 Established\r\n\r\n"),
        (C, b"\x16\x03\x01"),
        (S, b"\x16\x03\x03"),
    ]);
    assert_eq!(
        found,
        [
            "method=CONNECT uri=h:443 sent=0 got=2 status=407",
            "method=CONNECT uri=h:443 sent=0 got=0 status=200",
        ]
    );
    // One direction alone.
    let found = outcome(&[
        (C, b"CONNECT h:443 HTTP/1.1\r\nHost: h:443\r\n\r\n"),
        (C, b"\x16\x03\x01"),
    ]);
    assert_eq!(found, ["method=CONNECT uri=h:443 sent=0 got=0"]);
}

/// What a head says is believed however long it is: texts of more than a block are looked at, too.
#[test]
fn long_heads_hide_neither_upgrades_nor_hosts() {
    let long = "x".repeat(600);
    let head = format!("GET http://other/{long} HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\n\r\n");
    let answer: &[u8] = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n";
    let mut http = parser(HttpOptions::default(), 1 << 20).unwrap();
    let handle = http.begin(0).unwrap();
    let mut sink = Told::default();
    let next = [(C, head.as_bytes()), (S, answer)]
        .map(|(side, bytes)| http.data(handle, Timestamp(1), side, bytes, &mut sink));
    let websocket = Next::Successor(Successor::WebSocket, answer.len());
    assert_eq!(next, [Next::More, websocket]);
    assert!(sink.0.iter().any(|told| told == "http_host_contradicts"));
    http.end(handle, Timestamp(1), &mut sink);
}

/// A capture of one direction still has all that this direction says.
#[test]
fn one_direction_is_enough_for_records() {
    assert_eq!(
        outcome(&[(C, GET), (C, GET)]),
        ["method=GET uri=/a sent=0 got=0"; 2]
    );
    // To HEAD there is no body, to GET there is: the next bytes tell.
    let found = outcome(&[
        (S, b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"),
        (S, b"HTTP/1.1 201 OK\r\nContent-Length: 4\r\n\r\nHTTX"),
        (S, b"HTTP/1.1 202 OK\r\nContent-Length: 3\r\n\r\nabc"),
    ]);
    assert_eq!(
        found,
        [
            "sent=0 got=0 status=200",
            "sent=0 got=4 status=201",
            "sent=0 got=3 status=202"
        ]
    );
}

/// A gap inside a body is counted; behind one inside a head the next message is found.
#[test]
fn gaps_are_passed() {
    let found = told_of(&[
        Step::Data(C, GET),
        Step::Data(S, b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nabc"),
        Step::Gap(S, 990),
        Step::Data(S, b"1234567"),
        Step::Data(C, GET),
        Step::Data(S, b"HTTP/1.1 200 OK\r\nContent-Le"),
        Step::Gap(S, 50),
        Step::Data(S, b"junk\r\njunk HTTP/1.1 200 OK\r\n"),
        Step::Data(C, GET),
        Step::Data(S, b"HTTP/1.1 205 OK\r\nContent-Length: 0\r\n\r\n"),
    ]);
    assert_eq!(
        brief(&found, &["method", "status", "got"]),
        [
            "method=GET got=1000 status=200",
            "http_missing_bytes",
            "method=GET got=0 status=200",
            "method=GET got=0 status=205",
        ]
    );
}

/// A response lost as a whole: the next belongs to the next request, not to the one before.
#[test]
fn a_lost_response_does_not_shift_the_others() {
    let found = told_of(&[
        Step::Data(C, b"GET /1 HTTP/1.1\r\nHost: h\r\n\r\n"),
        Step::Data(C, b"GET /2 HTTP/1.1\r\nHost: h\r\n\r\n"),
        Step::Gap(S, 500),
        Step::Data(S, b"HTTP/1.1 202 OK\r\nContent-Length: 0\r\n\r\n"),
    ]);
    assert_eq!(
        brief(&found, &["uri", "status"]),
        ["http_missing_bytes", "uri=/1", "uri=/2 status=202"]
    );
}
