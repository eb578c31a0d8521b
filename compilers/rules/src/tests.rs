//! Rules as people write them, and what is wrong with others.

use crate::{Loaded, Reader};
use flowpin_rule::{Action, Operand, Protocol, Rule, Term};
use proptest::prelude::*;

fn read(text: &str) -> Loaded {
    let mut reader = Reader::default();
    reader.read_text("test.rules", text);
    reader.finish()
}

fn one(text: &str) -> Rule {
    let mut loaded = read(text);
    assert!(loaded.problems.is_empty(), "{}", loaded.problems[0]);
    loaded.set.rules.remove(0)
}

/// The columns of what is wrong, and why.
fn refused(text: &str) -> Vec<(u32, u32, String)> {
    let problems = read(text).problems.into_iter();
    problems
        .map(|one| (one.place.line, one.place.column, one.why))
        .collect()
}

/// Suricata's form: a buffer's name stands before its contents.
#[test]
fn sticky_buffers_have_what_follows() {
    let rule = one(
        "drop http $HOME_NET any -> any [80,8000:8080] (msg:\"a\\;b\"; flow:established,to_server; \
         http.method; content:\"GET\"; http.uri; content:\"/a|20 3b|b\"; nocase; endswith; \
         content:!\"x\"; distance:-2; within:9; classtype:trojan-activity; sid:7; rev:3;)",
    );
    assert_eq!(
        (rule.action, rule.sid, rule.rev, rule.priority),
        (Action::Drop, 7, 3, 1)
    );
    assert_eq!(rule.message, "a;b");
    let names: Vec<&str> = rule
        .inspections
        .iter()
        .map(|one| one.buffer.info().name)
        .collect();
    assert_eq!(names, ["http.method", "http.uri"]);
    let Term::Content(uri) = &rule.inspections[1].terms[0] else {
        panic!()
    };
    assert!(uri.pattern == b"/a ;b" && uri.nocase && uri.endswith);
    let Term::Content(other) = &rule.inspections[1].terms[1] else {
        panic!()
    };
    assert!(other.negated && other.distance == Some(Operand::Value(-2)));
    assert!(rule.header.destination_ports.contains(8001));
}

/// Snort 2's form: modifiers stand behind the contents, and may come in any order.
#[test]
fn modifiers_move_the_content_before_them() {
    let rule = one(
        "alert tcp any any -> any 80 (content:\"one\"; http_uri; nocase; content:\"two\"; \
         distance:0; http_uri; uricontent:\"three\"; content:\"four\"; pcre:\"/x+/Ui\"; sid:1;)",
    );
    let shape: Vec<(&str, usize)> = rule
        .inspections
        .iter()
        .map(|one| (one.buffer.info().name, one.terms.len()))
        .collect();
    assert_eq!(shape, [("pkt_data", 1), ("http.uri", 4)]);
    assert_eq!(rule.header.protocol, Protocol::App("http".to_owned()));
}

/// Snort 3's form: buffers stand before contents, modifiers behind commas, headers may be short.
#[test]
fn snort_3_is_read_as_it_is_meant() {
    let rule = one(
        "alert http (\n  msg:\"x\";\n  http_uri;\n  content:\"/a,b\",fast_pattern,nocase,\
         offset 1,depth 20;\n  http_header:field user-agent;\n  content:\"curl\";\n  sid:9;\n)",
    );
    let names: Vec<&str> = rule
        .inspections
        .iter()
        .map(|one| one.buffer.info().name)
        .collect();
    assert_eq!(names, ["http.uri", "http.user_agent"]);
    let Term::Content(first) = &rule.inspections[0].terms[0] else {
        panic!()
    };
    assert!(first.fast_pattern && first.nocase && first.offset == Some(Operand::Value(1)));
}

