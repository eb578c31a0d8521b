//! What Wireshark makes of the traces.

use flowpin_gen::{Kind, Options, Troubles, Tunnel, generate};
use flowpin_testkit::corpus::skip;
use std::fs::File;
use std::path::Path;
use std::process::Command;

fn tshark(words: &[&str], path: &Path) -> Option<String> {
    let output = Command::new("tshark")
        .arg("-r")
        .arg(path)
        .args(words)
        .output();
    match output {
        Ok(output) => {
            assert!(
                output.status.success(),
                "{}",
                String::from_utf8_lossy(&output.stderr)
            );
            Some(String::from_utf8_lossy(&output.stdout).into_owned())
        }
        Err(_) => {
            skip("traces as tshark reads them", "tshark is not installed");
            None
        }
    }
}

fn options() -> Vec<Options> {
    let small = |kind| Options {
        connections: 150,
        v6: 0.2,
        ..Options::new(kind)
    };
    let mut all: Vec<_> = [
        Kind::Http,
        Kind::Fix,
        Kind::Mix,
        Kind::Dns,
        Kind::Scan,
        Kind::Flood,
        Kind::Fragments,
        Kind::Connections,
    ]
    .into_iter()
    .map(small)
    .collect();
    let tunnels = [
        Tunnel::Vxlan,
        Tunnel::Geneve,
        Tunnel::Gre,
        Tunnel::Gtpu,
        Tunnel::IpInIp,
    ];
    all.extend(tunnels.into_iter().map(|tunnel| Options {
        tunnel,
        ..small(Kind::Http)
    }));
    all.push(Options {
        vlans: vec![7, 9],
        chunked: 0.3,
        straddling: 0.1,
        ..small(Kind::Http)
    });
    all
}

/// Wireshark knows these protocols better than we do: it must find no error in what we made.
#[test]
fn tshark_finds_no_error() {
    let folder = tempfile::tempdir().unwrap();
    for (nth, options) in options().iter().enumerate() {
        let path = folder.path().join(format!("{nth}.pcap"));
        let totals = generate(options, File::create(&path).unwrap(), None).unwrap();
        let words = [
            "-q",
            "-o",
            "ip.check_checksum:TRUE",
            "-o",
            "tcp.check_checksum:TRUE",
            "-o",
            "udp.check_checksum:TRUE",
            "-z",
            "expert,warn",
            "-z",
            "io,stat,0",
        ];
        let Some(told) = tshark(&words, &path) else {
            return;
        };
        assert!(!told.contains("Errors ("), "{options:?}\n{told}");
        // Resets of probes were asked for.
        let warned = told.lines().filter(|line| line.contains("Sequence"));
        let others: Vec<_> = warned
            .filter(|line| !line.contains("Connection reset"))
            .collect();
        assert!(others.is_empty(), "{options:?}\n{others:?}");
        let row = told.lines().rfind(|line| line.contains("<>")).unwrap();
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        assert_eq!(cells[2], totals.packets.to_string(), "{row}");
        assert_eq!(cells[3], totals.frame_bytes.to_string(), "{row}");
    }
}

/// The TCP connections that Wireshark counts, and the troubles that it sees.
#[test]
fn tshark_counts_the_same_connections_and_troubles() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("http.pcap");
    let troubles = Troubles {
        lost: 0.03,
        ..Troubles::default()
    };
    let options = Options {
        connections: 200,
        troubles,
        ..Options::new(Kind::Http)
    };
    let totals = generate(&options, File::create(&path).unwrap(), None).unwrap();
    let fields = [
        "-Y",
        "tcp.flags.syn == 1 && tcp.flags.ack == 0",
        "-T",
        "fields",
        "-e",
        "tcp.stream",
    ];
    let Some(streams) = tshark(&fields, &path) else {
        return;
    };
    assert_eq!(streams.lines().count() as u64, totals.connections);
    // Behind a hole, and what fills it.
    let filter = ["-Y", "tcp.analysis.lost_segment"];
    let holes = tshark(&filter, &path).unwrap().lines().count() as u64;
    assert_eq!(holes, totals.lost);
    let filter = [
        "-Y",
        "tcp.analysis.retransmission || tcp.analysis.out_of_order",
    ];
    let filled = tshark(&filter, &path).unwrap().lines().count() as u64;
    assert_eq!(filled, totals.lost);
    let words = [
        "-o",
        "tcp.reassemble_out_of_order:TRUE",
        "-q",
        "-z",
        "expert,error",
    ];
    let told = tshark(&words, &path).unwrap();
    assert!(!told.contains("Errors ("), "{told}");
}
