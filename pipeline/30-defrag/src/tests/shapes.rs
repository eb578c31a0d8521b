//! What the assembled datagram looks like: cut short, nested, with headers left out.

use super::{OUTSIDE, Whole, datagram_bytes, insert, insert_held};
use crate::{DefragOptions, Defragmenter, Inserted};
use flowpin_packet::{LinkType, PacketFlags};

/// A fragment that the capture cut still completes its datagram: what was captured in front of
/// the cut is there, and the lengths are those of the headers.
#[test]
fn a_snapped_fragment_cuts_the_datagram() {
    let whole = Whole::new(false, 5, 0, vec![1; 64]);
    let mut defragmenter = Defragmenter::new(DefragOptions::default());
    let mut first = whole.fragment(0, 32, 0);
    first.1.captured_len = 20;
    first.1.context.flags = PacketFlags::SNAPPED;
    insert_held(&mut defragmenter, &first);
    let (datagram, extra) = insert(&mut defragmenter, &whole.fragment(32, 64, 0)).unwrap();
    assert_eq!((datagram.len, datagram.captured_len), (84, 40));
    assert_eq!(extra.len(), 3 + 14 + 40);
    assert!(datagram.context.flags.has(PacketFlags::SNAPPED));
}

/// Fragments inside a tunnel inside fragments: the inner datagram takes the place of the outer
/// one, behind the outer one's outside.
#[test]
fn a_nested_datagram_replaces_the_one_around_it() {
    let whole = Whole::new(false, 5, 0, vec![1; 64]);
    let mut defragmenter = Defragmenter::new(DefragOptions::default());
    insert_held(&mut defragmenter, &whole.fragment(0, 32, 0));
    let (bytes, mut fragment) = whole.fragment(32, 64, 0);
    let mut extra = vec![9; 5];
    extra.extend(&bytes);
    fragment.frame_start += 5;
    fragment.header_start += 5;
    fragment.payload_start += 5;
    fragment.context.link = LinkType::Raw;
    let Inserted::Complete(ready) = defragmenter.insert(&extra, &fragment, 0) else {
        panic!()
    };
    let datagram = defragmenter.assemble_nested(ready, &fragment, &mut extra);
    assert_eq!((datagram.frame_start, datagram.header_start), (5, 19));
    assert_eq!(extra[..19], [&[9; 5][..], &OUTSIDE].concat());
    assert_eq!(extra[19..], whole.bytes());
    assert_eq!(datagram.context.link, LinkType::Raw);
    assert_eq!(defragmenter.memory_bytes(), 0);
}

/// Extension headers beyond what is kept are left out of the datagram, which stays legal.
#[test]
fn long_extension_headers_are_left_out() {
    let whole = Whole::new(true, 5, 160, vec![1; 64]);
    let mut defragmenter = Defragmenter::new(DefragOptions::default());
    insert_held(&mut defragmenter, &whole.fragment(0, 32, 0));
    let got = insert(&mut defragmenter, &whole.fragment(32, 64, 0)).unwrap();
    assert_eq!(
        datagram_bytes(&got),
        Whole::new(true, 5, 0, vec![1; 64]).bytes()
    );
}