/// A broken rule is told of with its place, and the others are read.
#[test]
fn what_is_wrong_has_a_place() {
    let text = "alert tcp any any -> any any (msg:\"a\"; content:\"|4x|\"; sid:1;)\n\
        alert tcp any any -> any 99999 (sid:2;)\n\
        alert tcp $NOWHERE any -> any any (sid:3;)\n\
        alert tcp any any -> any any (nonsense:1; sid:4;)\n\
        alert tcp any any -> any any (lua:x.lua; sid:5;)\n\
        alert tcp any any -> any any (content:\"abc\"; depth:2; sid:6;)\n\
        alert tcp any any -> any any (sid:7;)\n\
        alert tcp any any -> any any (sid:7;)\n";
    let loaded = read(text);
    assert_eq!(loaded.set.rules.len(), 1);
    let places: Vec<(u32, u32)> = refused(text).iter().map(|one| (one.0, one.1)).collect();
    let columns = [
        (1, 51),
        (2, 26),
        (3, 11),
        (4, 31),
        (5, 31),
        (6, 52),
        (8, 31),
    ];
    assert_eq!(places, columns);
    let shown = loaded.problems[5].to_string();
    assert!(shown.starts_with("test.rules:6:52: shorter than the content, which has 3 bytes\n"));
    assert!(shown.ends_with("\n  ") || shown.contains('^'));
}

/// A keyword that stands behind a message's quotes is none of the message.
#[test]
fn a_semicolon_is_missed_behind_a_message() {
    let rule = "alert http any any -> any any (msg:\"a\" http.uri; content:\"/x\"; sid:1;)";
    let problem = &read(rule).problems[0];
    assert_eq!(problem.place.column, 40);
    assert_eq!(problem.why, "a semicolon is missing before this");
    let more = "alert ip any any -> any any (msg:\"a\" content:\"b\"; sid:1;)";
    assert_eq!(read(more).problems[0].place.column, 38);
    let inner = "alert ip any any -> any any (msg:\"a \"b\" c\"; sid:1;)";
    assert_eq!(one(inner).message, "a \"b\" c");
    let quoted = "alert ip any any -> any any (msg:\"say \\\"x\\\"\"; sid:1;)";
    assert_eq!(one(quoted).message, "say \"x\"");
}

/// No message has buffers of both directions: such a rule could never fit (Suricata refuses it).
#[test]
fn buffers_of_both_directions_are_refused() {
    let rule = |buffers: &str| format!("alert http any any -> any any ({buffers} sid:1;)");
    let uri = "http.uri; content:\"/x\";";
    let status = "http.stat_code; content:\"200\";";
    let problem = &read(&rule(&format!("{uri} {status}"))).problems[0];
    assert!(problem.why.ends_with("=> is for both"), "{}", problem.why);
    let both = "http.header; content:\"a\";";
    assert!(read(&rule(&format!("{uri} {both}"))).problems.is_empty());
}

/// A class that nobody has described gives the lowest priority, and is told of.
#[test]
fn unknown_classes_stop_no_rule() {
    let text = "alert ip any any -> any any (classtype:our-own; sid:1;)\n\
        alert ip any any -> any any (classtype:our-own; priority:1; sid:2;)\n\
        alert ip any any -> any any (classtype:misc-attack; sid:3;)\n";
    let loaded = read(text);
    let priorities = loaded.set.rules.iter().map(|rule| rule.priority);
    assert!(priorities.eq([3, 1, 2]));
    assert_eq!(loaded.set.rules[0].class.text, "");
    assert_eq!(loaded.unknown_classes.get("our-own"), Some(&2));
    assert_eq!(loaded.unknown_classes.len(), 1);
}

/// Negated lists, networks and ranges; sets that nothing is left of are refused.
#[test]
fn headers_are_sets() {
    let rule = one("alert ip [10.0.0.0/8,!10.1.0.0/16] any <> ! 192.168.0.1 !$HTTP_PORTS (sid:1;)");
    let contains = |address: &str| rule.header.source.contains(address.parse().unwrap());
    assert!(contains("10.2.0.1") && !contains("10.1.0.1") && rule.header.both_ways);
    assert!(!rule.header.destination_ports.contains(80));
    assert_eq!(refused("alert ip !any any -> any any (sid:1;)").len(), 1);
}

