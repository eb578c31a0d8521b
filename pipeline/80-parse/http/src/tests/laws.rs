//! Laws that hold for any bytes.

use super::{C, S};
use crate::HttpOptions;
use crate::fuzz::{Step, Told, feed, fuzz_http, one, parser};
use flowpin_packet::Timestamp;
use proptest::prelude::*;

/// Conversations that have something of everything.
pub(super) const CONVERSATIONS: &[&[(bool, &[u8])]] = &[
    &[
        (
            C,
            b"POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\nX: a\r\n b\r\n\r\nbody",
        ),
        (
            S,
            b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nHTTP/1.",
        ),
    ],
    &[
        (
            C,
            b"GET /1 HTTP/1.1\r\nHost: h\r\n\r\n\r\nHEAD /2 HTTP/1.0\n\nGET /3\r\n",
        ),
        (
            S,
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
              5;e=f\r\nhello\r\n3\nabc\n0\r\nT: r\r\n\r\n",
        ),
        (
            S,
            b"HTTP/1.0 200 OK\r\nContent-Length: 9\r\n\r\nHTTq no head",
        ),
    ],
    &[
        (
            S,
            b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nHTTP/1.1 404 No\r\n\r\nuntil the end",
        ),
        (
            C,
            b"PUT /late HTTP/1.1\r\nHost : h\r\nTransfer-Encoding:\tchunked\r\n\r\n\
              0x2 \r\nab\r\r\n0\r\n\r\n",
        ),
    ],
    &[
        (C, b"GET / HTTP/1.1\r\nHost: h\r\nUpgrade: h2c\r\n\r\n"),
        (
            S,
            b"HTTP/1.1 101 Switching\r\nUpgrade: h2c\r\n\r\n\0\0\x12\x04",
        ),
        (C, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    ],
    &[
        (
            C,
            b"PUT /a HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 30\r\n\r\n",
        ),
        (S, b"HTTP/1.1 401 No\r\nContent-Length: 2\r\n\r\nno"),
        (
            C,
            b"PUT /b HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n",
        ),
        (S, b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno"),
        (C, b"GETX GET /c HTTP/1.1\r\nHost: h\r\n\r\n"),
    ],
    &[
        (
            C,
            b"\x01\x02 junk\r\nmore junk\r\nGET /found HTTP/1.1\r\nHost: h\r\n\r\n",
        ),
        (S, b"ICY 200 OK\r\nicy-name: n\r\n\r\nmusic"),
    ],
    &[
        (
            C,
            b"\0 GET /1 http/1.1\r\nHost: h\r\n\r\nGET /2 HTTP / 1.1\r\nX: y\r\n \r\n\r\n\
              GET /3\r\nHost: h\r\n\r\nHEAD /4 HTTP/1.1\r\nHost: h\r\n\r\n\x80X /5 HTTP/1.1\n\n",
        ),
        (
            S,
            b"\0 http/1.1 304 N\r\nContent-Length: 3\r\n\r\nHTHTTP/1.1 200 OK\r\n\
              Content-Length: 2\r\r\n\r\r\n a",
        ),
        (
            S,
            b"HTTP 1.1 204 N\r\n\r\nabHTTHTTP/1.1 2xHTTP/1.1 200 OK\nContent-Length: 0\n\n\
              HTTP/1.1 200 OK\n\nbodyHTTP/1.1 200 OK\r\n\r\nrest",
        ),
    ],
    &[
        (C, b"GET /old\r\nGET /older\n"),
        (S, b"\r\n \0HtTbody"),
        (C, b"Host: h\r\n"),
    ],
    &[
        (C, b"POST /f\r\nContent-Length: 3\r\n\r\nabcGET /g\r\nX"),
        (S, b"I am a body"),
    ],
];

fn steps<'a>(conversation: &[(bool, &'a [u8])]) -> Vec<Step<'a>> {
    conversation
        .iter()
        .map(|&(side, bytes)| Step::Data(side, bytes))
        .collect()
}

/// Every cut in two of every turn.
#[test]
fn no_cut_changes_what_is_told() {
    let options = HttpOptions {
        all_fields: true,
        ..HttpOptions::default()
    };
    let mut http = parser(options, 1 << 20).unwrap();
    for conversation in CONVERSATIONS {
        let whole = steps(conversation);
        // Each step has a time of its own; the parts of a cut one have the same.
        let expected = feed(&mut http, &whole, usize::MAX);
        for turn in 0..whole.len() {
            let Step::Data(side, bytes) = whole[turn] else {
                continue;
            };
            for at in 0..=bytes.len() {
                let mut told = Told::default();
                let handle = http.begin(0).unwrap();
                for (nth, &step) in whole.iter().enumerate() {
                    let time = Timestamp(nth as u64);
                    if nth == turn {
                        for part in [&bytes[..at], &bytes[at..]] {
                            one(
                                &mut http,
                                handle,
                                time,
                                Step::Data(side, part),
                                usize::MAX,
                                &mut told,
                            );
                        }
                    } else {
                        one(&mut http, handle, time, step, usize::MAX, &mut told);
                    }
                }
                http.end(handle, Timestamp(whole.len() as u64), &mut told);
                assert_eq!(told.0, expected, "turn {turn} cut at {at}");
            }
        }
    }
}

