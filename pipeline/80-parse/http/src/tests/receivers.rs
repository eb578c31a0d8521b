//! What no careful sender sends, read as those receivers read it that do not refuse it.
//!
//! Asked on loopback, with the same bytes: nginx 1.22, Apache 2.4, Node, Go's net/http and Python's
//! http.server for requests; curl, Python's http.client, Node and Go's net/http for responses. Who
//! refuses a message closes the connection behind it: what follows is read by nobody then.

use super::{C, S, told};

/// Each record in short, and what was told.
fn read(turns: &[(bool, &[u8])]) -> Vec<String> {
    let names = ["method", "uri", "host", "version", "sent", "got", "status"];
    let is_brief = |part: &&str| {
        let name = part.split('=').next().unwrap_or_default();
        (names.contains(&name) || !part.contains('='))
            && !matches!(*part, "sent=0" | "got=0" | "host=h" | "version=1.1")
    };
    let short = |line: &String| {
        let parts: Vec<&str> = line.split(' ').filter(is_brief).collect();
        parts.join(" ").replace("http_", "")
    };
    told(turns).iter().map(short).collect()
}

const NEXT: &str = "GET /2 HTTP/1.1\r\nHost: h\r\n\r\n";
const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

/// A request line with fields behind it, then a request beyond doubt: both are answered.
fn of_line(line: &str) -> Vec<String> {
    let requests = format!("{line}\r\nHost: h\r\n\r\n{NEXT}");
    let responses = format!("HTTP/1.1 400 Bad\r\nContent-Length: 0\r\n\r\n{OK}");
    read(&[(C, requests.as_bytes()), (S, responses.as_bytes())])
}

/// All of these are requests to somebody, or answered at least: the record of the next one is its
/// own.
#[test]
fn request_lines_with_odd_versions_are_requests() {
    for (line, expected) in [
        // All five refuse; libhtp and Suricata read it.
        ("GET / http/1.1", "version_odd|method=GET uri=/ status=400"),
        ("GET / Http/1.0", "version_odd|method=GET uri=/ status=400"),
        // nginx, Apache, Python and Go take it for 1.1.
        ("GET / HTTP/1.2", "version_odd|method=GET uri=/ status=400"),
        // Python: 1.1.
        ("GET / HTTP/01.1", "version_odd|method=GET uri=/ status=400"),
        // nginx and Python: beyond 1.1.
        ("GET / HTTP/1.10", "version_odd|method=GET uri=/ status=400"),
        // Apache reads on; nginx and Go answer 505.
        ("GET / HTTP/9.9", "version_odd|method=GET uri=/ status=400"),
        // nginx and Python take blanks, Python tabs.
        ("GET / HTTP/1.1  ", "odd_spaces|method=GET uri=/ status=400"),
        (
            "GET\t/\tHTTP/1.1\t",
            "odd_spaces|method=GET uri=/ status=400",
        ),
        ("GET  /  HTTP/1.1", "odd_spaces|method=GET uri=/ status=400"),
        // All refuse, and answer.
        ("GET / HTTP/", "version_odd|method=GET uri=/ status=400"),
        ("GET / HTTP 1.1", "version_odd|method=GET uri=/ status=400"),
        (
            "GET / HTTP / 1.1",
            "version_odd|method=GET uri=/ status=400",
        ),
        (
            "GET / HTTP/1.1 x",
            "version_odd|method=GET uri=/ status=400",
        ),
        (
            "GET / XTTP/1.1",
            "space_in_uri|version_missing|method=GET uri=/_XTTP/1.1 status=400",
        ),
        // Python and Node read fields behind it.
        ("GET /", "version_missing|method=GET uri=/ status=400"),
        // Python answers 501 and reads on.
        (
            "\u{80}GET / HTTP/1.1",
            "method_odd|method=\u{c2}\u{80}GET uri=/ status=400",
        ),
        ("\0GET / HTTP/1.1", "nul_byte|method=GET uri=/ status=400"),
        // Go reads lower case as a method of its own, Apache and Python answer 501.
        ("get / HTTP/1.1", "method=get uri=/ status=400"),
        // nginx and Node skip empty lines, Python a blank.
        ("\r\n\r\nGET / HTTP/1.1", "method=GET uri=/ status=400"),
        ("\n\rGET / HTTP/1.1", "method=GET uri=/ status=400"),
        (" GET / HTTP/1.1", "odd_spaces|method=GET uri=/ status=400"),
    ] {
        let expected: Vec<&str> = expected.split('|').collect();
        let mut found = of_line(line);
        // The request behind it has another version.
        found.retain(|told| told != "version_changed");
        let (last, first) = found.split_last().unwrap();
        assert_eq!(first, expected, "{line:?}");
        assert_eq!(last, "method=GET uri=/2 status=200", "{line:?}");
    }
}

