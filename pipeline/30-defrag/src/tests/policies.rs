//! What each receiving system makes of overlaps.

use super::{SECOND, Whole, datagram_bytes, insert, insert_held};
use crate::{DefragOptions, Defragmenter, Inserted, Oddities};
use flowpin_config::{FragmentOverlap, Named};
use flowpin_packet::{NetworkMap, Reason};
use flowpin_testkit::oracle::fragments::{Fragments, Outcome, Piece, Rule};
use proptest::prelude::*;

pub(super) fn with_policy(policy: FragmentOverlap) -> DefragOptions {
    DefragOptions {
        overlap: NetworkMap::new(policy, []),
        ..DefragOptions::default()
    }
}

/// Puts pieces (first unit, units, letter) together; the last one ends the datagram.
fn picture(policy: FragmentOverlap, ipv6: bool, pieces: &[(usize, usize, u8)]) -> String {
    let mut defragmenter = Defragmenter::new(with_policy(policy));
    let end = pieces
        .iter()
        .map(|(from, len, _)| from + len)
        .max()
        .unwrap_or(0);
    let mut found = None;
    for (index, &(from, len, letter)) in pieces.iter().enumerate() {
        let whole = Whole::new(ipv6, 9, 0, vec![letter; end * 8]);
        let mut fragment = whole.fragment(from * 8, (from + len) * 8, SECOND);
        fragment.1.more = index + 1 < pieces.len();
        assert!(found.is_none());
        found = insert(&mut defragmenter, &fragment);
    }
    let header_len = if ipv6 { 40 } else { 20 };
    let bytes = datagram_bytes(&found.expect("complete"));
    let units = bytes[header_len..].chunks(8);
    units
        .map(|unit| {
            assert!(unit.iter().all(|byte| *byte == unit[0]));
            char::from(unit[0])
        })
        .collect()
}

/// The pattern of Novak's paper ("Target-Based Fragmentation Reassembly", 2005, figure 1), which
/// extends that of Shankar and Paxson: nine fragments with gaps, then eight that overlap them in
/// every way. Letters as in Suricata's unit tests; the pictures are theirs too, but for bsd-right,
/// which follows from the paper's rule.
#[test]
fn the_published_pattern_gives_the_published_pictures() {
    let pieces = [
        (0, 3, b'A'),
        (4, 2, b'B'),
        (6, 3, b'C'),
        (10, 1, b'D'),
        (13, 2, b'E'),
        (15, 3, b'F'),
        (18, 2, b'G'),
        (20, 2, b'H'),
        (22, 1, b'I'),
        (1, 4, b'J'),
        (6, 3, b'K'),
        (9, 3, b'L'),
        (12, 3, b'M'),
        (16, 1, b'N'),
        (19, 1, b'O'),
        (20, 1, b'P'),
        (22, 2, b'Q'),
    ];
    for (policy, expected) in [
        (FragmentOverlap::First, "AAAJBBCCCLDLMEEFFFGGHHIQ"),
        (FragmentOverlap::Last, "AJJJJBKKKLLLMMMFNFGOPHQQ"),
        (FragmentOverlap::Bsd, "AAAJJBCCCLLLMMMFFFGGHHIQ"),
        (FragmentOverlap::BsdRight, "AJJJBBKKKLDLMEEFNFGOPHQQ"),
        (FragmentOverlap::Linux, "AAAJJBKKKLLLMMMFFFGGPHQQ"),
        (FragmentOverlap::Windows, "AAAJBBCCCLLLMEEFFFGGHHIQ"),
        (FragmentOverlap::Solaris, "AAAJBBCCCLLLMMMFFFGGHHIQ"),
    ] {
        for ipv6 in [false, true] {
            assert_eq!(picture(policy, ipv6, &pieces), expected, "{policy:?}");
        }
    }
}

/// Three fragments over each other: BSD and Linux trim an entry, which then starts later. `O` is
/// trimmed by `P` to start at 4; `N` starts at 3, between the old start and the new one.
#[test]
fn a_trimmed_fragment_starts_where_its_rest_starts() {
    let pieces = [
        (2, 4, b'O'),
        (1, 3, b'P'),
        (3, 2, b'N'),
        (0, 1, b'A'),
        (6, 1, b'Z'),
    ];
    assert_eq!(picture(FragmentOverlap::Bsd, false, &pieces), "APPPNOZ");
    assert_eq!(picture(FragmentOverlap::Linux, false, &pieces), "APPPNOZ");
    assert_eq!(picture(FragmentOverlap::First, false, &pieces), "APOOOOZ");
}

