//! BPF filters: what tcpdump lets pass, passes.

use crate::build::{Kind, Layout, Sample, kinds, pieces_of, read, three};
use crate::corpus;
use flowpin_capture::{Options, Source};
use flowpin_config::Input;
use flowpin_packet::{LinkType, Timestamp};
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

/// A list of a thousand hosts takes no thought, and one without end is refused in one line.
#[test]
fn long_expressions_are_compiled_at_once_or_refused() {
    let kind = kinds()[0];
    let bytes = kind.capture(&[Sample {
        link: LinkType::Ethernet,
        bytes: [&[0; 12][..], &[8, 0], &udp(5000)].concat(),
        ..sample(Vec::new())
    }]);
    for (last, passed) in [("host 10.0.0.2", 1), ("host 10.0.0.3", 0)] {
        let hosts = (0..1000).map(|nth| format!("host 172.16.{}.{}", nth / 250, nth % 250));
        let hosts: Vec<_> = hosts.chain([last.to_owned()]).collect();
        let found = read(vec![bytes.clone()], &filtered(&hosts.join(" or ")));
        assert_eq!(found.unwrap().0.len(), passed);
    }
    let endless = ["host 10.0.0.1"; 3000].join(" or ");
    let told = read(vec![bytes], &filtered(&endless)).unwrap_err();
    let told = told.to_string();
    assert!(
        told.contains("of 50996 bytes") && !told.contains('\n'),
        "{told}"
    );
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

/// Wireshark's language is another one: who writes it is told so, and what to write.
#[test]
fn a_display_filter_is_answered_with_what_to_write() {
    for (expression, part) in [("http", "tcp port 80"), ("udp.port==53", "udp port 53")] {
        let captures = vec![kinds()[0].capture(&three())];
        let text = read(captures, &filtered(expression))
            .unwrap_err()
            .to_string();
        assert!(
            text.contains("looks like a display filter") && text.contains(part),
            "{text}"
        );
        assert!(
            text.contains("error"),
            "libpcap's words are there, too: {text}"
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

/// A frame's number is its place among all frames of the merged input, whatever the filter, the
/// pieces, and whether the captures overlap.
#[test]
fn frames_are_numbered_before_the_filter() {
    let at = |time_ns: u64| Sample {
        time_ns,
        // Every third one passes.
        wire_len: if (time_ns / 1000).is_multiple_of(3) {
            100
        } else {
            60
        },
        bytes: vec![(time_ns / 1000) as u8; 20],
        link: LinkType::Ethernet,
    };
    let capture = |times: &[u64]| -> Vec<Sample> { times.iter().map(|t| at(t * 1000)).collect() };
    // One alone, two that overlap, and one again alone.
    let all = [
        capture(&[1, 2, 3, 9, 4, 5]),
        capture(&[6, 7, 8, 10, 12, 14, 16]),
        capture(&[11, 13, 15, 17, 18, 19, 20, 21]),
    ];
    for kind in [kinds()[0], kinds()[10]] {
        for piece_len in [64, 300, 1 << 18] {
            let read = |filter: &str, packet_count_max| {
                let captures = all.iter().map(|samples| kind.capture(samples));
                let named = captures.map(|bytes| ("a".into(), bytes)).collect();
                let options = Options {
                    filter: filter.to_owned(),
                    packet_count_max,
                    ..pieces_of(piece_len)
                };
                numbered(&mut Source::from_memory(named, &options).unwrap())
            };
            let (unfiltered, delivered) = read("", None);
            assert_eq!(delivered, 21);
            let numbers: Vec<u64> = unfiltered.iter().map(|(number, _)| *number).collect();
            assert_eq!(numbers, (1..=21).collect::<Vec<_>>());
            let passing = |&&(_, (_, wire_len)): &&(u64, (u64, u32))| wire_len == 100;
            let wanted: Vec<_> = unfiltered.iter().filter(passing).copied().collect();
            let (got, delivered) = read("greater 80", None);
            assert_eq!((got.len() as u64, &got), (delivered, &wanted));
            let (some, delivered) = read("greater 80", Some(3));
            assert_eq!((&some[..], delivered), (&wanted[..3], 3));
        }
    }
}

/// Frames outside the wanted time are left out wherever they are, counted, and numbered: in any
/// format, alone or merged, with a filter or without, for any piece. `until` is not included, so
/// that one window ends where the next one begins.
#[test]
fn frames_outside_the_wanted_time_are_left_out() {
    let at = |time_ns: u64| Sample {
        time_ns,
        wire_len: 60 + (time_ns / 1000 % 2) as u32,
        bytes: vec![(time_ns / 1000) as u8; 20],
        link: LinkType::Ethernet,
    };
    let capture = |times: &[u64]| -> Vec<Sample> { times.iter().map(|t| at(t * 1000)).collect() };
    // One that is not in order, two that overlap, one alone.
    let all = [
        capture(&[1, 2, 3, 9, 4, 5]),
        capture(&[6, 7, 8, 10, 12, 14, 16]),
        capture(&[11, 13, 15, 17]),
        capture(&[20, 21]),
    ];
    for kind in kinds() {
        for piece_len in [64, 300, 1 << 18] {
            let source = |filter: &str, [since, until]: [Option<u64>; 2]| {
                let captures = all.iter().map(|samples| kind.capture(samples));
                let named = captures.map(|bytes| ("a".into(), bytes)).collect();
                let options = Options {
                    filter: filter.to_owned(),
                    since: since.map(|time| Timestamp(time * 1000)),
                    until: until.map(|time| Timestamp(time * 1000)),
                    ..pieces_of(piece_len)
                };
                Source::from_memory(named, &options).unwrap()
            };
            let (everything, _) = numbered(&mut source("", [None; 2]));
            for window in WINDOWS {
                for (filter, odd_only) in [("", false), ("greater 61", true)] {
                    let wanted: Vec<_> = (everything.iter().copied())
                        .filter(|(_, (time, len))| {
                            let [since, until] = window;
                            since.is_none_or(|since| *time >= since * 1000)
                                && until.is_none_or(|until| *time < until * 1000)
                                && (!odd_only || *len == 61)
                        })
                        .collect();
                    let mut limited = source(filter, window);
                    let (got, delivered) = numbered(&mut limited);
                    assert_eq!((&got, delivered), (&wanted, wanted.len() as u64));
                    let report = limited.report();
                    let rejected = (everything.len() - wanted.len()) as u64;
                    assert_eq!(report.rejected_by_filter, rejected, "{kind:?} {window:?}");
                    let packets = report.files.iter().map(|file| file.packets).sum::<u64>();
                    assert_eq!(packets, everything.len() as u64);
                }
            }
        }
    }
}

/// Since, until: before, at and after frames, captures and overlaps.
const WINDOWS: [[Option<u64>; 2]; 9] = [
    [None, Some(0)],
    [None, Some(4)],
    [Some(4), None],
    [Some(0), Some(22)],
    [Some(3), Some(13)],
    [Some(13), Some(14)],
    [Some(18), Some(20)],
    [Some(20), Some(21)],
    [Some(22), None],
];

/// A frame: its number, its time and its length.
type Numbered = (u64, (u64, u32));

/// Time and length on the wire of all frames, by number; and how many the source says there were.
fn numbered(source: &mut Source) -> (Vec<Numbered>, u64) {
    let (mut piece, mut frames) = (flowpin_packet::Piece::default(), Vec::new());
    while source.fill(&mut piece).unwrap() {
        let mut walk = source.walk(&piece);
        while let Some(frame) = walk.next_frame() {
            frames.push((walk.number(), (frame.time.0, frame.wire_len)));
        }
    }
    (frames, source.delivered())
}
