//! The rules of one connection in the order of its packets; what passes; which direction.

use crate::talk::{EXCHANGE, alerts, log, plan, sids, talk};
use flowpin_config::{Format, Input};
use flowpin_engine::Control;
use flowpin_testkit::build::Ip;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

/// A packet sets a bit that a message asks for; the message sets one that a later stream asks for.
#[test]
fn bits_lead_from_packets_to_messages_to_streams() {
    let rules = "\
alert tcp any any -> any any (flags:S; flowbits:set,one; flowbits:noalert; sid:1;)
alert http any any -> any any (http.uri; content:\"/one\"; flowbits:isset,one; flowbits:set,two; \
noalert; sid:2;)
alert tcp any any -> any any (flow:to_server; content:\"POST\"; flowbits:isset,two; sid:3;)
alert tcp any any -> any any (flow:to_server; content:\"GET\"; flowbits:isset,two; sid:4;)
alert http any any -> any any (http.uri; content:\"/two\"; flowbits:isnotset,two; sid:5;)
";
    for size in [1, 7, 2000] {
        let found = sids(&talk(EXCHANGE, size, 1), rules);
        assert!(found.contains(&3), "{size}: {found:?}");
        assert!(!found.contains(&5), "{size}: {found:?}");
    }
}

/// What a pass rule fits does not alert; other connections do.
#[test]
fn passed_messages_are_quiet() {
    let rules = "\
pass http any any -> any any (http.user_agent; content:\"curl\"; sid:1;)
alert http any any -> any any (http.uri; content:\"/one\"; sid:2;)
alert tcp any any -> any any (flags:S; sid:3;)
";
    assert_eq!(sids(&talk(EXCHANGE, 2000, 1), rules), [3]);
    // Nor does the response of what is passed, nor what is compared later.
    let rules = "\
pass http any any -> any any (http.uri; content:\"/one\"; sid:1;)
alert http any any -> any any (http.stat_code; content:\"200\"; sid:2;)
alert tcp any any -> any any (content:\"hello world\"; sid:3;)
alert tcp any any -> any any (content:\"POST /two\"; sid:4;)
";
    for size in [1, 7, 2000] {
        assert!(sids(&talk(EXCHANGE, size, 1), rules).is_empty(), "{size}");
    }
}

/// Source and destination are those of what the rule fits; a rule for drops says so.
#[test]
fn alerts_tell_who_has_sent_it() {
    let rules = "\
drop http any any -> any any (msg:\"a \\\"b\\\"\"; http.server; content:\"s\"; bsize:1; \
classtype:web-application-attack; metadata:k v, l w; sid:7; rev:2;)
";
    let found = alerts(&talk(EXCHANGE, 2000, 9), plan(rules));
    assert_eq!(found.len(), 1);
    let event = &found[0];
    assert_eq!(event["src_ip"], "10.1.1.2");
    assert_eq!(event["dest_ip"], "10.0.0.9");
    assert_eq!(event["direction"], "to_client");
    assert_eq!(event["alert"]["signature"], "a \"b\"");
    assert_eq!(event["alert"]["category"], "Web Application Attack");
    assert_eq!(event["alert"]["severity"], 1);
    assert_eq!(event["flowpin"]["would_drop"], true);
    assert_eq!(event["http"]["url"], "/one%2fx?q=1");
}

/// Alerts about messages name them, others do not; the record of the connection tells that there
/// were alerts, also where a threshold left them out, but not of rules that alert of nothing.
#[test]
fn alerts_belong_to_messages_and_connections() {
    let uri = "alert http any any -> any any (http.uri; content:\"/two\"; sid:1;)\n";
    let packet = "alert tcp any any -> any any (flags:S; sid:2;)\n";
    let stream = "alert tcp any any -> any any (flow:to_server; content:\"POST\"; sid:3;)\n";
    let frames = talk(EXCHANGE, 2000, 1);
    let found = alerts(&frames, plan(&[uri, packet, stream].concat()));
    let numbers = found
        .iter()
        .map(|one| (&one["alert"]["signature_id"], one.get("tx_id")));
    let mut numbers: Vec<_> = numbers
        .map(|(sid, tx)| (sid.as_u64(), tx.and_then(Value::as_u64)))
        .collect();
    numbers.sort_unstable();
    assert_eq!(
        numbers,
        [(Some(1), Some(1)), (Some(2), None), (Some(3), None)]
    );
    let is_alerted = |rule: &str| {
        let log = log(&frames, plan(rule));
        let mut events = log.lines().map(|line| serde_json::from_str(line).unwrap());
        let flow = events.find(|event: &Value| event["event_type"] == "flow");
        flow.unwrap()["flow"]["alerted"].as_bool().unwrap()
    };
    assert!(is_alerted(uri) && is_alerted(packet) && is_alerted(stream));
    let often = "alert tcp any any -> any any (flags:S; threshold:type threshold, track by_src, \
        count 9, seconds 60; sid:2;)\n";
    assert!(is_alerted(often));
    for other in [
        "alert tcp any any -> any any (flags:R; sid:2;)\n",
        "alert tcp any any -> any any (flags:S; noalert; sid:2;)\n",
    ] {
        assert!(!is_alerted(other), "{other}");
    }
}

/// A rule on messages of a transport fits no other.
#[test]
fn transports_of_messages_are_compared() {
    let frames = talk(EXCHANGE, 2000, 1);
    for (transport, fits) in [("tcp", true), ("udp", false), ("ip", true), ("http", true)] {
        let rule =
            format!("alert {transport} any any -> any any (http.uri; content:\"/\"; sid:1;)\n");
        assert_eq!(!sids(&frames, &rule).is_empty(), fits, "{transport}");
    }
}

/// Networks, ports and directions of headers.
#[test]
fn headers_are_compared() {
    let frames = talk(EXCHANGE, 2000, 1);
    let fits = |header: &str| {
        let rule = format!("alert http {header} (http.method; content:\"GET\"; sid:1;)\n");
        !sids(&frames, &rule).is_empty()
    };
    assert!(fits("10.0.0.0/24 50000 -> 10.1.1.2 80"));
    assert!(fits("!10.0.1.0/24 any -> any [1:79,80]"));
    assert!(fits("10.1.1.2 80 <> any any"));
    assert!(!fits("10.1.1.2 80 -> any any"));
    assert!(!fits("any any -> any !80"));
}

/// Rules are searched for by port and by size of packet: none that fits is left out, whichever end
/// has the port, in packets, streams and messages.
#[test]
fn rules_of_ports_and_sizes_are_found() {
    let frames = talk(EXCHANGE, 2000, 1);
    let fits = |header: &str, asked: &str| {
        let rule = format!("alert {header} ({asked}; sid:1;)\n");
        !sids(&frames, &rule).is_empty()
    };
    let request = "flow:to_server; content:\"curl/8\"";
    let uri = "http.uri; content:\"/two\"";
    let body = "file.data; content:\"hello\"";
    for (header, asked) in [("tcp", request), ("http", request), ("http", uri)] {
        for ports in ["any -> any 80", "50000 -> any 80", "50000 -> any any"] {
            assert!(
                fits(&format!("{header} any {ports}"), asked),
                "{ports} {asked}"
            );
            let sized = format!("{asked}; dsize:<200");
            let is_packet = asked == request;
            assert_eq!(fits(&format!("{header} any {ports}"), &sized), is_packet);
        }
        for ports in [
            "80 <> any any",
            "any <> any 50000",
            "any <> any [50000,50001]",
        ] {
            assert!(
                fits(&format!("{header} any {ports}"), asked),
                "{ports} {asked}"
            );
        }
        for ports in ["any -> any 81", "80 -> any any", "50001 <> any any"] {
            assert!(
                !fits(&format!("{header} any {ports}"), asked),
                "{ports} {asked}"
            );
        }
    }
    assert!(fits("http any 80 -> any any", body));
    assert!(fits("http any any -> any 50000", body));
    assert!(!fits("http any any -> any 80", body));
    assert!(fits(
        "tcp any 80 -> any any",
        "content:\"hello\"; dsize:>40"
    ));
    assert!(!fits(
        "tcp any 80 -> any any",
        "content:\"hello\"; dsize:<40"
    ));
    // Without a pattern.
    assert!(fits("tcp any any -> any 80", "flags:S,12"));
    assert!(!fits("tcp any any -> any 81", "flags:S,12"));
}

/// A body has several names; each rule finds it by its own, whatever others are used.
#[test]
fn bodies_are_found_by_each_of_their_names() {
    let frames = talk(EXCHANGE, 2000, 1);
    let of_response = [
        "file.data; content:\"hello\"",
        "http.response_body; content:\"hello\"",
    ];
    let of_request = [
        "file.data; content:\"secret\"",
        "http.request_body; content:\"secret\"",
    ];
    for (flow, rules) in [("to_client", of_response), ("to_server", of_request)] {
        let rule = |sid: usize| {
            let asked = rules[sid];
            format!(
                "alert http any any -> any any (flow:{flow}; {asked}; sid:{};)\n",
                sid + 1
            )
        };
        assert_eq!(sids(&frames, &rule(0)), [1], "{flow}");
        assert_eq!(sids(&frames, &rule(1)), [2], "{flow}");
        assert_eq!(sids(&frames, &(rule(0) + &rule(1))), [1, 2], "{flow}");
    }
}

/// What alerts fit is shown on wish: of packets, streams and messages, up to the limit.
#[test]
fn alerts_show_what_they_fit() {
    let rules = "\
alert tcp any any -> any any (dsize:>0; content:\"GET\"; depth:3; flow:no_stream; sid:1;)
alert http any any -> any any (http.uri; content:\"/two\"; sid:2;)
alert tcp any any -> any any (flags:S; sid:3;)
";
    let shown = |bytes: u16| {
        let mut plan = plan(rules);
        plan.rules.payload_bytes = bytes;
        let found = alerts(&talk(EXCHANGE, 2000, 1), plan);
        let mut shown: Vec<_> = found
            .iter()
            .map(|one| {
                let sid = one["alert"]["signature_id"].as_u64().unwrap();
                (sid, one["payload_printable"].clone(), one["stream"].clone())
            })
            .collect();
        shown.sort_by_key(|one| one.0);
        (shown, found)
    };
    let (short, found) = shown(6);
    assert_eq!(short[0], (1, "GET /o".into(), 0.into()));
    assert_eq!((short[1].0, &short[1].2), (2, &1.into()));
    assert_eq!(short[2], (3, Value::Null, Value::Null));
    let encoded = found
        .iter()
        .find(|one| one["payload_printable"] == "GET /o");
    assert_eq!(encoded.unwrap()["payload"], "R0VUIC9v");
    assert!(shown(0).0.iter().all(|one| one.1 == Value::Null));
}

/// An ICMP error has its own addresses, whatever connection it is about.
#[test]
fn errors_of_icmp_are_seen() {
    let mut frames = talk(EXCHANGE, 2000, 1);
    let quoted = frames[3][14..14 + 28].to_vec();
    let router = Ip::v4([10, 9, 9, 9], [10, 0, 0, 1]);
    let rest = [&[0; 4], quoted.as_slice()].concat();
    frames.insert(4, router.icmp(3, 1, &rest).ethernet());
    let rules = "\
alert icmp 10.9.9.9 any -> 10.0.0.0/24 any (itype:3; icode:1; sid:1;)
alert icmp any any -> 10.1.1.2 any (itype:3; sid:2;)
";
    let found = alerts(&frames, plan(rules));
    assert_eq!(found.len(), 1);
    assert_eq!(found[0]["src_ip"], "10.9.9.9");
    assert_eq!(
        (&found[0]["icmp_type"], &found[0]["icmp_code"]),
        (&3.into(), &1.into())
    );
}

/// Only some messages of ICMP have an identifier and a number (RFC 792, RFC 950, RFC 4443).
#[test]
fn identifiers_are_those_of_echoes() {
    let rule = "alert icmp any any -> any any (icmp_id:0; icmp_seq:7; sid:1;)\n";
    let rest = [0, 0, 0, 7].repeat(5);
    for (ip, with) in [
        (
            Ip::v4([10, 9, 9, 9], [10, 0, 0, 1]),
            &[0, 8, 13, 14, 15, 16, 17, 18][..],
        ),
        (Ip::v6(9, 8), &[128, 129]),
    ] {
        let frames: Vec<_> = (0..=255)
            .map(|kind| ip.icmp(kind, 0, &rest).ethernet())
            .collect();
        let found = alerts(&frames, plan(rule));
        let kinds = found.iter().map(|one| one["icmp_type"].as_u64().unwrap());
        assert_eq!(kinds.collect::<Vec<_>>(), with);
    }
}

/// Files have the end of the target's path for a name, or the one that the server gives.
#[test]
fn files_have_names_and_lengths() {
    let exchange: &[(bool, &[u8])] = &[
        (true, b"GET /a/One.EXE?x HTTP/1.1\r\nHost: s\r\n\r\n"),
        (false, b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"),
        (true, b"GET /a HTTP/1.1\r\nHost: s\r\n\r\n"),
        (
            false,
            b"HTTP/1.1 200 OK\r\nContent-Disposition: attachment; filename=\"two.jpg\"\r\n\
              Content-Length: 3\r\n\r\nabc",
        ),
    ];
    let rules = "\
alert http any any -> any any (fileext:\"exe\"; filesize:5; sid:1;)
alert http any any -> any any (filename:\"TWO\"; filesize:<4; file.data; content:\"abc\"; sid:2;)
alert http any any -> any any (file.name; content:\"two.jpg\"; startswith; endswith; sid:3;)
alert http any any -> any any (filename:!\"o\"; sid:4;)
alert http any any -> any any (fileext:\"jpg\"; filesize:5; sid:5;)
";
    assert_eq!(sids(&talk(exchange, 7, 1), rules), [1, 2, 3]);
}

/// Records of TLS in clear behind the hellos are searched: a heartbeat that asks for more than it
/// sends (CVE-2014-0160).
#[test]
fn heartbeats_are_searched_though_tls_has_begun() {
    let mut hello = vec![22, 3, 1, 0, 45, 1, 0, 0, 41, 3, 3];
    hello.extend([7; 32]);
    hello.extend([0, 0, 2, 0xc0, 0x2f, 1, 0]);
    let mut answer = vec![22, 3, 3, 0, 42, 2, 0, 0, 38, 3, 3];
    answer.extend([9; 32]);
    answer.extend([0, 0xc0, 0x2f, 0]);
    let heartbeat = [24, 3, 2, 0, 3, 1, 0x40, 0];
    let rule = "alert tcp any any -> any any (flow:to_server; content:\"|18 03|\"; \
                content:\"|01 40 00|\"; distance:3; within:3; dsize:<40; sid:1;)\n";
    let turns: &[(bool, &[u8])] = &[(true, &hello), (false, &answer), (true, &heartbeat)];
    assert_eq!(sids(&talk(turns, 2000, 1), rule), [1]);
}

/// Values of mails, of calls and of handshakes are buffers.
#[test]
fn mails_calls_and_handshakes_have_buffers() {
    let captures = concat!(env!("CARGO_MANIFEST_DIR"), "/../testkit/captures");
    let found = |name: &str, rules: &str| {
        let folder = tempfile::tempdir().unwrap();
        let mut plan = plan(rules);
        plan.inputs = vec![Input::File(Path::new(captures).join(name))];
        plan.output.formats = vec![Format::Eve];
        plan.output.dir = folder.path().to_owned();
        flowpin_engine::run(&plan, &Control::default(), &()).unwrap();
        let log = std::fs::read_to_string(folder.path().join("eve.json")).unwrap();
        let events = log.lines().map(|line| serde_json::from_str(line).unwrap());
        let events = events.filter(|event: &Value| event["event_type"] == "alert");
        let sids = events.map(|one| one["alert"]["signature_id"].as_u64().unwrap());
        sids.collect::<BTreeSet<u64>>()
    };
    let rules = |protocol: &str, asked: &[&str]| -> String {
        let lines = (1..).zip(asked).map(|(sid, asked)| {
            format!("alert {protocol} any any -> any any ({asked}; sid:{sid};)\n")
        });
        lines.collect()
    };
    let mails = [
        "smtp.helo; content:\".\"",
        "smtp.mail_from; content:\"<\"; startswith",
        "smtp.rcpt_to; content:\">\"; endswith",
        "email.from; content:\"@\"",
        "email.to; content:\"@\"",
        "email.subject; bsize:>0",
        "email.message_id; content:\"<\"",
        "email.date; content:\":\"",
    ];
    let of_mails = found("smtp.pcap", &rules("smtp", &mails));
    assert!(
        of_mails.is_superset(&BTreeSet::from([2, 3, 4, 5, 6])),
        "{of_mails:?}"
    );
    let calls = [
        "sip.method; content:\"INVITE\"",
        "sip.uri; content:\"sip:\"; startswith",
        "sip.request_line; content:\"SIP/2.0\"; endswith",
        "sip.stat_code; content:\"200\"",
        "sip.stat_msg; content:\"OK\"",
        "sip.response_line; content:\"SIP/2.0\"; startswith",
        "sip.protocol; content:\"SIP/2.0\"",
        "sip.from; content:\"sip:\"",
        "sip.to; content:\"sip:\"",
    ];
    let of_calls = found("sip.pcap", &rules("sip", &calls));
    assert_eq!(of_calls, (1..=9).collect(), "{of_calls:?}");
    let handshakes = [
        "ssl_state:client_hello; flow:to_server",
        "ssl_state:server_hello|server_keyx; flow:to_client",
        "tls_cert_notbefore:2026-11-21T21:46:05<>2026-11-22",
        "tls_cert_notafter:2036-11-18T21:46:05",
        "tls_cert_valid",
        "ssl_state:!client_hello|server_hello",
        "tls_cert_expired",
        "tls_cert_notbefore:>2026-11-21T21:46:06",
    ];
    let of_handshakes = found("tls.pcap.xz", &rules("tls", &handshakes));
    assert_eq!(of_handshakes, (1..=5).collect(), "{of_handshakes:?}");
}

/// Packets, bytes and seconds of a connection are counted up to the packet that is looked at.
#[test]
fn connections_are_counted() {
    let rules = "\
alert tcp any any -> any any (flow:to_server; flow.pkts:toserver,3; sid:1;)
alert tcp any any -> any any (flow:to_server; flow.pkts:both,>2; sid:2;)
alert tcp any any -> any any (flow.age:>0; sid:3;)
alert tcp any any -> any any (flow:to_client; flow.bytes_toclient:>0; flow.pkts_toserver:1<>5; \
sid:4;)
alert tcp any any -> any any (flow.pkts:either,>5; sid:5;)
";
    // Five packets of the client, three of the server.
    let turns: &[(bool, &[u8])] = &[(true, b"abc"), (false, b"defg")];
    assert_eq!(sids(&talk(turns, 2000, 1), rules), [1, 4, 4, 2]);
}

/// Segments that only acknowledge are counted, whether or not a rule asks for them, and are
/// compared if one does.
#[test]
fn acknowledgements_count() {
    let mut frames = talk(EXCHANGE, 2000, 1);
    let acknowledgement = frames[2].clone();
    for _ in 0..3 {
        frames.insert(4, acknowledgement.clone());
    }
    let counts = "alert tcp any any -> any any (flow:to_client; flow.pkts_toserver:6; \
        content:\"200 OK\"; depth:20; sid:2;)\n";
    assert_eq!(sids(&frames, counts), [2]);
    let asks = "alert tcp any any -> any any (flow:to_server; flags:A; dsize:0; \
        flow.pkts_toserver:4<>7; sid:1;)\n";
    assert_eq!(sids(&frames, &[counts, asks].concat()), [1, 1, 2]);
    // The handshake's is not one of an established connection.
    let established = "alert tcp any any -> any any (flow:established,to_server; flags:A; dsize:0; \
        sid:1;)\n";
    assert_eq!(sids(&frames, established).len(), 4);
}