/// The destination decides, and a family is not the other one.
#[test]
fn the_destination_network_decides() {
    let networks = [
        ("10.0.0.0/8", FragmentOverlap::Last),
        ("::/0", FragmentOverlap::First),
    ];
    let networks = networks.map(|(text, policy)| (text.parse().unwrap(), policy));
    let options = DefragOptions {
        overlap: NetworkMap::new(FragmentOverlap::Refuse, networks),
        ..DefragOptions::default()
    };
    for (ipv6, expected) in [(false, 2), (true, 1)] {
        let mut defragmenter = Defragmenter::new(options.clone());
        let [one, two] = [1, 2].map(|fill| Whole::new(ipv6, 5, 0, vec![fill; 24]));
        insert_held(&mut defragmenter, &one.fragment(0, 16, 0));
        insert_held(&mut defragmenter, &two.fragment(8, 16, 0));
        let whole = insert(&mut defragmenter, &one.fragment(16, 24, 0)).unwrap();
        let bytes = datagram_bytes(&whole);
        assert_eq!(bytes[bytes.len() - 16], expected);
    }
}

/// An overlap that an analyser and a host may see differently is told, whoever wins; one with the
/// same bytes is told apart from it, and both from a repetition.
#[test]
fn overlaps_and_repetitions_are_told() {
    let mut defragmenter = Defragmenter::new(DefragOptions::default());
    let [one, two] = [1, 2].map(|fill| Whole::new(false, 5, 0, vec![fill; 64]));
    for (whole, from, to, expected) in [
        (&one, 0, 24, Oddities::default()),
        (&one, 0, 24, Oddities::DUPLICATE),
        (&one, 8, 24, Oddities::OVERLAP),
        (&one, 16, 32, Oddities::OVERLAP),
        (&two, 24, 40, Oddities::OVERLAP_DIFFERS),
        (&two, 48, 56, Oddities::default()),
    ] {
        insert_held(&mut defragmenter, &whole.fragment(from, to, 0));
        assert_eq!(defragmenter.oddities(), expected, "{from} to {to}");
    }
    let told: Vec<Reason> = Oddities::OVERLAP.with(Oddities::TINY).reasons().collect();
    assert_eq!(told, [Reason::Overlap, Reason::Tiny]);
}

/// Pieces with random places and bytes, repeated now and then; few bytes, so that some agree.
pub(super) fn any_pieces() -> impl Strategy<Value = Vec<Piece>> {
    let end = 1usize..160;
    let piece = (0usize..20, 1usize..8, 0u8..3, any::<u8>());
    (end, prop::collection::vec(piece, 1..40)).prop_map(|(end, pieces)| {
        let mut made: Vec<Piece> = Vec::new();
        for (from, units, fill, kind) in pieces {
            let offset = (from % end.div_ceil(8)) * 8;
            let mut to = offset + units * 8;
            // Most pieces know the true end, some do not.
            if kind >= 16 {
                to = to.min(end);
            }
            let more = match kind {
                0..16 => true,
                16..24 => false,
                _ => to != end,
            };
            if more {
                to = to.div_ceil(8) * 8;
            }
            made.push(Piece {
                offset,
                more,
                bytes: vec![fill; to - offset],
            });
            if kind % 7 == 0 {
                let again = made[usize::from(kind) % made.len()].clone();
                made.push(again);
            }
        }
        made
    })
}

/// What the defragmenter makes of a piece, in the oracle's words.
pub(super) fn outcome(defragmenter: &mut Defragmenter, ipv6: bool, piece: &Piece) -> Outcome {
    let mut payload = vec![0; piece.offset];
    payload.extend(&piece.bytes);
    let whole = Whole::new(ipv6, 5, 0, payload);
    let to = piece.offset + piece.bytes.len();
    let (bytes, mut fragment) = whole.fragment(piece.offset, to, 0);
    fragment.more = piece.more;
    match defragmenter.insert(&bytes, &fragment, 0) {
        Inserted::Held => Outcome::Held,
        Inserted::Refused(_) => Outcome::Refused,
        Inserted::Lone => panic!("no cap is near"),
        Inserted::Complete(ready) => {
            let mut extra = Vec::new();
            let datagram = defragmenter.assemble(ready, &bytes, &fragment, &mut extra);
            let header_len = if ipv6 { 40 } else { 20 };
            let start = datagram.header_start as usize + header_len;
            Outcome::Complete(extra[start..].to_vec())
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Any cut, order, repetition and overlap: piece by piece the same as the oracle, under every
    /// policy.
    #[test]
    fn every_policy_does_as_the_oracle(pieces in any_pieces(), ipv6 in any::<bool>()) {
        for (rule, name) in Rule::ALL {
            let policy = FragmentOverlap::from_name(name).unwrap();
            let mut defragmenter = Defragmenter::new(with_policy(policy));
            let mut oracle = Fragments::new(rule);
            for piece in &pieces {
                // A datagram by itself is no fragment: dispatch does not bring it here.
                if piece.offset == 0 && !piece.more {
                    continue;
                }
                let expected = oracle.insert(piece.clone());
                let got = outcome(&mut defragmenter, ipv6, piece);
                prop_assert_eq!(got, expected, "{} {:?}", name, piece);
            }
            prop_assert_eq!(defragmenter.stats().accounted(), defragmenter.stats().received);
        }
    }
}