/// A rule that needs a feature is left out and not wrong; one that needs a known version is read.
#[test]
fn requirements_are_answered() {
    let loaded = read(
        "alert ip any any -> any any (requires: version >= 7.0.3, keyword content; sid:1;)\n\
         alert ip any any -> any any (requires: version < 7; sid:2;)\n\
         alert ip any any -> any any (requires: feature magic; foo:1; sid:3;)\n",
    );
    assert_eq!((loaded.set.rules.len(), loaded.left_out.len()), (1, 2));
    assert!(loaded.problems.is_empty());
}

/// Numbers that are read from the buffer have names that later terms use.
#[test]
fn variables_lead_from_term_to_term() {
    let rule = one(
        "alert tcp any any -> any any (content:\"a\"; byte_extract:2,1,len,relative,little; \
         byte_test:1,>,len,0,relative; content:\"b\"; within:len; isdataat:!len,relative; \
         byte_math:bytes 4, offset 0, oper +, rvalue len, result sum; byte_jump:4,sum; sid:1;)",
    );
    assert_eq!(rule.variables, 2);
    let text = "alert tcp any any -> any any (content:\"a\"; depth:len; sid:1;)";
    assert_eq!(refused(text).len(), 1);
}

proptest! {
    /// No text makes the reader panic, and each problem can be shown.
    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,200}") {
        crate::fuzz_rules(text.as_bytes());
    }

    /// The same of texts that nearly are rules.
    #[test]
    fn nearly_rules_are_read_or_refused(
        parts in prop::collection::vec(prop::sample::select(PARTS), 0..14),
    ) {
        let text = format!("alert tcp any any -> any any ({})", parts.concat());
        crate::fuzz_rules(text.as_bytes());
    }
}

const PARTS: &[&str] = &[
    "content:\"a|00|b\";",
    "content:!\"b\";",
    "http_uri;",
    "http.uri;",
    "depth:5;",
    "offset:1;",
    "within:9;",
    "distance:-1;",
    "nocase;",
    "fast_pattern:1,1;",
    "pcre:\"/a/R\";",
    "pcre:\"//\";",
    "byte_test:4,>,1,0;",
    "byte_extract:4,0,x;",
    "byte_jump:x,x;",
    "isdataat:!1,relative;",
    "base64_decode:relative;",
    "base64_data;",
    "bsize:<3;",
    "urilen:1<>5;",
    "absent;",
    "xor:\"ab\";",
    "flowbits:set,a;",
    "flowbits:isset,a|b;",
    "threshold:type limit,track by_src,count 1,seconds 1;",
    "sid:1;",
    "dotprefix;",
    "\\;",
    "\"",
    ";",
    "flags:S+,CE;",
    "dsize:!1;",
    "é:",
    "stream_size:x;",
    "flow.pkts:toserver,>3;",
    "flow.age:1<>9;",
];

