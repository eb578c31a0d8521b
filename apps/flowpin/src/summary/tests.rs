//! The summary as a whole, over a report made by hand.

use super::{Detail, json, text};
use flowpin_counters::Loss;
use flowpin_engine::{
    Anomaly, Conservation, HostPair, InputReport, OutputReport, Ranking, RunReport, Traffic,
    VlanTags, WorkerReport,
};
use flowpin_packet::{Layer, Reason, Timestamp, bad};
use flowpin_record::{
    ConnState, EpisodeState, FloodKind, FloodRecord, Samples, ScanKind, ScanMethod, ScanRecord, Uid,
};
use std::time::Duration;

/// A run with something in every section.
fn report() -> RunReport {
    let mut report = RunReport {
        packets: 86_620,
        frame_bytes: 30_734_812,
        wall: Duration::from_millis(28),
        cpu: Duration::from_millis(54),
        peak_memory_bytes: 47 << 20,
        first: Some(Timestamp::new(1_295_981_542, 708_292_000)),
        last: Some(Timestamp::new(1_295_982_063, 12_345)),
        pipeline: "2x2".to_owned(),
        conservation: Conservation {
            received: 86_620,
            on_connections: 86_000,
            icmp_errors: 100,
            absorbed: 20,
            non_ip: 480,
            malformed: 20,
            ..Conservation::default()
        },
        ..RunReport::default()
    };
    let traffic = |connections, packets, bytes| Traffic {
        connections,
        packets,
        bytes,
    };
    let sums = &mut report.found.connections;
    sums.by_protocol
        .insert(6, traffic(4_121, 70_000, 28_100_000));
    sums.by_protocol
        .insert(17, traffic(2_401, 16_000, 2_400_000));
    sums.by_protocol.insert(253, traffic(1, 2, 120));
    sums.by_state[ConnState::SF as usize] = 6_000;
    sums.by_state[ConnState::S0 as usize] = 523;
    sums.by_port
        .insert((6, 443), traffic(2_001, 50_000, 23_100_000));
    sums.by_port
        .insert((17, 53), traffic(2_399, 15_000, 2_300_000));
    let [first, second] = ["10.0.0.1", "2001:db8::1"].map(|text| text.parse().unwrap());
    let (heavy, light) = (traffic(4_000, 80_000, 30_000_000), traffic(4, 80, 30_000));
    let talkers = &mut report.found.hosts.talkers;
    *talkers = Ranking::new(100);
    talkers.keys = 2;
    talkers.put(first, heavy, false);
    talkers.put(second, light, false);
    let pairs = &mut report.found.hosts.pairs;
    *pairs = Ranking::new(100);
    pairs.keys = 150_000;
    pairs.rest = light;
    let [client, server] = [second, first];
    pairs.put(HostPair { client, server }, heavy, true);
    let vlans = &mut report.found.vlans;
    vlans.tagged = Ranking::new(100);
    vlans.tagged.keys = 2;
    for (outer, inner, traffic) in [(30, None, heavy), (200, Some(7), light)] {
        vlans.tagged.put(VlanTags { outer, inner }, traffic, false);
    }
    vlans.untagged = light;
    report.quality.duplicates = 1_204;
    report.quality.tcp_connections = 4_121;
    report.quality.one_sided = 3;
    report.quality.missed_bytes = 1_200_000;
    report.quality.stream_bytes = 25_000_000;
    report.quality.backwards = 12;
    report.quality.backwards_max_ns = 3_200_000;
    report.reassembly.in_order = 24_000_000;
    report.reassembly.considered = 10_000;
    report.reassembly.duplicate = 10_000;
    report.reassembly.gaps = 3;
    report.reassembly.gap_bytes = 4_380;
    report.reassembly.anomalies[Anomaly::OverlapDiffers as usize] = 2;
    report.found.scans.scan_count = 1;
    report.found.scans.scans.push(scan());
    report.found.scans.flood_count = 7;
    report.found.scans.floods.push(flood());
    report.losses.count(Loss::ConnectionsEvicted, 42);
    for _ in 0..20 {
        report.refusals.count(bad(Layer::Tcp, Reason::Truncated, 0));
    }
    for packets in [60_000, 26_000] {
        report.workers.push(WorkerReport {
            packets,
            connections: packets / 20,
            heaviest_packets: packets / 2 + 20_000,
            held_bytes_max: 0,
            cpu_ns: packets * 200,
        });
    }
    report.inputs.push(InputReport {
        is_live: false,
        path: "captures/one.pcap".into(),
        format: "pcap, gzip".to_owned(),
        packets: 86_620,
        notes: Vec::new(),
        damage: None,
        unopened: false,
    });
    report.outputs.push(OutputReport {
        path: "logs/eve.json".into(),
        records: 6_523,
        bytes: 4_123_456,
    });
    report
}

