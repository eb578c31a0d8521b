//! pcapng's corners: options, unknown blocks, lengths, interfaces, sections.

use crate::build::{Kind, Layout, Sample, pieces_of, read, three};
use flowpin_capture::{Options, Report};
use flowpin_packet::LinkType;
use proptest::prelude::*;

const LITTLE: Kind = Kind {
    layout: Layout::Enhanced,
    big_endian: false,
};
const BIG: Kind = Kind {
    layout: Layout::Enhanced,
    big_endian: true,
};

fn read_one(bytes: Vec<u8>) -> (Vec<Sample>, Report) {
    // Short and long pieces must agree in all corners.
    let short = read(vec![bytes.clone()], &pieces_of(64)).unwrap();
    let long = read(vec![bytes], &Options::default()).unwrap();
    assert_eq!(short, long);
    long
}

fn damage(bytes: Vec<u8>) -> String {
    let (_, report) = read_one(bytes);
    report.files[0].damage.clone().unwrap().to_string()
}

fn words(values: &[u32]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

/// Each section has its own byte order and its own interfaces.
#[test]
fn a_file_may_change_its_byte_order_and_link_types() {
    let mut bytes = LITTLE.capture(&three());
    bytes.extend(BIG.file_header(101));
    bytes.extend(BIG.record(&three()[0]));
    bytes.extend(LITTLE.capture(&three()));
    let (got, report) = read_one(bytes);
    let links: Vec<_> = got.iter().map(|s| s.link).collect();
    use LinkType::{Ethernet, Raw};
    assert_eq!(
        links,
        [
            Ethernet, Ethernet, Ethernet, Raw, Ethernet, Ethernet, Ethernet
        ]
    );
    assert_eq!(report.files[0].links, [1, 101]);
}

/// Several interfaces, each with its own link type and clock.
#[test]
fn interfaces_have_their_own_link_types_and_clocks() {
    let mut bytes = LITTLE.file_header(1);
    // Interface 1: raw IP, ticks of 2^-10 s, an hour ahead.
    let mut options = LITTLE.option(14, &3600_i64.to_le_bytes());
    options.extend(LITTLE.option(9, &[0x80 | 10]));
    bytes.extend(LITTLE.interface(101, 0, &options));
    bytes.extend(LITTLE.block(6, &words(&[1, 0, 2048, 0, 60])));
    bytes.extend(LITTLE.block(6, &words(&[0, 0, 2_000_000, 0, 60])));
    let (got, _) = read_one(bytes);
    assert_eq!(
        (got[0].time_ns, got[0].link),
        (3_602_000_000_000, LinkType::Raw)
    );
    assert_eq!(
        (got[1].time_ns, got[1].link),
        (2_000_000_000, LinkType::Ethernet)
    );
}

/// An option of length 0, options without an end, and options that do not fit their block.
#[test]
fn odd_options_do_no_harm() {
    let nanos = LITTLE.option(9, &[9]);
    let long = words(&[0xffff_0002]);
    let cases = [
        (LITTLE.option(2, &[]), 1000),
        ([LITTLE.option(2, &[]), nanos.clone()].concat(), 1),
        ([nanos.clone(), long.clone()].concat(), 1),
        ([long, nanos.clone()].concat(), 1000),
        ([LITTLE.option(0, &[]), nanos].concat(), 1000),
        (LITTLE.option(9, &[]), 1000),
        (LITTLE.option(14, &[1, 2]), 1000),
    ];
    for (options, unit_ns) in cases {
        let mut bytes = LITTLE.file_header(1);
        bytes.extend(LITTLE.interface(1, 0, &options));
        bytes.extend(LITTLE.block(6, &words(&[1, 0, 7, 0, 60])));
        let (got, report) = read_one(bytes);
        assert_eq!(got[0].time_ns, 7 * unit_ns, "{options:?}");
        assert_eq!(report.files[0].damage, None);
    }
}

/// Blocks of unknown types are passed over and counted, known ones just passed over, also
/// where they are longer than any buffer.
#[test]
fn blocks_without_packets_are_passed_over_however_long() {
    let mut bytes = LITTLE.file_header(1);
    for (block_type, len) in [
        (4, 8),
        (5, 12),
        (10, 3_000_000),
        (0x7777, 2_000_001),
        (0xbad, 0),
    ] {
        bytes.extend(LITTLE.block(block_type, &vec![0x55; len]));
        bytes.extend(LITTLE.record(&three()[0]));
    }
    let (got, report) = read_one(bytes);
    assert_eq!(got.len(), 5);
    assert_eq!(report.files[0].unknown_blocks, 1);
    assert!(report.files[0].notes()[0].contains("1 block of unknown types"));
}

/// Lengths that cannot be stop the file where they stand.
#[test]
fn impossible_block_lengths_are_damage() {
    let with = |block: &[u8]| [LITTLE.capture(&three()), block.to_vec()].concat();
    let at = LITTLE.capture(&three()).len();
    for (block, expected) in [
        (words(&[6, 8, 8]), "a block of 8 bytes"),
        (words(&[6, 0, 0]), "a block of 0 bytes"),
        (words(&[6, 13, 0, 0]), "a block of 13 bytes"),
        (words(&[6, 0xffff_fffc, 0]), "more than the limit of 1 MiB"),
        (words(&[4, 0xffff_fffc, 0]), "the file ends inside a block"),
        (words(&[6, 12, 16]), "12 before, 16 behind"),
        (words(&[4, 16, 0, 12]), "16 before, 12 behind"),
        (words(&[6, 12, 12]), "type 6 that is too short"),
        (words(&[3, 12, 12]), "type 3 that is too short"),
        (words(&[2, 12, 12]), "type 2 that is too short"),
        (words(&[1, 12, 12]), "type 1 that is too short"),
        (
            words(&[0x0a0d_0d0a, 28, 5, 0, 0, 0, 28]),
            "byte order cannot be told",
        ),
    ] {
        let damage = damage(with(&block));
        assert!(damage.contains(expected), "{damage}");
        if !expected.contains("ends inside") && !expected.contains("16 before") {
            assert!(damage.contains(&format!("at byte {at}:")), "{damage}");
        }
    }
}

/// Packets must belong to an interface and fit their block.
#[test]
fn packets_of_no_interface_or_beyond_their_block_are_damage() {
    let with = |block: Vec<u8>| damage([LITTLE.file_header(1), block].concat());
    let text = with(LITTLE.block(6, &words(&[1, 0, 0, 0, 0])));
    assert!(
        text.contains("interface 1, but only 1 are described"),
        "{text}"
    );
    let text = with(LITTLE.block(6, &words(&[0, 0, 0, 5, 5, 0])));
    assert!(
        text.contains("5 captured bytes in a block that has room for 4"),
        "{text}"
    );
    let text = with(LITTLE.block(6, &words(&[0, 0, 0, 262_145, 5, 0])));
    assert!(text.contains("262145 captured bytes, more than"), "{text}");
    let text = with(LITTLE.block(3, &words(&[60, 0])));
    assert!(
        text.contains("60 captured bytes in a block that has room for 4"),
        "{text}"
    );
}

/// Draft §4.4: a simple packet has no captured length of its own: it is cut at the interface's
/// snap length. It has no time either, so it gets that of the packet before it.
#[test]
fn simple_packets_are_cut_at_the_snap_length() {
    let mut bytes = LITTLE.file_header(1);
    let head = LITTLE.interface(1, 0, &[]).len();
    bytes.truncate(bytes.len() - head);
    bytes.extend(LITTLE.interface(1, 6, &[]));
    bytes.extend(LITTLE.record(&three()[0]));
    bytes.extend(LITTLE.block(3, &[words(&[100]), vec![1; 6]].concat()));
    bytes.extend(LITTLE.block(3, &[words(&[4]), vec![2; 4]].concat()));
    let (got, _) = read_one(bytes);
    assert_eq!(
        (got[1].bytes.len(), got[1].wire_len, got[1].time_ns),
        (6, 100, 1_000_000_000)
    );
    assert_eq!((got[2].bytes.len(), got[2].wire_len), (4, 4));
}

/// A version that is not known cannot be read on.
#[test]
fn a_section_of_another_version_is_damage() {
    let mut bytes = LITTLE.capture(&three());
    let at = bytes.len();
    bytes.extend(LITTLE.file_header(1));
    bytes[at + 12] = 2;
    assert!(damage(bytes).contains("pcapng version 2.0"));
}

/// Blocks of a little-endian capture: packets of two interfaces, some odd, and others between them.
fn some_blocks() -> impl Strategy<Value = Vec<u8>> {
    let packet = (0..3_u32, 0..2_u32, any::<u32>(), 0..70_u32, 0..3_u32).prop_map(
        |(interface, high, low, len, odd)| {
            let mut content = words(&[interface, high, low, len, len + odd]);
            content.resize(20 + len.next_multiple_of(4) as usize, 7);
            // One in a while with options.
            content.extend(if odd == 2 {
                words(&[0x0004_0001, 5, 0])
            } else {
                Vec::new()
            });
            LITTLE.block(6, &content)
        },
    );
    let other = (0..5_u32).prop_map(|which| match which {
        0 => LITTLE.block(5, &words(&[0, 0, 9])),
        1 => LITTLE.block(3, &words(&[8, 1, 2])),
        2 => LITTLE.interface(1, 0, &LITTLE.option(9, &[9])),
        3 => LITTLE.file_header(1),
        _ => LITTLE.block(4, &words(&[1, 2, 3])),
    });
    let block = prop_oneof![8 => packet, 1 => other];
    prop::collection::vec(block, 0..40).prop_map(|blocks| {
        let mut all = LITTLE.file_header(1);
        all.extend(LITTLE.interface(1, 0, &LITTLE.option(9, &[9])));
        all.extend(blocks.concat());
        all
    })
}

proptest! {
    /// The quick way and the one that looks at each block see the same, whatever the bytes: a limit
    /// that is not reached makes the difference.
    #[test]
    fn both_ways_see_the_same(
        mut bytes in some_blocks(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()).max(60));
        }
        let slowly = Options { packet_count_max: Some(59), ..Options::default() };
        let quick = read(vec![bytes.clone()], &Options::default());
        let slow = read(vec![bytes], &slowly);
        match (quick, slow) {
            (Ok(quick), Ok(slow)) => prop_assert_eq!(quick, slow),
            (quick, slow) => prop_assert_eq!(quick.is_err(), slow.is_err()),
        }
    }
}
