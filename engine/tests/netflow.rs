//! `netflow` events: each direction of a connection, the same for any number of workers.
#![allow(clippy::unwrap_used, reason = "also in functions that tests share")]

use core::net::IpAddr;
use flowpin_config::{Input, Plan};
use flowpin_engine::Control;
use flowpin_testkit::build::Ip;
use flowpin_testkit::pcap::ethernet_file;
use std::path::Path;

/// Questions of 500 clients, each fourth of which is not answered.
fn capture() -> Vec<u8> {
    let server = IpAddr::from([192, 0, 2, 1]);
    let mut frames = Vec::new();
    for nth in 0..500_u16 {
        let [high, low] = nth.to_be_bytes();
        let client = IpAddr::from([10, 0, high, low]);
        frames.push(
            Ip::new(client, server)
                .udp(20_000 + nth, 5000, &[0; 20])
                .ethernet(),
        );
        if nth % 4 != 0 {
            let back = Ip::new(server, client).udp(5000, 20_000 + nth, &[0; 100]);
            frames.push(back.ethernet());
            frames.push(
                Ip::new(server, client)
                    .udp(5000, 20_000 + nth, &[0; 200])
                    .ethernet(),
            );
        }
    }
    let timed = frames.iter().zip(1u64..);
    ethernet_file(timed.map(|(frame, n)| (n * 300_000_000, frame.as_slice()))).unwrap()
}

fn run(capture: &Path, pipeline: &str, parses: bool) -> String {
    let folder = tempfile::tempdir().unwrap();
    let mut plan = Plan {
        inputs: vec![Input::File(capture.to_owned())],
        pipeline: pipeline.parse().unwrap(),
        ..Plan::default()
    };
    plan.output.dir = folder.path().to_owned();
    plan.output.netflow = true;
    plan.parse.enabled = parses;
    flowpin_engine::run(&plan, &Control::default(), &()).unwrap();
    std::fs::read_to_string(folder.path().join("eve.json")).unwrap()
}

#[test]
fn each_direction_with_packets_has_an_event_behind_its_connections() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("some.pcap");
    std::fs::write(&path, capture()).unwrap();
    let whole = run(&path, "1x1", true);
    assert_eq!(run(&path, "1x1", false), whole);
    for pipeline in ["1x3", "2x2", "3x3"] {
        assert!(run(&path, pipeline, true) == whole, "{pipeline}");
    }
    let events = whole
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let events: Vec<_> = events.collect();
    let of = |kind: &str| {
        events
            .iter()
            .filter(|event| event["event_type"] == kind)
            .count()
    };
    assert_eq!((of("flow"), of("netflow")), (500, 500 + 375));
    for (at, event) in events
        .iter()
        .enumerate()
        .filter(|(_, one)| one["event_type"] == "flow")
    {
        let mut behind = events[at + 1..].iter();
        for name in ["toserver", "toclient"] {
            let packets = &event["flow"][format!("pkts_{name}")];
            if *packets == 0 {
                continue;
            }
            let other = behind.next().unwrap();
            assert_eq!(other["event_type"], "netflow", "{event} {other}");
            assert_eq!(other["flow_id"], event["flow_id"]);
            assert_eq!(other["netflow"]["pkts"], *packets);
            assert_eq!(
                other["netflow"]["bytes"],
                event["flow"][format!("bytes_{name}")]
            );
            let source = if name == "toserver" {
                "src_ip"
            } else {
                "dest_ip"
            };
            assert_eq!(other["src_ip"], event[source]);
            for time in ["start", "end", "age"] {
                assert_eq!(other["netflow"][time], event["flow"][time], "{time}");
            }
        }
    }
}
