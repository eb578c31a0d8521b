//! The rules of one connection in the order of its packets; what passes; which direction.

use crate::talk::{EXCHANGE, alerts, plan, sids, talk};

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
