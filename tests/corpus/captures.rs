//! The bundled captures against their ground truth, which was known before they were recorded.

use crate::records::{address, number, records};
use flowpin_testkit::corpus;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Every connection that the recording's programs made is found once, with the state and the
/// packets that are certain, and nothing else is found.
#[test]
fn recorded_connections_are_found_and_no_others() {
    for path in corpus::bundled() {
        check(&path);
    }
}

fn check(path: &Path) {
    let name = path.file_name().unwrap().to_string_lossy();
    let stem = name.split('.').next().unwrap();
    let truth = fs::read(path.with_file_name(format!("{stem}.json"))).unwrap();
    let truth: Value = serde_json::from_slice(&truth).unwrap();
    let found = records(path, &["--timeouts", "none"]);
    assert_eq!(found.code, 0, "{name}: {}", found.stderr);
    let mut left: Vec<&Value> = found.flows().filter(|flow| !is_background(flow)).collect();
    for entry in truth["connections"].as_array().unwrap() {
        let (mine, others): (Vec<_>, Vec<_>) =
            left.into_iter().partition(|flow| is_one_of(flow, entry));
        // Bounds of ports may overlap with the next entry's: take as many as there are.
        let count = usize::try_from(number(&entry["count"])).unwrap();
        assert!(mine.len() >= count, "{name}: {} of {entry}", mine.len());
        for flow in &mine[..count] {
            certain(&name, flow, entry);
        }
        left = others;
        left.extend(&mine[count..]);
    }
    assert!(
        left.is_empty(),
        "{name}: not made by any program: {left:#?}"
    );
}

/// What no program of the recording asked for: neighbour discovery and multicast reports, which
/// every IPv6 host sends by itself; and ARP inside VXLAN, which is no IP packet, so that its outer
/// datagram is a connection.
fn is_background(flow: &Value) -> bool {
    let kind = number(&flow["icmp_type"]);
    let is_discovery = flow["proto"] == "IPv6-ICMP" && matches!(kind, 130..=137 | 143);
    // 8 bytes of VXLAN, 14 of Ethernet, 28 of ARP.
    let payload = &flow["flowpin"]["payload_toserver"];
    let is_arp = flow["dest_port"] == 4789 && number(payload).is_multiple_of(50);
    is_discovery || is_arp
}

fn is_one_of(flow: &Value, entry: &Value) -> bool {
    let protocol = match entry["protocol"].as_str().unwrap() {
        "icmp6" => "IPv6-ICMP".to_owned(),
        other => other.to_uppercase(),
    };
    let same = |field: &str, side: &str| {
        address(flow, field)
            == entry[side]
                .as_str()
                .unwrap()
                .parse::<std::net::IpAddr>()
                .unwrap()
    };
    let ports = if protocol.contains("ICMP") {
        flow["icmp_type"] == entry["client_port"]
    } else {
        within(&flow["src_port"], &entry["client_port"])
            && within(&flow["dest_port"], &entry["server_port"])
    };
    flow["proto"] == protocol.as_str()
        && same("src_ip", "client")
        && same("dest_ip", "server")
        && ports
}

/// Whether a port is the one, or between the two.
fn within(port: &Value, known: &Value) -> bool {
    match known.as_array().map(Vec::as_slice) {
        Some([low, high]) => (number(low)..=number(high)).contains(&number(port)),
        _ => port == known,
    }
}

fn certain(name: &str, flow: &Value, entry: &Value) {
    if let Some(state) = entry["conn_state"].as_str() {
        assert_eq!(
            flow["flowpin"]["conn_state"], state,
            "{name}: {entry}\n{flow}"
        );
    }
    if let Some(packets) = entry["packets"].as_u64() {
        let flow_packets =
            number(&flow["flow"]["pkts_toserver"]) + number(&flow["flow"]["pkts_toclient"]);
        assert_eq!(flow_packets, packets, "{name}: {entry}\n{flow}");
    }
    if let Some(tunnel) = entry["tunnel"].as_str().filter(|&tunnel| tunnel != "vlan") {
        let kind = &flow["flowpin"]["tunnel"]["kind"];
        assert_eq!(*kind, tunnel, "{name}: {flow}");
    }
    if entry["tunnel"] == "vlan" {
        assert_eq!(flow["vlan"], serde_json::json!([200, 31]), "{name}: {flow}");
    }
}