/// HTTP/0.9: the answer has no head, and goes on to the end. nginx and Apache answer at once.
#[test]
fn requests_of_one_line_have_answers_without_heads() {
    let answer = b"\r\n\0 <html>HTTP/1.1 200 OK\r\n\r\n".as_slice();
    let old = "method=GET uri=/x version=0.9 got=29";
    assert_eq!(
        read(&[(C, b"GET /x\n"), (S, answer)]),
        ["bare_line_feed", old]
    );
    assert_eq!(read(&[(C, b"GET /x\r\n"), (S, answer)]), [old]);
    assert_eq!(
        read(&[(C, b"GET /x \r\n"), (S, answer)]),
        ["odd_spaces", old]
    );
    // Behind a request of HTTP/1.1, as nginx takes it.
    let first = format!("{NEXT}GET /x\r\n");
    let both = [OK.as_bytes(), answer].concat();
    assert_eq!(
        read(&[(C, first.as_bytes()), (S, &both)]),
        ["version_changed", "method=GET uri=/2 status=200", old]
    );
    // Python answers so to a version of 0.9, behind its fields; Go with a head to both.
    assert_eq!(
        read(&[(C, b"GET /x HTTP/0.9\r\nHost: h\r\n\r\n"), (S, answer)]),
        ["version_odd", old]
    );
    let refused = b"HTTP/1.1 400 Bad\r\nContent-Length: 2\r\n\r\nno".as_slice();
    assert_eq!(
        read(&[(C, b"GET x\r\n"), (S, refused)]),
        ["method=GET uri=x got=2 status=400"]
    );
    // Node reads a body, too.
    let posted = b"POST /x\r\nContent-Length: 3\r\n\r\nabc".as_slice();
    assert_eq!(
        read(&[(C, posted), (S, refused)]),
        [
            "version_missing",
            "method=POST uri=/x sent=3 got=2 status=400"
        ]
    );
}

/// Where a head ends.
#[test]
fn odd_ends_of_heads_are_told() {
    let of_request = |end: &str| {
        let requests = format!("GET / HTTP/1.1\r\nHost: h\r\nX: y{end}{NEXT}");
        read(&[(C, requests.as_bytes())])
    };
    for (end, told, is_end) in [
        // nginx, Python and Go take them.
        ("\n\n", vec!["bare_line_feed"], true),
        ("\r\n\n", vec!["bare_line_feed"], true),
        ("\n\r\n", vec!["bare_line_feed"], true),
        // nginx and Python end the head at the first two line feeds.
        ("\n\r\n\r", vec!["bare_line_feed"], true),
        // Python alone does not refuse: it reads fields on.
        ("\r\r", vec!["bare_return", "host_repeated"], false),
        (
            "\r\r\n\r\r\n",
            vec!["bare_return", "head_end_odd", "colon_missing"],
            false,
        ),
        // Python reads a fold, and on. So does Go, which takes it before an empty line.
        ("\r\n \r\n", vec!["folded", "head_end_odd"], false),
        ("\r\n\t\r\n\r\n", vec!["folded", "head_end_odd"], true),
        ("\r\n fold\r\n\r\n", vec!["folded"], true),
        // Python takes them, all others refuse.
        (
            "\r\n\0\r\n\r\n",
            vec!["nul_byte", "head_end_odd", "colon_missing"],
            true,
        ),
        (
            "\r\n\x0b\r\n\r\n",
            vec!["control_byte", "colon_missing"],
            true,
        ),
        ("\0\r\n\r\n", vec!["nul_byte"], true),
        ("\r\nB : z\r\n\r\n", vec!["space_before_colon"], true),
        ("\r\n: z\r\n\r\n", vec!["name_empty"], true),
    ] {
        let mut found = of_request(end);
        found.retain(|line| told.contains(&line.as_str()) || line.contains("uri="));
        let mut expected: Vec<&str> = told.clone();
        expected.push("method=GET uri=/");
        if is_end {
            expected.push("method=GET uri=/2");
        }
        assert_eq!(found, expected, "{end:?}");
    }
    // The stream ends inside the head.
    assert_eq!(
        read(&[(C, b"GET / HTTP/1.1\r\nHost: h\r\n")]),
        ["head_cut", "method=GET uri=/"]
    );
}

