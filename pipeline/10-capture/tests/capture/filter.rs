//! BPF filters: what tcpdump lets pass, passes.

use crate::build::{Kind, Layout, Sample, kinds, pieces_of, read, three};
use crate::corpus;
use flowpin_capture::{Options, Source};
use flowpin_config::Input;
use flowpin_packet::LinkType;
use std::path::Path;
use std::process::Command;

fn filtered(expression: &str) -> Options {
    Options {
        filter: expression.to_owned(),
        ..Options::default()
    }
}

/// An IPv4 packet with a UDP header, from port 53 to `port`.
fn udp(port: u16) -> Vec<u8> {
    let mut packet = vec![
        0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2,
    ];
    packet.extend([0, 53, (port >> 8) as u8, port as u8, 0, 8, 0, 0]);
    packet
}

fn sample(bytes: Vec<u8>) -> Sample {
    Sample {
        time_ns: 1_000_000,
        wire_len: 60,
        bytes,
        link: LinkType::Raw,
    }
}

/// One expression serves all link types of the input, compiled for each.
#[test]
fn a_filter_is_compiled_for_each_link_type() {
    for big_endian in [false, true] {
        let kind = Kind {
            layout: Layout::Micros,
            big_endian,
        };
        let mut raw = kind.file_header(101);
        let mut null = kind.file_header(0);
        let mut ethernet = kind.file_header(1);
        for port in [5000, 6000] {
            raw.extend(kind.record(&sample(udp(port))));
            // BSD loopback: the family (2 is IPv4) in the recording machine's byte order.
            let family = if big_endian {
                2_u32.to_be_bytes()
            } else {
                2_u32.to_le_bytes()
            };
            null.extend(kind.record(&sample([&family[..], &udp(port)].concat())));
            let header = [&[0; 12][..], &[8, 0], &udp(port)].concat();
            ethernet.extend(kind.record(&sample(header)));
        }
        let captures = vec![raw, null, ethernet];
        let (got, report) = read(captures, &filtered("udp dst port 5000")).unwrap();
        let links: Vec<_> = got.iter().map(|s| s.link).collect();
        assert_eq!(links, [LinkType::Raw, LinkType::Null, LinkType::Ethernet]);
        assert_eq!(report.rejected_by_filter, 3);
        assert_eq!(report.files.iter().map(|f| f.packets).sum::<u64>(), 6);
    }
}

/// `greater` is about the length on the wire, also where the capture is cut short.
#[test]
fn lengths_in_filters_are_those_on_the_wire() {
    let mut samples = three();
    samples[0].wire_len = 1500;
    let captures = vec![kinds()[0].capture(&samples)];
    let (got, _) = read(captures, &filtered("greater 1000")).unwrap();
    assert_eq!(got, samples[..1]);
}

/// A mistake in the expression is told before anything is read, in libpcap's words.
#[test]
fn a_filter_that_does_not_compile_is_a_usage_error() {
    for expression in ["tcp prot 80", "host", "port 99999"] {
        let captures = vec![kinds()[0].capture(&three())];
        let error = read(captures, &filtered(expression)).unwrap_err();
        assert!(error.is_usage());
        let text = error.to_string();
        assert!(
            text.contains(expression) && text.contains("link type 1 (EN10MB"),
            "{text}"
        );
        assert!(!text.contains('\n'));
    }
}

/// An expression that one link type can never match rejects its frames, and only those.
#[test]
fn what_cannot_match_is_rejected_and_the_rest_goes_on() {
    let kind = kinds()[0];
    let mut raw = kind.file_header(101);
    raw.extend(kind.record(&sample(udp(1))));
    let mut arp = three();
    arp.truncate(1);
    arp[0].bytes = [&[0; 12][..], &[8, 6], &[0; 28]].concat();
    let captures = vec![raw.clone(), kind.capture(&arp)];
    let (got, report) = read(captures, &filtered("arp")).unwrap();
    assert_eq!((got, report.rejected_by_filter), (arp, 1));
    let error = read(vec![raw], &filtered("arp")).unwrap_err();
    assert!(error.to_string().contains("rejects all packets"), "{error}");
}

/// A link type that turns up in the middle gets its own program.
#[test]
fn a_link_type_in_the_middle_is_filtered_too() {
    let kind = kinds()[10];
    assert_eq!(kind.layout, Layout::Enhanced);
    let mut bytes = kind.capture(&three());
    bytes.extend(kind.file_header(101));
    bytes.extend(kind.record(&sample(udp(5))));
    for piece_len in [64, 1 << 18] {
        let options = Options {
            filter: "udp port 5".to_owned(),
            ..pieces_of(piece_len)
        };
        let (got, report) = read(vec![bytes.clone()], &options).unwrap();
        assert_eq!((got.len(), report.rejected_by_filter), (1, 3));
    }
}

/// tcpdump is the oracle, on real captures of several link types.
#[test]
fn as_many_frames_pass_as_with_tcpdump() {
    let Some(root) = corpus::root() else { return };
    if Command::new("tcpdump").arg("--version").output().is_err() {
        println!("skipped: tcpdump is not installed");
        return;
    }
    let captures = root.join("pcaps/the-tcpdump-group+tcpdump/tests");
    let mut compared = 0;
    let mut paths: Vec<_> = captures
        .read_dir()
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    paths.sort();
    for path in paths
        .iter()
        .filter(|p| p.extension().is_some_and(|e| e == "pcap"))
        .step_by(9)
    {
        for expression in [
            "ip or ip6",
            "tcp port 80 or udp",
            "greater 100",
            "vlan",
            "ip[8] < 64",
        ] {
            compared += usize::from(agrees_with_tcpdump(path, expression));
        }
    }
    println!("{compared} counts compared with tcpdump's");
    assert!(compared > 100);
}

fn agrees_with_tcpdump(path: &Path, expression: &str) -> bool {
    let inputs = [Input::File(path.to_owned())];
    let Ok(mut source) = Source::open(&inputs, &filtered(expression)) else {
        return false;
    };
    let ours = crate::build::drain(&mut source).unwrap().len();
    if source.report().is_damaged() {
        return false;
    }
    let theirs = Command::new("tcpdump")
        .args(["-w", "-", "-r"])
        .arg(path)
        .arg(expression)
        .output()
        .unwrap();
    if !theirs.status.success() {
        return false;
    }
    let written = read(vec![theirs.stdout], &Options::default());
    let theirs = written.map_or(0, |(samples, _)| samples.len());
    assert_eq!(ours, theirs, "{} {expression}", path.display());
    true
}
