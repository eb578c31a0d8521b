//! Rules on a request with its response, on files of forms, and on events with messages.

use crate::talk::{EXCHANGE, log, mixed, plan, sids, talk};

const FORM: &[(bool, &[u8])] = &[
    (
        true,
        b"POST /up HTTP/1.1\r\nHost: s\r\nContent-Type: multipart/form-data; boundary=xx\r\n\
          Content-Length: 155\r\n\r\n--xx\r\nContent-Disposition: form-data; \
          filename=\"a.txt\"\r\n\r\nfirst words\r\n--xx\r\nContent-Disposition: form-data; \
          filename=\"b.txt\"\r\n\r\nother words here\r\n--xx--\r\n",
    ),
    (false, b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
];

/// Both have to be of one transaction; the same alerts for every shape.
#[test]
fn requests_are_compared_with_their_responses() {
    let rules = "\
alert http any any => any any (http.uri; content:\"/one\"; http.stat_code; content:\"200\"; sid:1;)
alert http any any => any any (http.uri; content:\"/two\"; http.stat_code; content:\"200\"; sid:2;)
alert http any any => any any (http.request_body; content:\"secret\"; http.stat_msg; \
content:\"Not Found\"; sid:3;)
alert http any any => any any (http.header:to_server; content:\"curl\"; http.header:to_client; \
content:\"Server\"; file.data:to_client; content:\"world\"; filesize:to_client,11; sid:4;)
alert http 10.1.1.2 any => any any (http.uri; content:\"/one\"; http.stat_code; content:\"200\"; \
sid:5;)
";
    for size in [1, 9, 2000] {
        assert_eq!(sids(&talk(EXCHANGE, size, 1), rules), [1, 4, 3], "{size}");
    }
    let frames = mixed((1..20_u8).map(|host| talk(EXCHANGE, 7, host)).collect());
    let written = |pipeline: &str| {
        let mut plan = plan(rules);
        plan.pipeline = pipeline.parse().unwrap();
        log(&frames, plan)
    };
    let reference = written("1x1");
    for pipeline in ["1x3", "2x2", "3x3"] {
        assert!(written(pipeline) == reference, "{pipeline}");
    }
}

/// What one file has is not what another one has within a buffer; two buffers may be of two files,
/// as in Suricata.
#[test]
fn files_of_a_form_are_files_of_their_own() {
    let rules = "\
alert http any any -> any any (file.data; content:\"first\"; content:\"other\"; sid:1;)
alert http any any -> any any (file.data; content:\"first\"; file.data; content:\"other\"; sid:2;)
alert http any any -> any any (file.name; content:\"b.txt\"; file.data; content:\"here\"; \
endswith; sid:3;)
alert http any any -> any any (filesize:16; sid:4;)
alert http any any -> any any (filesize:155; sid:5;)
alert http any any -> any any (http.request_body; content:\"first\"; content:\"other\"; sid:6;)
alert http any any -> any any (file.name; content:\"a.txt\"; file.data; content:\"here\"; sid:7;)
";
    let mut found = sids(&talk(FORM, 2000, 1), rules);
    found.sort_unstable();
    assert_eq!(found, [2, 3, 4, 6, 7]);
}

/// An event of one message is not one of the next.
#[test]
fn events_are_of_their_message() {
    let turns: &[(bool, &[u8])] = &[
        (true, b"GET /one HTTP/1.1\r\nHost: s\r\nno colon\r\n\r\n"),
        (false, b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
        (true, b"GET /two HTTP/1.1\r\nHost: s\r\n\r\n"),
        (false, b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
    ];
    let rules = "\
alert http any any -> any any (app-layer-event:http.request_field_missing_colon; http.uri; \
content:\"/one\"; sid:1;)
alert http any any -> any any (app-layer-event:http.request_field_missing_colon; http.uri; \
content:\"/two\"; sid:2;)
alert http any any -> any any (app-layer-event:http.response_field_missing_colon; http.uri; \
content:\"/one\"; sid:3;)
";
    for size in [1, 2000] {
        assert_eq!(sids(&talk(turns, size, 1), rules), [1], "{size}");
    }
}

/// Values of packets that not all packets have.
#[test]
fn packets_have_tags_and_checksums() {
    let mut frames = talk(EXCHANGE, 2000, 1);
    let first = frames.first_mut().unwrap();
    // Two tags: 7 outside, 9 inside.
    first.splice(12..12, [0x81, 0, 0, 7, 0x81, 0, 0, 9]);
    let rules = "\
alert tcp any any -> any any (flags:S; vlan.id:7; sid:1;)
alert tcp any any -> any any (flags:S; vlan.id:7,-1; sid:2;)
alert tcp any any -> any any (flags:S; vlan.id:9,1; vlan.layers:2; sid:3;)
alert tcp any any -> any any (flags:SA; vlan.layers:>0; sid:4;)
alert tcp any any -> any any (flags:S; tcpv4-csum:valid; ipv4-csum:valid; l3_proto:ipv4; sid:5;)
alert tcp any any -> any any (flags:S; tcpv4-csum:invalid; sid:6;)
alert tcp any any -> any any (flags:S; ipopts:any; sid:7;)
alert tcp any any -> any any (flags:S; tcp.mss:>0; sid:8;)
";
    assert_eq!(sids(&frames, rules), [1, 3, 5]);
}