/// RFC 9112 §2.2: a line that begins with a blank right behind the first line is no field, nor are
/// those that continue it. Whoever takes it for one sees another host.
#[test]
fn an_indented_line_behind_the_first_one_is_no_field() {
    for indented in [
        " Host: a\r\n",
        "\tHost: a\r\n",
        " Host: a\r\n Content-Length: 9\r\n",
        " : a\r\n",
    ] {
        let request = format!("GET / HTTP/1.1\r\n{indented}Host: b\r\n\r\n{NEXT}");
        let found = read(&[(C, request.as_bytes())]);
        let folded = indented.matches('\n').count() > 1;
        let mut expected = vec![
            "field_indented",
            "method=GET host=b uri=/",
            "method=GET uri=/2",
        ];
        if folded {
            expected.insert(0, "folded");
        }
        assert_eq!(found, expected, "{indented:?}");
    }
    let turns = [
        (C, NEXT.as_bytes()),
        (S, b"HTTP/1.1 200 OK\r\n Content-Length: 9\r\n\r\n"),
    ];
    assert_eq!(
        read(&turns),
        ["field_indented", "method=GET uri=/2 status=200"]
    );
}

/// Servers answer what is no request as well: its refusal is not the next request's, whose own
/// answer is.
#[test]
fn the_answer_to_what_is_no_request_is_not_the_next_requests() {
    let bad = "HTTP/1.1 400 Bad\r\nContent-Length: 0\r\n\r\n";
    let first = NEXT.replace("/2", "/1");
    let pipelined = format!("{first}FOO\r\n\r\n{NEXT}");
    let told = |responses: String| read(&[(C, pipelined.as_bytes()), (S, responses.as_bytes())]);
    // It closes then.
    assert_eq!(
        told(format!("{OK}{bad}")),
        [
            "not_a_request",
            "method=GET uri=/1 status=200",
            "status=400",
            "method=GET uri=/2"
        ]
    );
    // It goes on, or it has passed over it.
    let all = [
        "not_a_request",
        "method=GET uri=/1 status=200",
        "status=400",
    ];
    assert_eq!(
        told(format!("{OK}{bad}{OK}")),
        [&all[..], &["method=GET uri=/2 status=200"]].concat()
    );
    assert_eq!(
        told(format!("{OK}{OK}")),
        [&all[..2], &["method=GET uri=/2 status=200"]].concat()
    );
    // It was alone: the next refusal is the next request's.
    let turns = [
        (C, &b"FOO\r\n"[..]),
        (S, bad.as_bytes()),
        (C, NEXT.as_bytes()),
        (S, bad.as_bytes()),
    ];
    assert_eq!(
        read(&turns),
        [
            "not_a_request",
            "status=400",
            "method=GET uri=/2 status=400"
        ]
    );
}

/// What is told of a request and a response with something behind it; the next response is the next
/// request's.
fn passed(request: &str, response: &str, body: &str) -> String {
    let requests = format!("{request} / HTTP/1.1\r\nHost: h\r\n\r\n{NEXT}");
    let responses = format!("HTTP/1.1 {response}\r\n\r\n{body}{OK}");
    let mut found = read(&[(C, requests.as_bytes()), (S, responses.as_bytes())]);
    assert_eq!(
        found.pop().unwrap(),
        "method=GET uri=/2 status=200",
        "{response:?}"
    );
    found.join("|")
}

