//! What alerts show of what they fit: packets, files, entropy; and what is a body although no
//! message says so.

use crate::talk::{EXCHANGE, alerts, plan, sids, talk};
use serde_json::Value;

fn of_rule(all: &[Value], sid: u64) -> Vec<&Value> {
    let is_it = |one: &&Value| one["alert"]["signature_id"] == sid;
    all.iter().filter(is_it).collect()
}

/// The packet that shows an alert, with its addresses of Ethernet, on wish.
#[test]
fn alerts_have_their_packet_on_wish() {
    let rules = "\
alert tcp any any -> any any (flags:S; sid:1;)
alert http any any -> any any (http.uri; content:\"/two\"; sid:2;)
";
    let frames = talk(EXCHANGE, 2000, 1);
    let mut wanted = plan(rules);
    wanted.rules.packet = true;
    let found = alerts(&frames, wanted);
    let syn = of_rule(&found, 1)[0];
    assert_eq!(syn["packet_info"]["linktype"], 1);
    assert_eq!(syn["packet_info"]["linktype_name"], "EN10MB");
    let bytes = &frames[0];
    let address = |octets: &[u8]| {
        let octets: Vec<String> = octets.iter().map(|one| format!("{one:02x}")).collect();
        octets.join(":")
    };
    assert_eq!(syn["ether"]["dest_mac"], address(&bytes[..6]));
    assert_eq!(syn["ether"]["src_mac"], address(&bytes[6..12]));
    assert!(of_rule(&found, 2)[0]["packet"].as_str().unwrap().len() > 40);
    let found = alerts(&frames, plan(rules));
    assert!(
        found
            .iter()
            .all(|one| one["packet"].is_null() && one["ether"].is_null())
    );
}

/// Each file of a form alerts by itself, and is named; what is not about files alerts once.
#[test]
fn files_of_a_form_alert_one_by_one() {
    let body = "--x\r\nContent-Disposition: form-data; name=\"a\"; filename=\"one.jpg\"\r\n\r\n\
        aabb\r\n--x\r\nContent-Disposition: form-data; name=\"b\"; filename=\"two.jpg\"\r\n\r\n\
        abcd\r\n--x--\r\n";
    let request = format!(
        "POST /up HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=x\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    let turns = [(true, request.as_bytes()), (false, &answer[..])];
    let rules = "\
alert http any any -> any any (file.name; content:\".jpg\"; http.method; content:\"POST\"; sid:1;)
alert http any any -> any any (http.method; content:\"POST\"; sid:2;)
alert http any any -> any any (file.name; content:\"two\"; file.data; entropy:value 2; sid:3;)
";
    for size in [1, 50, 2000] {
        let found = alerts(&talk(&turns, size, 1), plan(rules));
        let names: Vec<_> = of_rule(&found, 1)
            .iter()
            .map(|one| one["files"][0]["filename"].clone())
            .collect();
        assert_eq!(names, ["one.jpg", "two.jpg"], "{size}");
        assert_eq!(of_rule(&found, 2).len(), 1);
        let third = of_rule(&found, 3);
        assert_eq!(third.len(), 1);
        assert_eq!(third[0]["metadata"]["entropy"]["file_data"], 2);
    }
}

/// What stands where a message should begin is a body, however segments cut it.
#[test]
fn bytes_without_a_head_are_bodies() {
    let request = b"POST /a HTTP/1.1\r\nHost: a\r\n\r\nlogin=me";
    let turns = [(true, &request[..]), (false, &b"X5O!P no head"[..])];
    let rules = "\
alert http any any -> any any (http.request_body; content:\"login=me\"; sid:1;)
alert http any any -> any any (flow:to_client; file.data; content:\"X5O!P no\"; startswith; sid:2;)
";
    for size in [1, 5, 2000] {
        let found = alerts(&talk(&turns, size, 1), plan(rules));
        assert_eq!(
            (of_rule(&found, 1).len(), of_rule(&found, 2).len()),
            (1, 1),
            "{size}"
        );
    }
}

/// A file that goes on behind what is examined of its form is longer than what is there; nothing
/// else is known of its length.
#[test]
fn the_least_length_of_a_cut_file_is_known() {
    let rules = "\
alert http any any -> any any (filesize:>50000; sid:1;)
alert http any any -> any any (filesize:>150000; sid:2;)
alert http any any -> any any (filesize:<300000; sid:3;)
alert http any any -> any any (filesize:!50000; sid:4;)
alert http any any -> any any (filesize:!150000; sid:5;)
alert http any any -> any any (fileext:\"exe\"; filesize:>50000; sid:6;)
";
    for (len, expected) in [
        (40_000, &[3, 4, 5][..]),
        (90_000, &[1, 3, 4, 5, 6]),
        (200_000, &[1, 4, 6]),
    ] {
        let body = format!(
            "--x\r\nContent-Disposition: form-data; filename=\"a.exe\"\r\n\r\n{}\r\n--x--\r\n",
            "P".repeat(len)
        );
        let head = format!(
            "POST /up HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=x\r\n\
             Content-Length: {}\r\n\r\n",
            body.len()
        );
        let request = [head, body].concat();
        let answer = &b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"[..];
        let turns = [(true, request.as_bytes()), (false, answer)];
        for size in [77, 1460] {
            let found = alerts(&talk(&turns, size, 1), plan(rules));
            let mut numbers: Vec<_> = found
                .iter()
                .map(|one| one["alert"]["signature_id"].as_u64().unwrap())
                .collect();
            numbers.sort_unstable();
            assert_eq!(numbers, expected, "{len} {size}");
            let shown = &of_rule(&found, 4)[0]["files"][0]["size"];
            assert_eq!(shown.is_null(), len > 100 << 10, "{shown}");
        }
    }
}

/// The client and the server may speak different protocols.
#[test]
fn sides_speak_for_themselves() {
    let turns = [
        (true, &b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"[..]),
        (false, &b"SSH-2.0-x\r\n"[..]),
    ];
    let rules = "\
alert tcp any any -> any any (flow:to_client; app-layer-protocol:http1,to_server; \
app-layer-protocol:ssh,to_client; sid:1;)
alert tcp any any -> any any (app-layer-protocol:ssh,to_server; sid:2;)
";
    let found = alerts(&talk(&turns, 2000, 1), plan(rules));
    assert_eq!((of_rule(&found, 1).len(), of_rule(&found, 2).len()), (1, 0));
}

/// What a connection speaks is asked once for each direction, however the rule asks for it and
/// however many packets follow; and once more when that changes.
#[test]
fn what_is_spoken_alerts_once_for_each_direction() {
    let rules = "\
alert http any any -> any any (sid:1;)
alert tcp any any -> any any (app-layer-protocol:http; sid:2;)
alert tcp any any -> any any (app-layer-protocol:!ssh; sid:3;)
alert tcp any any -> any any (app-layer-protocol:http,final; sid:4;)
alert tcp any any -> any any (app-layer-protocol:http,original; sid:5;)
alert ip any any -> any 80 (flow:to_server; app-layer-protocol:http,to_server; sid:6;)
alert tcp any any -> any any (app-layer-protocol:http; flowbits:isnotset,a; sid:7;)
alert tcp any any -> any any (app-layer-protocol:ssh; sid:8;)
";
    for size in [1, 7, 50, 2000] {
        let found = alerts(&talk(EXCHANGE, size, 1), plan(rules));
        let counts = [1, 2, 3, 4, 5, 6, 7, 8].map(|sid| of_rule(&found, sid).len());
        assert_eq!(counts, [2, 2, 2, 2, 2, 1, 2, 0], "{size}");
    }
    // A packet's size is asked of each packet.
    let each = "alert tcp any any -> any any (app-layer-protocol:http; dsize:>0; sid:1;)\n";
    assert!(sids(&talk(EXCHANGE, 7, 1), each).len() > 10);
}
