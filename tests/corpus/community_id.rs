//! Community IDs against the Python package `communityid`.

use crate::records::{address, number, records};
use flowpin_testkit::corpus;
use flowpin_testkit::python::Environment;
use serde_json::Value;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Reads "protocol source destination port port" lines, writes the identifiers.
const SCRIPT: &str = "
import sys, communityid
cid = communityid.CommunityID(seed=int(sys.argv[1]))
for line in sys.stdin:
    protocol, source, destination, sport, dport = line.split()
    if int(protocol) in (1, 6, 17, 58, 132):
        make = {1: communityid.FlowTuple.make_icmp, 58: communityid.FlowTuple.make_icmp6,
                6: communityid.FlowTuple.make_tcp, 17: communityid.FlowTuple.make_udp,
                132: communityid.FlowTuple.make_sctp}[int(protocol)]
        flow = make(source, destination, int(sport), int(dport))
    else:
        flow = communityid.FlowTuple.make_ip(source, destination, int(protocol))
    print(cid.calc(flow))
";

/// Each record of the bundled captures and of the mix trace has the identifier that the reference
/// implementation computes, also under another seed.
#[test]
fn identifiers_are_those_of_the_reference() {
    let Some(python) = python_with_reference() else {
        return;
    };
    let mut inputs = corpus::bundled();
    let public = corpus::captures(&["A mix", "D ip-frag"], "community IDs of public captures");
    inputs.extend(public.into_iter().map(|capture| capture.path));
    for seed in ["0", "1"] {
        let mut flows = Vec::new();
        for input in &inputs {
            let found = records(input, &["--community-seed", seed]);
            flows.extend(found.flows().cloned());
        }
        assert!(flows.len() > 200);
        let expected = reference(&python, seed, &flows);
        assert_eq!(expected.len(), flows.len());
        for (flow, expected) in flows.iter().zip(expected) {
            assert_eq!(flow["community_id"], expected.as_str(), "{flow}");
        }
    }
}

fn reference(python: &Path, seed: &str, flows: &[Value]) -> Vec<String> {
    let mut lines = String::new();
    for flow in flows {
        let (protocol, ports) = protocol_and_ports(flow);
        let (source, destination) = (address(flow, "src_ip"), address(flow, "dest_ip"));
        writeln!(
            lines,
            "{protocol} {source} {destination} {} {}",
            ports.0, ports.1
        )
        .unwrap();
    }
    let mut process = Command::new(python)
        .args(["-c", SCRIPT, seed])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = process.stdin.take().unwrap();
    let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()));
    let output = process.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(str::to_owned).collect()
}

/// The protocol number, and the ports or the ICMP type and code.
fn protocol_and_ports(flow: &Value) -> (u64, (u64, u64)) {
    let icmp = (number(&flow["icmp_type"]), number(&flow["icmp_code"]));
    let ports = (number(&flow["src_port"]), number(&flow["dest_port"]));
    match flow["proto"].as_str().unwrap() {
        "TCP" => (6, ports),
        "UDP" => (17, ports),
        "SCTP" => (132, ports),
        "ICMP" => (1, icmp),
        "IPv6-ICMP" => (58, icmp),
        name => {
            let named = (0..=u8::MAX).find(|&n| flowpin_record::eve_protocol_name(n) == Some(name));
            let number = named.map_or_else(|| name.parse().unwrap(), u64::from);
            (number, (0, 0))
        }
    }
}

/// A Python that has the package: in an environment of its own under the target folder.
fn python_with_reference() -> Option<PathBuf> {
    let environment = Environment {
        folder: &Path::new(env!("CARGO_TARGET_TMPDIR")).join("communityid"),
        packages: &["communityid==1.5"],
        modules: "communityid",
        what: "community IDs against the reference",
    };
    environment.python()
}
