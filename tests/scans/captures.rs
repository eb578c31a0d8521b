//! What is found in the public corpus, and what is not: no capture but these gives an alarm.

use crate::detect::detect;
use flowpin_portscan::ScanOptions;
use flowpin_testkit::corpus;
use std::collections::BTreeMap;

/// Capture (the end of its name), what must be found (empty: nothing), why.
const EXPECTED: &[(&str, &str, &str)] = &[
    (
        "network_analysis/capture.pcap",
        "horizontal syn 4707 hosts 3 ports",
        "a worm looks for web servers on thousands of hosts",
    ),
    (
        "right.zip.d/right.pcap",
        "vertical syn 1 hosts 1000 ports; vertical syn 1 hosts 1000 ports; \
         vertical syn 1 hosts 1000 ports; vertical syn 1 hosts 1000 ports",
        "nmap's thousand usual ports, from one host, at four times",
    ),
    (
        "unit_tests/pcaps/smb.pcap",
        "block connect 101 hosts 3 ports",
        "a host looks for file servers (139 and 445) on a hundred others",
    ),
    (
        "unit_tests/pcaps/emix.pcap",
        "block connect 101 hosts 3 ports",
        "has the packets of smb.pcap among others",
    ),
    (
        "default/pcap/tcp_scan.pcapng",
        "",
        "one probe of each method, each to another port: fewer than anybody calls a scan",
    ),
    (
        "default/pcap/whatsapp.pcap",
        "",
        "an ordinary client's traffic; in this category for its many connections",
    ),
    (
        "dhcp-request-flood/test.pcap",
        "",
        "requests to the broadcast address, which no one host is flooded by",
    ),
    (
        "dnp3-flood/input.pcap",
        "",
        "many messages in one connection: for the protocol's parser",
    ),
    (
        "dhcp/dhcp_flood.pcap",
        "",
        "requests to the broadcast address",
    ),
];

/// Scans are found where they are, and nowhere else: every capture of the corpus is looked at, by
/// default those up to 50 MB.
#[test]
fn scans_are_found_and_ordinary_traffic_gives_no_alarm() {
    let bytes_max = if corpus::is_long() {
        u64::MAX
    } else {
        50 << 20
    };
    let options = ScanOptions::default();
    let (mut looked, mut wrong, mut seen) = (0, Vec::new(), BTreeMap::new());
    for capture in corpus::captures(&[], "scans in captures") {
        let bytes = capture.path.metadata().map_or(0, |metadata| metadata.len());
        if bytes > bytes_max {
            continue;
        }
        looked += 1;
        let found = detect(&capture.path, &options).words();
        let row = EXPECTED
            .iter()
            .find(|(name, ..)| capture.name.ends_with(name));
        let expected = row.map_or("", |(_, expected, _)| *expected);
        if let Some((name, ..)) = row {
            seen.insert(*name, ());
        }
        if found != expected {
            wrong.push(format!(
                "{}: {found:?}, expected {expected:?}",
                capture.name
            ));
        }
    }
    assert!(wrong.is_empty(), "{} captures: {wrong:#?}", looked);
    assert!(
        looked == 0 || seen.len() == EXPECTED.len(),
        "rows without a capture: {seen:?}"
    );
}

/// Our own recordings are ordinary traffic, but for the two in which nmap is run.
#[test]
fn bundled_captures_give_no_alarm_but_for_nmap() {
    for path in corpus::bundled() {
        let found = detect(&path, &ScanOptions::default());
        let name = path.file_name().unwrap().to_string_lossy();
        let expected = match name.as_ref() {
            // 40 ports of one host, 20 of another.
            "scan.pcap" => "block syn 2 hosts 60 ports",
            // The same, and four servers that refuse or are silent.
            "lab-day.pcapng" => "block syn 5 hosts 62 ports",
            _ => "",
        };
        assert_eq!(found.words(), expected, "{name}");
    }
}