fn scan() -> ScanRecord {
    let [source, host] = ["10.0.0.66", "10.0.0.1"].map(|text| text.parse().unwrap());
    ScanRecord {
        uid: Uid(1),
        state: EpisodeState::Over,
        kind: ScanKind::Vertical,
        method: ScanMethod::Syn,
        source,
        source_count: 4,
        sources: Samples::first(source, [source]),
        first: Timestamp::new(1_295_981_600, 0),
        last: Timestamp::new(1_295_981_602, 500_000_000),
        first_packet: 9,
        attempts: 1010,
        hosts: 1,
        ports: 1000,
        targets: 1000,
        open: 3,
        closed: 990,
        filtered: 7,
        estimated: false,
        host_samples: Samples::first(host, [host]),
        port_samples: Samples::first(0, [22, 80]),
    }
}

fn flood() -> FloodRecord {
    let [source, target] = ["198.18.0.1", "10.0.0.2"].map(|text| text.parse().unwrap());
    FloodRecord {
        uid: Uid(2),
        state: EpisodeState::Over,
        kind: FloodKind::Syn,
        target,
        port: Some(80),
        first: Timestamp::new(1_295_981_700, 0),
        last: Timestamp::new(1_295_981_760, 0),
        first_packet: 99,
        source_count: 19_000,
        sources: Samples::first(source, [source]),
        packets: 20_000,
        peak_rate: 1_234,
        estimated: true,
    }
}

/// The text without styles.
fn plain(report: &RunReport, width: usize) -> String {
    let styled = text(report, Detail::Some, width);
    anstream::adapter::strip_str(&styled).to_string()
}

