//! The published overlap patterns, under each policy.
//!
//! The pattern is that of Novak and Sturges (2007): segments A to Q, all after a hole, in which
//! each kind of overlap occurs; then the byte that closes the hole. The expected results of each
//! system are also those of Suricata's tests of its `stream-tcp` policies.

mod support;

use flowpin_config::{Named, SegmentOverlap};
use flowpin_reassembly::{Anomaly, Closed};
use support::{ACK, Out, RST, World, options};

/// Where each segment starts; the first byte after the SYN is 1.
const PATTERN: &[(u32, &str)] = &[
    (2, "AAA"),
    (6, "BB"),
    (8, "CCC"),
    (12, "D"),
    (15, "EE"),
    (17, "FFF"),
    (20, "GG"),
    (22, "HH"),
    (24, "I"),
    (3, "JJJJ"),
    (8, "KKK"),
    (11, "LLL"),
    (14, "MMM"),
    (18, "N"),
    (21, "O"),
    (22, "P"),
    (24, "QQ"),
    (1, "0"),
];

fn read_under(policy: SegmentOverlap, isn: u32, pattern: &[(u32, &str)]) -> String {
    let mut world = World::new(&options(policy));
    let first = isn.wrapping_add(1);
    world.handshake(first, 70, 65_535);
    for (at, bytes) in pattern {
        world.send(&Out {
            seq: isn.wrapping_add(*at),
            ack: 70,
            bytes: bytes.as_bytes(),
            ..Out::default()
        });
    }
    world.end(3);
    let differs = world.log.anomalies.contains(&Anomaly::OverlapDiffers);
    assert!(differs, "overlaps that differ are told");
    world.text(true)
}

/// Every system reads the stream that was observed of it, also if sequence numbers wrap.
#[test]
fn the_published_pattern_reads_as_published() {
    let bsd = "0AAAJJBCCCLLLMMMFFFGGHHIQ";
    let table = [
        (SegmentOverlap::First, "0AAAJBBCCCLDLMEEFFFGGHHIQ"),
        (SegmentOverlap::Vista, "0AAAJBBCCCLDLMEEFFFGGHHIQ"),
        (SegmentOverlap::Last, "0AJJJJBKKKLLLMMMFNFGOPHQQ"),
        (SegmentOverlap::Bsd, bsd),
        (SegmentOverlap::Macos, bsd),
        (SegmentOverlap::Windows, bsd),
        (SegmentOverlap::Linux, "0AAAJJBCCCLLLMMMFFFGGHHQQ"),
        (SegmentOverlap::Irix, "0AAAJJBCCCLLLMMMFFFGGHHQQ"),
        (SegmentOverlap::OldLinux, "0AAAJJBKKKLLLMMMFFFGGHHQQ"),
        (SegmentOverlap::Solaris, "0AJJJBBKKKLLLMMMFFFGGHHQQ"),
        (SegmentOverlap::Hpux, "0AJJJBBKKKLLLMMMFFFGGHHQQ"),
    ];
    assert_eq!(table.len(), SegmentOverlap::ALL.len());
    for (policy, want) in table {
        for isn in [0, 1, u32::MAX, u32::MAX - 10] {
            assert_eq!(
                read_under(policy, isn, PATTERN),
                want,
                "{policy:?} at {isn}"
            );
        }
    }
}

/// Segments that start before, with and after the existing one, alone.
#[test]
fn each_kind_of_overlap_reads_as_published() {
    // One old segment of three bytes at 5; a new one; the hole before.
    let read = |policy, new: (u32, &str)| {
        let text = read_under(policy, 0, &[(5, "ooo"), new, (1, "....")]);
        text[4..].to_owned()
    };
    let kinds = [
        // starts before, ends inside | same, ends after | same, same | after, after | inside
        (SegmentOverlap::First, ["ooo", "ooon", "ooo", "ooon", "ooo"]),
        (SegmentOverlap::Last, ["nno", "nnnn", "nnn", "onnn", "ono"]),
        (SegmentOverlap::Bsd, ["nno", "ooon", "ooo", "ooon", "ooo"]),
        (SegmentOverlap::Linux, ["nno", "nnnn", "ooo", "ooon", "ooo"]),
        (
            SegmentOverlap::OldLinux,
            ["nno", "nnnn", "nnn", "ooon", "ooo"],
        ),
        (
            SegmentOverlap::Solaris,
            ["ooo", "nnnn", "nnn", "onnn", "ooo"],
        ),
    ];
    for (policy, want) in kinds {
        let new = [(4, "nnn"), (5, "nnnn"), (5, "nnn"), (6, "nnn"), (6, "n")];
        assert_eq!(new.map(|new| read(policy, new)), want, "{policy:?}");
    }
}

/// RFC 5961 §3.2: only the exact number resets; older systems accepted any in the window.
#[test]
fn a_reset_counts_if_its_receiver_would_believe_it() {
    // Numbers relative to the expected one, and the systems that accept them.
    let exact = |offset: i32, _: SegmentOverlap| offset == 0;
    let lenient = [
        SegmentOverlap::Bsd,
        SegmentOverlap::OldLinux,
        SegmentOverlap::Solaris,
    ];
    for &(policy, ..) in SegmentOverlap::ALL {
        for offset in [-1, 0, 1, 999, 1001, 70_000] {
            let mut world = World::new(&options(policy));
            world.handshake(100, 70, 1000);
            world.send(&Out {
                seq: 100,
                ack: 70,
                ..Out::default()
            });
            world.send(&Out {
                flags: RST.with(ACK),
                seq: 100u32.wrapping_add_signed(offset),
                ack: 70,
                ..Out::default()
            });
            let believed = exact(offset, policy)
                || lenient.contains(&policy) && (0..=1000).contains(&offset)
                || policy == SegmentOverlap::Hpux && offset >= 0;
            assert_eq!(world.log.closed, [], "it may still go on");
            world.end(3);
            let told = world.log.closed == [(3, true, Closed::Reset), (3, false, Closed::Reset)];
            assert_eq!(told, believed, "{policy:?} {offset}");
            let odd = world.log.anomalies.contains(&Anomaly::InvalidReset);
            assert_eq!(odd, !believed);
        }
    }
}
