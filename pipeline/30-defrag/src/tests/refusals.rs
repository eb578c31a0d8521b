//! Fragments that overlap, or contradict each other or themselves.

use super::policies::with_policy;
use super::{Whole, assert_accounted, datagram_bytes, insert, insert_held, refusal};
use crate::{DefragOptions, Defragmenter, Inserted, Oddities};
use flowpin_config::FragmentOverlap;
use flowpin_counters::Loss;
use flowpin_packet::Reason;

/// What came first stays, where IPv4 fragments overlap.
#[test]
fn the_first_bytes_stay_in_ipv4() {
    let first = Whole::new(false, 5, 0, vec![1; 32]);
    let later = Whole::new(false, 5, 0, vec![2; 32]);
    let mut defragmenter = Defragmenter::new(DefragOptions::default());
    insert_held(&mut defragmenter, &first.fragment(8, 24, 0));
    insert_held(&mut defragmenter, &later.fragment(0, 16, 0));
    let whole = insert(&mut defragmenter, &later.fragment(16, 32, 0)).unwrap();
    let expected = [[2; 8], [1; 8], [1; 8], [2; 8]].concat();
    assert_eq!(datagram_bytes(&whole)[20..], expected);
    assert_eq!(defragmenter.stats().absorbed, 3);
}

/// RFC 5722, RFC 8200 §4.5: overlapping fragments end their datagram.
#[test]
fn overlap_ends_a_datagram() {
    for ipv6 in [false, true] {
        let mut defragmenter = Defragmenter::new(with_policy(FragmentOverlap::Refuse));
        let [whole, other] = [1, 2].map(|fill| Whole::new(ipv6, 5, 0, vec![fill; 40]));
        for (later, expected) in [(&whole, Reason::Overlap), (&other, Reason::OverlapDiffers)] {
            insert_held(&mut defragmenter, &whole.fragment(0, 16, 0));
            let reason = refusal(&mut defragmenter, &later.fragment(8, 24, 0));
            assert_eq!(reason, expected);
        }
        let stats = defragmenter.stats();
        assert_eq!((stats.losses.of(Loss::FragmentOverlap), stats.held), (4, 0));
        assert_accounted(&defragmenter);
    }
}

/// Linux ignores a fragment that lies inside those that came one after the other, whatever its
/// bytes and ends: the datagram is read. It is told all the same.
#[test]
fn what_lies_inside_others_is_ignored() {
    for ipv6 in [false, true] {
        let [whole, other] = [1, 2].map(|fill| Whole::new(ipv6, 5, 0, vec![fill; 40]));
        for (from, to) in [(0, 16), (8, 16), (0, 24), (8, 24), (16, 24)] {
            let mut defragmenter = Defragmenter::new(with_policy(FragmentOverlap::Refuse));
            insert_held(&mut defragmenter, &whole.fragment(0, 16, 0));
            insert_held(&mut defragmenter, &whole.fragment(16, 24, 0));
            insert_held(&mut defragmenter, &other.fragment(from, to, 0));
            assert_eq!(defragmenter.oddities(), Oddities::OVERLAP_DIFFERS);
            let found = insert(&mut defragmenter, &whole.fragment(24, 40, 0)).expect("complete");
            assert_eq!(datagram_bytes(&found), whole.bytes(), "{from} to {to}");
            assert_accounted(&defragmenter);
        }
    }
}

/// What came in another order than its own is two runs for Linux, and a fragment across both an
/// overlap; a last fragment that is ignored completes nothing.
#[test]
fn what_lies_across_runs_ends_a_datagram() {
    let whole = Whole::new(false, 5, 0, vec![1; 40]);
    let mut defragmenter = Defragmenter::new(with_policy(FragmentOverlap::Refuse));
    insert_held(&mut defragmenter, &whole.fragment(8, 16, 0));
    insert_held(&mut defragmenter, &whole.fragment(0, 8, 0));
    assert_eq!(
        refusal(&mut defragmenter, &whole.fragment(0, 16, 0)),
        Reason::Overlap
    );
    insert_held(&mut defragmenter, &whole.fragment(0, 16, 0));
    let mut last = whole.fragment(0, 16, 0);
    last.1.more = false;
    // It begins later: a datagram by itself is no fragment.
    (last.1.offset, last.1.payload_len, last.1.captured_len) = (8, 8, 8);
    insert_held(&mut defragmenter, &last);
    assert_eq!(defragmenter.stats().held, 2);
}

/// Linux forgets a datagram when an empty fragment of it comes.
#[test]
fn an_empty_fragment_ends_a_datagram() {
    for (policy, ipv6, from, to, is_ended) in [
        (FragmentOverlap::Refuse, false, 16, 16, true),
        (FragmentOverlap::Refuse, false, 16, 20, true),
        (FragmentOverlap::Refuse, true, 16, 16, true),
        (FragmentOverlap::Refuse, true, 16, 20, false),
        (FragmentOverlap::First, false, 16, 16, false),
    ] {
        let whole = Whole::new(ipv6, 5, 0, vec![1; 40]);
        let mut defragmenter = Defragmenter::new(with_policy(policy));
        insert_held(&mut defragmenter, &whole.fragment(0, 16, 0));
        let _ = refusal(&mut defragmenter, &whole.fragment(from, to, 0));
        let rest = whole.fragment(16, 40, 0);
        let inserted = defragmenter.insert(&rest.0, &rest.1, 0);
        let is_complete = matches!(inserted, Inserted::Complete(_));
        assert_eq!(!is_complete, is_ended, "{policy:?} {ipv6} {from} to {to}");
    }
}

/// A second last fragment that ends elsewhere contradicts the first.
#[test]
fn a_contradicting_end_is_refused() {
    let long = Whole::new(false, 5, 0, vec![1; 64]);
    let short = Whole::new(false, 5, 0, vec![1; 48]);
    let mut defragmenter = Defragmenter::new(DefragOptions::default());
    insert_held(&mut defragmenter, &short.fragment(24, 48, 0));
    assert_eq!(
        refusal(&mut defragmenter, &long.fragment(32, 64, 0)),
        Reason::LengthConflict
    );
    assert_eq!(
        refusal(&mut defragmenter, &long.fragment(40, 56, 0)),
        Reason::LengthConflict
    );
    let whole = insert(&mut defragmenter, &long.fragment(0, 24, 0)).unwrap();
    assert_eq!(datagram_bytes(&whole), short.bytes());
}

/// Fragments that no datagram can have are refused by themselves.
#[test]
fn impossible_fragments_are_refused() {
    let whole = Whole::new(false, 5, 0, vec![1; 64]);
    let mut defragmenter = Defragmenter::new(DefragOptions::default());
    let mut fragment = whole.fragment(0, 8, 0);
    fragment.1.payload_len = 0;
    assert_eq!(
        refusal(&mut defragmenter, &fragment),
        Reason::LengthTooSmall
    );
    assert_eq!(
        refusal(&mut defragmenter, &whole.fragment(8, 15, 0)),
        Reason::IllegalValue
    );
    // "Ping of death": 65,528 + 8 bytes behind a header of 20.
    let mut fragment = whole.fragment(56, 64, 0);
    fragment.1.offset = 65_528;
    assert_eq!(refusal(&mut defragmenter, &fragment), Reason::TooLong);
    assert_eq!(defragmenter.stats().refused, 3);
    assert_eq!(defragmenter.memory_bytes(), 0);
}