/// RFC 9112 §6.3: no body, whatever the head says. Who sends one anyway is told; curl and Go drop
/// the
/// connection with it, Python reads chunks behind 204 and 304. The next response is found.
#[test]
fn bodies_that_must_not_be_are_passed() {
    let get = |status: u16| format!("method=GET uri=/ status={status}");
    for (response, body, told) in [
        ("204 N", "", ""),
        ("204 N\r\nContent-Length: 3", "", "body_forbidden|"),
        ("304 N\r\nContent-Length: 3", "", ""),
        ("304 N\r\nContent-Length: 3", "abc", "|body_unexpected"),
        ("304 N", "ab\nHTTP/1.1 no\r\n", "|body_unexpected"),
        (
            "304 N\r\nTransfer-Encoding: chunked",
            "3\r\nabc\r\n0\r\n\r\n",
            "|body_unexpected",
        ),
        ("204 N\r\nContent-Length: 3", "\r\n", "body_forbidden|"),
        // To be passed over, not read as the end of a line.
        ("304 N", "\0\r\n \t", "|nul_byte|odd_spaces"),
        ("304 N", "HTTHTTP/1", "|body_unexpected"),
    ] {
        let status = if response.starts_with("204") {
            204
        } else {
            304
        };
        let (before, behind) = told.split_once('|').unwrap_or((told, ""));
        let mut found: Vec<&str> = Vec::new();
        found.extend((!before.is_empty()).then_some(before));
        let record = get(status);
        found.push(&record);
        let mut told: Vec<&str> = behind.split('|').filter(|one| !one.is_empty()).collect();
        let all = passed("GET", response, body);
        let mut all: Vec<&str> = all.split('|').collect();
        let rest = all.split_off(found.len());
        assert_eq!(all, found, "{response:?} {body:?}");
        let mut rest: Vec<&str> = rest;
        rest.sort_unstable();
        told.sort_unstable();
        assert_eq!(rest, told, "{response:?} {body:?}");
    }
}

/// Where a head announces what must not be, it is a body to some: Python reads chunks behind 204.
#[test]
fn bodies_that_are_announced_against_the_rules_are_read() {
    for (head, body) in [
        ("Content-Length: 3", "abc"),
        ("Transfer-Encoding: chunked", "3\r\nabc\r\n0\r\n\r\n"),
    ] {
        let found = passed("GET", &format!("204 N\r\n{head}"), body);
        let told = "body_forbidden|body_unexpected|method=GET uri=/ got=3 status=204";
        assert_eq!(found, told, "{head}");
    }
    // HEAD; and 205, which all four read with its body.
    let found = passed("HEAD", "200 OK\r\nContent-Length: 5", "<xml>");
    assert_eq!(found, "method=HEAD uri=/ status=200|body_unexpected");
    let found = passed("GET", "205 R\r\nContent-Length: 3", "abc");
    assert_eq!(found, "body_forbidden|method=GET uri=/ got=3 status=205");
}