/// Rules on both directions: each buffer has a side, by its nature or by its word.
#[test]
fn rules_on_both_directions_name_sides() {
    let rule = one(
        "alert http any any => any any (http.uri; content:\"/a\"; http.connection:to_client; \
         content:\"keep\"; filesize:to_client,>5; sid:1;)",
    );
    assert!(rule.header.transactional);
    let sides: Vec<_> = rule.inspections.iter().map(|one| one.to_server).collect();
    assert_eq!(sides, [Some(true), Some(false), Some(false)]);
    let wrong = "\
alert http any any => any any (http.connection; content:\"a\"; http.uri; content:\"b\"; sid:1;)
alert http any any => any any (http.uri; content:\"a\"; sid:2;)
alert http any any => any any (flow:to_server; http.uri; content:\"a\"; sid:3;)
alert tls any any => any any (tls.sni; content:\"a\"; tls.cert_subject; content:\"b\"; sid:4;)
alert http any any => any any (http.connection:both; content:\"a\"; sid:5;)
";
    let places: Vec<(u32, u32)> = refused(wrong).iter().map(|one| (one.0, one.1)).collect();
    assert_eq!(places, [(1, 32), (2, 32), (3, 32), (4, 31), (5, 48)]);
}

/// Fields of packets, and the entropy of buffers: values that they cannot have are refused.
#[test]
fn fields_of_packets_have_values_that_they_can_have() {
    for good in [
        "tcp.mss:<1400",
        "tcp.wscale:>10",
        "icmpv6.mtu:1280",
        "vlan.layers:2",
        "vlan.id:200",
        "vlan.id:!1-9,-1",
        "vlan.id:7,any",
        "ipopts:lsrr",
        "l3_proto:ipv6",
        "tcpv4-csum:invalid",
        "ftpbounce",
        "http.uri; entropy: offset 10, bytes 20, value >= 4.5",
        "http.uri; entropy: value !4-5",
        "tls.random; content:\"a\"",
        "ssl_version:!tls1.2,!tls1.3",
        "tls.cert_chain_len:>2",
        "ssl_state:client_hello|server_keyx",
        "ssl_state:!server_hello",
        "ssl_state:server_hello , client_hello|client_keyx",
        "tls_cert_notbefore:>2026-11-28T20:30",
        "tls_cert_notafter:2026<>2027-06",
        "tls_cert_notafter:2026-11-28 21<>2026-11-28 22:30",
        "tls_cert_notbefore:<1609459200",
        "tls_cert_expired",
        "tls_cert_valid; tls.store",
        "asn1:oversize_length 10, relative_offset -3",
        "asn1:bitstring_overflow,double_overflow",
        "ssh.protoversion:2_compat; ssh.softwareversion:\"OpenSSH\"",
        "ssh.protoversion:1.99; ssh.softwareversion:OpenSSH_9.6p1 Debian",
        "app-layer-protocol:!postgresql",
        "app-layer-protocol:http1,original",
    ] {
        one(&format!("alert ip any any -> any any ({good}; sid:1;)"));
    }
    for (bad, column) in [
        ("vlan.id:4096", 38),
        ("vlan.id:7,3", 40),
        ("ipopts:loose", 37),
        ("l3_proto:5", 39),
        ("udpv6-csum:bad", 41),
        ("entropy: value 4", 30),
        ("http.uri; entropy: value 9", 55),
        ("http.uri; entropy: value 5-4", 55),
        ("http.uri; entropy: offset 1", 40),
        ("http.uri; entropy: size 1", 49),
        ("tcp.mss:x", 38),
        ("ssl_version:tls1.4", 42),
        ("ssl_version:tls1.2,!tls1.3", 50),
        ("tls.cert_chain_len:a", 49),
        ("ssl_state:client_hello|finished", 53),
        ("ssl_state:", 30),
        ("tls_cert_notbefore:>2026-13", 50),
        ("tls_cert_notafter:2027<>2026", 48),
        ("tls_cert_notafter:2026-11-28  21", 48),
        ("tls_cert_notafter:99999999999999999999", 48),
        ("ssl_state:client_hello,,server_hello", 53),
        ("ssh.protoversion:!2.0", 47),
        ("ssh.protoversion:two", 47),
        ("ssh.softwareversion:Open*", 50),
        ("asn1:relative_offset 1", 35),
        ("asn1:oversize_length", 35),
        ("asn1:overflow", 35),
        ("app-layer-protocol:bogus", 49),
        ("app-layer-protocol:!unknown", 50),
    ] {
        let found = refused(&format!("alert ip any any -> any any ({bad}; sid:1;)"));
        assert_eq!(found.len(), 1, "{bad}");
        assert_eq!(found[0].1, column, "{bad}: {}", found[0].2);
    }
}

/// A buffer that a message has many of is another one each time that it is named.
#[test]
fn buffers_of_many_are_asked_for_apart() {
    let count = |name: &str| {
        let rule = format!("{name}; content:\"a\"; {name}; content:\"b\"; sid:1;");
        one(&format!("alert ip any any -> any any ({rule})"))
            .inspections
            .len()
    };
    assert_eq!(
        ["file.data", "dns.query", "tls.certs", "http.uri"].map(count),
        [2, 2, 2, 1]
    );
}