/// Connections share pools, but nothing else.
#[test]
fn interleaved_connections_do_not_mix() {
    let mut http = parser(HttpOptions::default(), 1 << 20).unwrap();
    let expected: Vec<_> = CONVERSATIONS
        .iter()
        .map(|conversation| feed(&mut http, &steps(conversation), usize::MAX))
        .collect();
    let mut open: Vec<_> = CONVERSATIONS
        .iter()
        .map(|conversation| {
            let handle = http.begin(0).unwrap();
            let bytes = conversation
                .iter()
                .enumerate()
                .flat_map(|(nth, &(side, bytes))| {
                    bytes.chunks(1).map(move |part| (nth as u64, side, part))
                });
            (handle, bytes, Told::default(), conversation.len() as u64)
        })
        .collect();
    let mut some = true;
    while some {
        some = false;
        for (handle, parts, told, _) in &mut open {
            if let Some((time, side, part)) = parts.next() {
                http.data(*handle, Timestamp(time), side, part, told);
                some = true;
            }
        }
    }
    for ((handle, _, mut told, end), expected) in open.into_iter().zip(expected) {
        http.end(handle, Timestamp(end), &mut told);
        assert_eq!(told.0, expected);
    }
    assert!(http.parser.is_empty());
}

/// A segment may hold a request for every four bytes: no call takes more memory than it may.
#[test]
fn floods_of_requests_take_memory_in_proportion_to_their_bytes() {
    for request in [
        "X /\n",
        "GET /\n",
        "X / HTTP/1.1\n\n",
        "X / HTTP/1.1\na:\n\n",
        "X / HTTP/1.1\nvia:\na:\n\n",
        "GET / HTTP/1.1\r\nHost: h\r\nVia: x\r\nUpgrade: y\r\n\r\n",
        "X / HTTP/1.1\nExpect: 100-continue\nContent-Length: 1\n\nx",
    ] {
        for all_fields in [false, true] {
            let options = HttpOptions {
                all_fields,
                ..HttpOptions::default()
            };
            let mut http = parser(options, 1 << 20).unwrap();
            let requests = request.repeat(400);
            let responses = "HTTP/1.1 200 OK\na:\nContent-Length: 0\n\n".repeat(100);
            let steps = [
                Step::Data(C, requests.as_bytes()),
                Step::Data(S, responses.as_bytes()),
                Step::Data(C, requests.as_bytes()),
            ];
            for piece in [usize::MAX, 1460, 5] {
                assert!(!feed(&mut http, &steps, piece).is_empty());
                assert!(http.parser.is_empty());
            }
        }
    }
}

/// Beginnings, middles and ends of messages, to be put together in any order.
const PIECES: &[&[u8]] = &[
    b"GET / HTTP/1.1\r\n",
    b"POST /x HTTP/1.0\r\n",
    b"HEAD * HTTP/1.1\r\n",
    b"GET /old\r\n",
    b"CONNECT h:1 HTTP/1.1\r\n",
    b"HTTP/1.1 200 OK\r\n",
    b"HTTP/1.0 304 x\r\n",
    b"HTTP/1.1 100 Continue\r\n",
    b"HTTP/1.1 101 S\r\n",
    b"HTTP/1.1 204 N\r\n",
    b"ICY 200 OK\r\n",
    b"Host: h\r\n",
    b"Content-Length: 5\r\n",
    b"Content-Length: 0\r\n",
    b"Content-Length : 9",
    b"Transfer-Encoding: chunked\r\n",
    b"Upgrade: websocket\r\n",
    b"PUT /e HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 6\r\n\r\n",
    b"Expect: 100-continue\r\n",
    b"HTTP/1.1 401 U\r\nContent-Length: 0\r\n\r\n",
    b" folded\r\n",
    b"\r\n",
    b"\r\n\r\n",
    b"\n",
    b"\r",
    b"5\r\nhello\r\n",
    b"0\r\n\r\n",
    b"a;x=y\r\n",
    b"HTTP/1.",
    b"HTT",
    b"IC",
    b"\xa5\x00",
    b"\xa5\x01",
    b"\xa5\x1a",
    b"\xa5\x3b",
    b"\xa5\xdb",
    b"\xa5\x1c",
    b"\xa5\x1d",
    b"12345",
    b"Content-Encoding: gzip\r\n",
    b"Content-Encoding: deflate\r\n",
    b"Content-Encoding: br\r\n",
    b"Transfer-Encoding: gzip, chunked\r\n",
    b"1a\r\n\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\
      \x4b\x4c\x4a\x06\x00\xc2\x41\x24\x35\x03\0\0\0\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n",
    b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03",
    b"\x4b\x4c\x4a\x06\x00",
    b":",
    b"\0",
    b" ",
    b"\t",
    b"x",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Whatever comes: whole and in pieces the same is told, and nothing stays behind.
    #[test]
    fn any_bytes_are_read_the_same_in_any_pieces(
        settings in any::<u8>(),
        pieces in prop::collection::vec(
            prop_oneof![
                9 => prop::sample::select(PIECES).prop_map(<[u8]>::to_vec),
                1 => prop::collection::vec(any::<u8>(), 0..20),
            ],
            0..25,
        ),
    ) {
        let mut data = vec![settings, 0];
        data.extend(pieces.concat());
        fuzz_http(&data);
    }
}