/// The summary has the figures and explains them.
#[test]
fn summary_has_figures_and_explanations() {
    let text = plain(&report(), 100);
    for part in [
        "86,620",
        "30.7 MB",
        "at 3.09 Mpps",
        "8 min 40 s  2011-01-25 18:52:22 to 19:01:03 UTC",
        "IP protocol 253",
        "443/tcp",
        "https",
        "2001:db8::1",
        "were captured twice",
        "connections_evicted",
        "raise --memory",
        "one connection has 58.1 % of all packets",
        "86,620 received = 86,600 finished + 20 absorbed + 0 held + 0 lost",
        "logs/eve.json",
        "Scans and floods  1 scan, 7 floods",
        "by 10.0.0.66 and 3 decoys",
        "tried 10.0.0.1 and 1,000 ports: 3 open, 990 closed,",
        "on 10.0.0.2, port 80",
        "about 20,000 packets from about 19,000 sources",
        "and 6 more",
        "tcp_overlap_differs",
        "4.38 kB",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

/// No line is wider than the screen.
#[test]
fn explanations_wrap_to_the_screen() {
    for line in plain(&report(), 100).lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
}

/// The number of verdicts taken back is in the detailed summary and in the JSON.
#[test]
fn verdicts_that_were_taken_back_are_counted() {
    let mut report = report();
    report.identify.searched = 6_000;
    report.identify.inspected = 9_000;
    report.identify.taken_back = 3;
    let all = text(&report, Detail::All, 100);
    let all = anstream::adapter::strip_str(&all).to_string();
    assert!(all.contains("3 verdicts taken back"), "{all}");
    let value: serde_json::Value = serde_json::from_str(&json(&report).unwrap()).unwrap();
    assert_eq!(value["identification"]["verdicts_taken_back"], 3);
    assert_eq!(value["identification"]["packets_per_connection"], 1.5);
}

/// A run without packets has a summary, without divisions by zero.
#[test]
fn empty_run_has_a_summary() {
    let text = plain(&RunReport::default(), 80);
    assert!(text.contains("0 received = 0 finished"), "{text}");
    assert!(text.contains("none: no cap was reached"), "{text}");
    assert!(
        !text.contains("Scans") && !text.contains("streams"),
        "{text}"
    );
    assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
}

/// VLANs are in the text only if there are some, and what had none with them.
#[test]
fn vlans_and_what_had_none_are_listed() {
    let text = plain(&report(), 100);
    for part in [
        "Top VLANs  of 2 VLANs\n",
        "  30     4,000 connections  30.0 MB",
        "  200.7      4 connections  30.0 kB",
        "  without a VLAN: 4 connections, 30.0 kB\n",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let value: serde_json::Value = serde_json::from_str(&json(&report()).unwrap()).unwrap();
    let connections = &value["connections"];
    let [one, two] = [0, 1].map(|nth| &connections["top_vlans"][nth]);
    assert_eq!(
        (&one["vlan"], &two["vlan"]),
        (&[30].into(), &[200, 7].into())
    );
    assert_eq!(
        (&one["packets"], &one["estimated"]),
        (&80_000.into(), &false.into())
    );
    assert_eq!(connections["without_vlan"]["connections"], 4);
    assert_eq!(connections["vlans_untracked"], 0);
    let mut report = report();
    report.found.vlans.tagged.keys = 0;
    assert!(!plain(&report, 100).contains("VLAN"));
}

/// Estimates and missing rows of the tables of hosts are marked, in the text and in the JSON.
#[test]
fn hosts_beyond_the_cap_are_marked() {
    let text = plain(&report(), 100);
    assert!(text.contains("Top talkers  of 2 addresses"), "{text}");
    assert!(text.contains("of about 150,000 "), "{text}");
    assert!(text.contains("about 30.0 MB"), "{text}");
    let value: serde_json::Value = serde_json::from_str(&json(&report()).unwrap()).unwrap();
    let hosts = &value["connections"];
    assert_eq!(hosts["top_talkers"][0]["address"], "10.0.0.1");
    assert_eq!(hosts["top_talkers"][0]["estimated"], false);
    assert_eq!(hosts["addresses_untracked"], 0);
    assert_eq!(hosts["top_host_pairs"][0]["server"], "10.0.0.1");
    assert_eq!(hosts["top_host_pairs"][0]["estimated"], true);
    assert_eq!(hosts["host_pairs_untracked"], 4);
}

/// A packet not accounted for is a defect, and the summary says so.
#[test]
fn missing_packets_are_reported_as_a_defect() {
    let mut report = report();
    report.conservation.received += 1;
    assert!(plain(&report, 100).contains("1 packet is not accounted for"));
}

/// The JSON has every loss counter, including those at 0, and counts as numbers.
#[test]
fn json_has_every_counter() {
    let value: serde_json::Value = serde_json::from_str(&json(&report()).unwrap()).unwrap();
    assert_eq!(value["schema"], 1);
    assert_eq!(value["conservation"]["missing"], 0);
    assert_eq!(value["losses"]["connections_evicted"], 42);
    assert_eq!(value["losses"].as_object().unwrap().len(), Loss::ALL.len());
    assert_eq!(
        value["connections"]["by_server_port"][0]["service"],
        "https"
    );
    assert_eq!(value["scans"]["scans"][0]["ports"], 1000);
    assert_eq!(value["scans"]["floods"][0]["peak_packets_per_s"], 1234);
    assert_eq!(value["streams"]["delivered_bytes"], 24_000_000);
    assert_eq!(value["streams"]["anomalies"]["tcp_overlap_differs"], 2);
    let anomalies = value["streams"]["anomalies"].as_object().unwrap();
    assert_eq!(anomalies.len(), Anomaly::ALL.len());
    assert_eq!(value["traffic"]["first"], "2011-01-25T18:52:22.708292000Z");
}
