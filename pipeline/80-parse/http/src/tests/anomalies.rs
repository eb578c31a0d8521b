//! What two receivers may read differently, by name.

use super::{C, S, told};

fn of_request(bytes: &[u8]) -> Vec<String> {
    only_names(told(&[(C, bytes)]))
}

fn of_response(bytes: &[u8]) -> Vec<String> {
    only_names(told(&[
        (C, b"GET / HTTP/1.1\r\nHost: h\r\n\r\n"),
        (S, bytes),
    ]))
}

fn only_names(told: Vec<String>) -> Vec<String> {
    told.into_iter()
        .filter_map(|line| line.strip_prefix("http_").map(str::to_owned))
        .collect()
}

/// Each form of request smuggling has a name.
#[test]
fn the_known_forms_of_smuggling_are_named() {
    let head = |fields: &str| format!("POST / HTTP/1.1\r\nHost: h\r\n{fields}\r\n");
    for (fields, expected) in [
        (
            "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n",
            vec!["length_and_chunked", "body_cut"],
        ),
        (
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: cow\r\n",
            vec![
                "coding_unknown",
                "coding_repeated",
                "coding_without_chunked",
                "body_cut",
            ],
        ),
        (
            "Transfer-Encoding: xchunked\r\n",
            vec!["coding_odd", "coding_without_chunked"],
        ),
        (
            "Transfer-Encoding : chunked\r\n",
            vec!["space_before_colon", "body_cut"],
        ),
        (
            "Transfer-Encoding\t: chunked\r\n",
            vec!["space_before_colon", "body_cut"],
        ),
        (
            "Transfer-Encoding: \x0bchunked\r\n",
            vec!["control_byte", "coding_odd", "coding_without_chunked"],
        ),
        (
            "Transfer-Encoding: chunked\r\n\tx\r\n",
            vec!["folded", "coding_odd", "coding_without_chunked"],
        ),
        ("X: y\r\n Transfer-Encoding: chunked\r\n", vec!["folded"]),
        ("X: y\rTransfer-Encoding: chunked\r\n", vec!["bare_return"]),
        (
            "X: y\nTransfer-Encoding: chunked\r\n",
            vec!["bare_line_feed", "body_cut"],
        ),
        (
            "Transfer-\0Encoding: chunked\r\n",
            vec!["nul_byte", "name_odd", "body_cut"],
        ),
        ("Content-Length: +0\r\n", vec!["length_odd"]),
        ("Content-Length: -1\r\n", vec!["length_invalid"]),
        ("Content-Length: 0, 0\r\n", vec!["length_list"]),
        (
            "Content-Length: 0\r\nContent-Length: 0\r\n",
            vec!["length_repeated"],
        ),
        (
            "Content-Length: 0\r\nContent-Length: 5\r\n",
            vec!["lengths_contradict"],
        ),
        ("Content-Length : 0\r\n", vec!["space_before_colon"]),
        ("Content Length: 0\r\n", vec!["name_odd"]),
        (": x\r\n", vec!["name_empty"]),
        ("nothing\r\n", vec!["colon_missing"]),
        ("Host: i\r\n", vec!["host_repeated"]),
    ] {
        assert_eq!(of_request(head(fields).as_bytes()), expected, "{fields:?}");
    }
}

/// Request lines.
#[test]
fn odd_request_lines_are_named() {
    for (line, expected) in [
        (
            "GET http://i/ HTTP/1.1\r\nHost: h\r\n\r\n",
            vec!["host_contradicts"],
        ),
        ("GET http://H/ HTTP/1.1\r\nHost: h\r\n\r\n", vec![]),
        ("GET / HTTP/1.1\r\n\r\n", vec!["host_missing"]),
        ("GET  / HTTP/1.1\r\nHost: h\r\n\r\n", vec!["odd_spaces"]),
        ("GET /a b HTTP/1.1\r\nHost: h\r\n\r\n", vec!["space_in_uri"]),
        ("GET / HTTP/3.7\r\n\r\n", vec!["version_odd"]),
        ("POST /\r\n", vec!["version_missing"]),
        ("GET /\0 HTTP/1.1\r\nHost: h\r\n\r\n", vec!["nul_byte"]),
        ("G@T / HTTP/1.1\r\nHost: h\r\n\r\n", vec!["method_odd"]),
        ("\x16\x03\x01\r\n", vec!["not_a_request"]),
        ("hello\r\n", vec!["not_a_request"]),
        ("GET / HTTP/1.1\r\nHost: h\r\n", vec!["head_cut"]),
    ] {
        assert_eq!(of_request(line.as_bytes()), expected, "{line:?}");
    }
}

/// Responses.
#[test]
fn odd_responses_are_named() {
    for (response, expected) in [
        (
            "HTTP/1.1 2x0 OK\r\nContent-Length: 0\r\n\r\n",
            vec!["status_odd"],
        ),
        (
            "HTTP/1.1 204 No\r\nContent-Length: 5\r\n\r\n",
            vec!["body_forbidden"],
        ),
        (
            "HTTP/1.1 204 No\r\nTransfer-Encoding: gzip\r\n\r\n",
            vec!["body_forbidden"],
        ),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc",
            vec!["body_cut"],
        ),
        ("HTTP/1.1 101 Go\r\n\r\n", vec!["upgrade_unasked"]),
        ("<html>", vec!["not_a_response"]),
        (
            "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            vec!["coding_in_old_version"],
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
             3\r\nabcX\r\n0\r\nContent-Length: 1\r\n\r\n",
            vec!["chunk_end_missing", "trailer_forbidden"],
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\nabc\n0\n\n",
            vec!["chunk_bare_line_feed", "bare_line_feed"],
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            vec!["chunk_size_invalid"],
        ),
    ] {
        assert_eq!(of_response(response.as_bytes()), expected, "{response:?}");
    }
}

/// What a limit cuts is told, and the head goes on behind it.
#[test]
fn long_lines_are_cut_and_told() {
    let long = format!(
        "GET / HTTP/1.1\r\nHost: h\r\nX: {}\r\nContent-Length: x\r\n\r\n",
        "y".repeat(70_000)
    );
    assert_eq!(
        of_request(long.as_bytes()),
        ["line_too_long", "length_invalid", "head_too_long"]
    );
}
