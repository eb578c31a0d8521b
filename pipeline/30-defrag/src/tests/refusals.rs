//! Fragments that overlap, or contradict each other or themselves.

use super::{Whole, assert_accounted, datagram_bytes, insert, insert_held, refusal};
use crate::{DefragOptions, Defragmenter};
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

/// RFC 5722: a datagram with overlapping fragments is dropped, with those that are yet to come;
/// an exact repetition is no overlap, the same range with other bytes is.
#[test]
fn overlap_ends_an_ipv6_datagram() {
    let whole = Whole::new(true, 5, 0, vec![1; 40]);
    let mut defragmenter = Defragmenter::new(DefragOptions::default());
    insert_held(&mut defragmenter, &whole.fragment(0, 16, 0));
    insert_held(&mut defragmenter, &whole.fragment(0, 16, 0));
    assert_eq!(
        refusal(&mut defragmenter, &whole.fragment(8, 24, 0)),
        Reason::Overlap
    );
    assert_eq!(
        refusal(&mut defragmenter, &whole.fragment(16, 40, 0)),
        Reason::Overlap
    );
    let stats = defragmenter.stats();
    assert_eq!((stats.losses.of(Loss::FragmentOverlap), stats.held), (4, 0));

    let mut defragmenter = Defragmenter::new(DefragOptions::default());
    insert_held(&mut defragmenter, &whole.fragment(0, 16, 0));
    let other = Whole::new(true, 5, 0, vec![2; 40]);
    assert_eq!(
        refusal(&mut defragmenter, &other.fragment(0, 16, 0)),
        Reason::OverlapDiffers
    );
    assert_accounted(&defragmenter);
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