/// RFC 9110 §15.2: the final response follows, whatever stands between.
#[test]
fn what_stands_behind_interim_responses_is_passed() {
    // With a length, with and without what it announces.
    for body in ["", "abc"] {
        let interim = format!("102 P\r\nContent-Length: 3\r\n\r\n{body}HTTP/1.1 404 N");
        let found = passed("GET", &format!("{interim}\r\nContent-Length: 0"), "");
        let told = if body.is_empty() {
            ""
        } else {
            "body_unexpected|"
        };
        assert_eq!(
            found,
            format!("body_forbidden|{told}method=GET uri=/ status=404")
        );
    }
    // Twice, and a switch that nobody asked for.
    let interim = "102 P\r\nContent-Length: 1\r\n\r\na";
    let found = passed(
        "GET",
        &format!("{interim}HTTP/1.1 {interim}HTTP/1.1 404 N\r\nContent-Length: 0"),
        "",
    );
    let told = "body_forbidden|body_unexpected";
    assert_eq!(found, format!("{told}|{told}|method=GET uri=/ status=404"));
    let found = passed(
        "GET",
        "101 S\r\nContent-Length: 1\r\n\r\naHTTP/1.1 404 N\r\nContent-Length: 0",
        "",
    );
    assert_eq!(found, format!("{told}|method=GET uri=/ status=404"));
    // A tunnel begins behind the head, whatever that says.
    assert_eq!(
        read(&[
            (C, b"CONNECT h:1 HTTP/1.1\r\nHost: h:1\r\n\r\n"),
            (S, b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n\x16\x03"),
        ]),
        ["body_forbidden", "method=CONNECT uri=h:1 status=200"]
    );
}

/// What stands before a status line: Node skips line ends, Python blanks, older browsers and libhtp
/// NUL bytes; Chromium looks for it in the first bytes. The rest refuse. The response is the same
/// request's to all.
#[test]
fn junk_before_a_status_line_does_not_move_responses() {
    for (begin, told) in [
        ("HTTP/1.1", vec![]),
        ("\r\n\nHTTP/1.1", vec![]),
        (" \tHTTP/1.1", vec!["odd_spaces"]),
        ("\0HTTP/1.1", vec!["nul_byte"]),
        ("\r\n\0 \0HTTP/1.1", vec!["odd_spaces", "nul_byte"]),
        ("junkHTTP/1.1", vec!["not_a_response"]),
        ("junk\r\nmore HTTP/1.1", vec!["not_a_response"]),
        ("HTTHTTP/1.1", vec!["not_a_response"]),
        ("\u{feff}HTTP/1.1", vec!["not_a_response"]),
        ("http/1.1", vec!["version_odd"]),
        ("Http/01.1", vec!["version_odd"]),
        ("HTTP / 1.1", vec!["version_odd"]),
        ("HTTP/1.1 ", vec!["odd_spaces"]),
        ("HTTP/1.1\t", vec!["odd_spaces"]),
    ] {
        let responses = format!("{begin} 404 No\r\nContent-Length: 0\r\n\r\n{OK}");
        let turns = [
            (C, NEXT.as_bytes()),
            (C, NEXT.as_bytes()),
            (S, responses.as_bytes()),
        ];
        let mut expected: Vec<&str> = told;
        expected.push("method=GET uri=/2 status=404");
        expected.push("method=GET uri=/2 status=200");
        assert_eq!(read(&turns), expected, "{begin:?}");
    }
    for (begin, version) in [("HTTP/9.9", "9.9"), ("HTTP/1", "?.?"), ("HTTP 1.1", "?.?")] {
        let responses = format!("{begin} 404 No\r\nContent-Length: 0\r\n\r\n");
        let found = read(&[(C, NEXT.as_bytes()), (S, responses.as_bytes())]);
        let record = format!("method=GET uri=/2 version={version} status=404");
        assert_eq!(found, ["version_odd", &record], "{begin:?}");
    }
}

/// A line of blanks in a response: what follows it is a field if it has a name, and else the body.
/// The head has ended there for some receivers, and is a fold to others (RFC 9112 §5.2).
#[test]
fn what_follows_blanks_is_a_field_or_a_body() {
    let of_response = |end: &str| {
        let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: 4\r\nX: y{end}");
        let mut found = read(&[
            (C, b"GET / HTTP/1.1\r\nHost: h\r\n\r\n"),
            (S, answer.as_bytes()),
        ]);
        found.retain(|line| line.contains("uri="));
        found
    };
    for end in [
        "\n \nb@dy",
        "\r\n\t\r\n4\r\nx",
        "\n\r\r\n\x1f(\x08\0",
        "\n \nbody",
        "\n\r\r\n\r\nbody",
        "\r\n\t\r\n\r\nbody",
        "\r\n \r\nZ: z\r\n\r\nbody",
        "\r\n fold\r\n\r\nbody",
    ] {
        assert_eq!(
            of_response(end),
            ["method=GET uri=/ got=4 status=200"],
            "{end:?}"
        );
    }
}

/// Codings in lines that some receivers read as fields count if the body is coded so.
#[test]
fn folded_codings_are_seen_through() {
    for head in [
        "Connection: close\r\n\tTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding:\n\0chunked\r\n",
    ] {
        for (body, got) in [("4\r\nbody\r\n0\r\n\r\n", 4), ("plain", 5)] {
            let answer = format!("HTTP/1.1 200 OK\r\n{head}\r\n{body}");
            let mut found = read(&[
                (C, b"GET / HTTP/1.1\r\nHost: h\r\n\r\n"),
                (S, answer.as_bytes()),
            ]);
            found.retain(|line| line.contains("uri="));
            assert_eq!(
                found,
                [format!("method=GET uri=/ got={got} status=200")],
                "{head:?}"
            );
        }
    }
}
