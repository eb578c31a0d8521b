//! Transfer codings that do not end in `chunked`: where such a body ends.

use super::{C, S, told};

const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: h\r\n\r\n";

/// What is told, but for the values that every request here has.
fn outcome(turns: &[(bool, &[u8])]) -> Vec<String> {
    let wanted = |word: &&str| {
        ["uri=", "sent=", "got=", "status="]
            .iter()
            .any(|name| word.starts_with(name))
    };
    told(turns)
        .iter()
        .map(|line| match line.strip_prefix("http_") {
            Some(name) => name.to_owned(),
            None => line.split(' ').filter(wanted).collect::<Vec<_>>().join(" "),
        })
        .collect()
}

/// What is told of a response with such a coding and a length, behind which another follows.
fn of_response(coding: &str) -> Vec<String> {
    let response = format!(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: {coding}\r\nContent-Length: 5\r\n\r\n\
         helloHTTP/1.1 201 OK\r\nContent-Length: 0\r\n\r\n"
    );
    outcome(&[(C, GET), (C, GET), (S, response.as_bytes())])
}

/// RFC 9112 §6.3: Transfer-Encoding overrides Content-Length, and without chunks a response then
/// goes on until its stream ends. RFC 2616 §4.4: `identity` says that nothing was done, so that the
/// length holds; so does an empty list.
#[test]
fn a_response_ends_with_its_stream() {
    let to_the_end = ["uri=/ sent=0 got=43 status=200", "uri=/ sent=0 got=0"];
    let by_length = [
        "uri=/ sent=0 got=5 status=200",
        "uri=/ sent=0 got=0 status=201",
    ];
    for (coding, more, records) in [
        ("gzip", None, to_the_end),
        ("deflate, gzip", None, to_the_end),
        ("xchunked", Some("coding_odd"), to_the_end),
        ("cow", Some("coding_unknown"), to_the_end),
        ("identity", None, by_length),
        ("", Some("coding_unknown"), by_length),
    ] {
        let mut expected: Vec<&str> = more.into_iter().collect();
        expected.push("length_and_chunked");
        expected.extend(records);
        assert_eq!(of_response(coding), expected, "{coding:?}");
    }
}

/// RFC 9112 §6.3: nothing says where such a request ends. Most servers refuse it and close; those
/// that go on do not look at the coding, so the length counts.
#[test]
fn a_request_is_read_by_its_length_and_told() {
    for (coding, more) in [
        ("gzip", None),
        ("xchunked", Some("coding_odd")),
        ("chunked, gzip", Some("coding_not_last")),
        (
            "chunked\r\nTransfer-Encoding: gzip",
            Some("coding_repeated"),
        ),
    ] {
        let request = format!(
            "POST /1 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: {coding}\r\n\
             Content-Length: 5\r\n\r\nhelloGET /2 HTTP/1.1\r\nHost: h\r\n\r\n"
        );
        let mut expected: Vec<&str> = more.into_iter().collect();
        expected.extend([
            "length_and_chunked",
            "coding_without_chunked",
            "uri=/1 sent=5 got=0",
            "uri=/2 sent=0 got=0",
        ]);
        assert_eq!(outcome(&[(C, request.as_bytes())]), expected, "{coding}");
    }
    // Without a length it has no body that anybody reads.
    let request = b"POST /1 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip\r\n\r\n";
    let found = outcome(&[(C, request), (C, GET)]);
    let expected = [
        "coding_without_chunked",
        "uri=/1 sent=0 got=0",
        "uri=/ sent=0 got=0",
    ];
    assert_eq!(found, expected);
}

/// The codings of several fields are one list: what is last in the last field is last.
#[test]
fn chunked_may_stand_in_a_field_of_its_own() {
    let request = b"POST /1 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip\r\n\
                    Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n";
    let found = outcome(&[(C, request), (C, GET)]);
    let expected = [
        "coding_repeated",
        "uri=/1 sent=2 got=0",
        "uri=/ sent=0 got=0",
    ];
    assert_eq!(found, expected);
}

/// Some receivers see `chunked` where it is disguised: whether there are chunks shows in the first
/// bytes of the body, however they are cut.
#[test]
fn what_follows_decides_where_chunked_is_disguised() {
    for coding in ["xchunked", "\u{b}chunked", "x chunked", "chu\0nked"] {
        for (body, got) in [
            ("5\r\nhello\r\n0\r\n\r\n", 5),
            ("5 apples\r\n", 10),
            ("5", 1),
            ("1234567\r\nx", 10),
            ("", 0),
        ] {
            let head = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: {coding}\r\n\r\n");
            let whole = [head.as_bytes(), body.as_bytes()].concat();
            let expected = format!("uri=/ sent=0 got={got} status=200");
            for piece in [1, 2, 3, whole.len()] {
                let mut turns = vec![(C, GET)];
                turns.extend(whole.chunks(piece).map(|part| (S, part)));
                let found = outcome(&turns);
                assert_eq!(found.last(), Some(&expected), "{coding:?} {body:?} {piece}");
            }
        }
    }
}
