//! The same bytes for every shape; nothing but alerts beside what a run without rules writes.

use crate::talk::{EXCHANGE, log, mixed, plan, sids, talk};
use flowpin_config::Plan;

/// Packets, streams, messages, bodies, bits of connections and of hosts, counted alerts.
const RULES: &str = "\
alert tcp any any -> any 80 (msg:\"syn\"; flags:S; sid:1;)
alert tcp any any -> any any (msg:\"stream\"; flow:established,to_server; content:\"curl\"; sid:2;)
alert http any any -> any any (msg:\"uri\"; http.uri; content:\"/one/x\"; startswith; sid:3;)
alert http any any -> any any (msg:\"body\"; file.data; content:\"world\"; endswith; sid:4;)
alert http any any -> any any (msg:\"sent\"; http.request_body; content:\"secret\"; bsize:6; sid:5;)
alert http any any -> any any (msg:\"few\"; http.stat_code; content:\"200\"; \
threshold:type limit, track by_dst, count 3, seconds 60; sid:6;)
alert http any any -> any any (msg:\"many\"; http.method; content:\"GET\"; \
threshold:type threshold, track by_rule, count 4, seconds 60; sid:7;)
alert http any any -> any any (http.uri; content:\"/two\"; xbits:set,seen,track ip_dst,expire 60; \
noalert; sid:8;)
alert http any any -> any any (msg:\"again\"; http.user_agent; content:\"curl\"; \
xbits:isset,seen,track ip_dst; sid:9;)
alert ip 10.0.0.7 any -> any any (msg:\"host\"; sid:10;)
";

fn traffic() -> Vec<Vec<u8>> {
    let hosts = 1..30_u8;
    mixed(
        hosts
            .map(|host| talk(EXCHANGE, usize::from(host) * 7, host))
            .collect(),
    )
}

/// The first promise, of alerts too.
#[test]
fn alerts_are_the_same_for_every_shape() {
    let frames = traffic();
    let written = |pipeline: &str, change: fn(&mut Plan)| {
        let mut plan = plan(RULES);
        plan.pipeline = pipeline.parse().unwrap();
        change(&mut plan);
        log(&frames, plan)
    };
    let reference = written("1x1", |_| {});
    for sid in [1, 2, 3, 4, 5, 6, 7, 9, 10] {
        assert!(
            reference.contains(&format!("\"signature_id\":{sid},")),
            "{sid}"
        );
    }
    assert!(!reference.contains("\"signature_id\":8,"));
    for pipeline in ["1x2", "1x3", "1x7", "2x1", "2x4", "3x3"] {
        assert!(written(pipeline, |_| {}) == reference, "{pipeline}");
    }
    let small: fn(&mut Plan) = |plan| plan.piece_bytes = 4096;
    assert!(written("2x3", small) == reference, "small pieces");
    let tight: fn(&mut Plan) = |plan| plan.memory_bytes = 16 << 20;
    assert!(
        written("1x1", tight) == written("2x3", tight),
        "little memory"
    );
}

/// Rules add alerts, and change no other record, but for the word that there were some.
#[test]
fn rules_change_no_other_record() {
    let frames = traffic();
    let log_with = log(&frames, plan(RULES));
    assert!(log_with.contains("\"alerted\":true"));
    let log_with = log_with.replace("\"alerted\":true", "\"alerted\":false");
    let without = log(&frames, Plan::default());
    let others = log_with
        .lines()
        .filter(|line| !line.contains("\"event_type\":\"alert\""));
    let without: Vec<&str> = without.lines().collect();
    assert_eq!(others.collect::<Vec<_>>(), without);
}

/// Of streams and messages the same rules alert, however segments cut them.
#[test]
fn segments_do_not_show() {
    let rules: String = RULES
        .lines()
        .filter(|line| !line.contains("flags:S"))
        .collect::<Vec<_>>()
        .join("\n");
    let rules = rules.replace("xbits:isset,seen,track ip_dst; ", "");
    let sorted = |size: usize| {
        let mut found = sids(&talk(EXCHANGE, size, 1), &rules);
        found.sort_unstable();
        found
    };
    let whole = sorted(2000);
    assert!(whole.contains(&2) && whole.contains(&3) && whole.contains(&5));
    for size in [1, 2, 3, 16, 17, 100] {
        assert_eq!(sorted(size), whole, "segments of {size}");
    }
}
