//! Defragmentation against the slow oracle.

use flowpin_config::{FragmentOverlap, Named};
use flowpin_defrag::{DefragOptions, Defragmenter, Inserted};
use flowpin_packet::{FragmentRef, NetworkMap};
use flowpin_testkit::oracle::fragments::{Fragments, Outcome, Piece, Rule};

/// Makes fragments of one datagram out of `data`, and puts them together under one policy: each
/// must come to what the oracle says. The first byte chooses the policy and the family; then four
/// bytes say where a fragment lies, how long it is and what it is filled with.
pub fn fuzz_defrag_oracle(data: &[u8]) {
    let Some((&head, rest)) = data.split_first() else {
        return;
    };
    let (rule, name) = Rule::ALL[usize::from(head) % Rule::ALL.len()];
    let ipv6 = head & 0x80 != 0;
    let policy = FragmentOverlap::from_name(name).unwrap_or_default();
    let mut defragmenter = Defragmenter::new(DefragOptions {
        overlap: NetworkMap::new(policy, []),
        secret: u64::from(head),
        ..DefragOptions::default()
    });
    let mut oracle = Fragments::new(rule);
    let header_len = if ipv6 { 40 } else { 20 };
    let mut bytes = vec![0; header_len];
    // Enough for any: more than the cap of a datagram's fragments would be told as lone.
    for words in rest.chunks_exact(4).take(500) {
        let [place, len, fill, kind] = [words[0], words[1], words[2], words[3]];
        let offset = usize::from(place) * 8;
        let more = kind & 3 != 0;
        let len = match more {
            true => (usize::from(len % 24) + 1) * 8,
            false => usize::from(len) + 1,
        };
        // A datagram by itself is no fragment, and without a transport header IPv6 refuses it.
        if offset == 0 && (!more || len < 8) {
            continue;
        }
        bytes.truncate(header_len);
        bytes.resize(header_len + len, fill & 3);
        if kind & 4 != 0 {
            let last = bytes.len() - 1;
            bytes[last] = fill;
        }
        let fragment = FragmentRef {
            payload_start: header_len as u32,
            unfragmentable_len: header_len as u16,
            next_header_at: 6,
            captured_len: len as u16,
            payload_len: len as u16,
            offset: offset as u16,
            more,
            ipv6,
            protocol: 17,
            ..FragmentRef::default()
        };
        let got = match defragmenter.insert(&bytes, &fragment, 0) {
            Inserted::Held => Outcome::Held,
            Inserted::Refused(_) => Outcome::Refused,
            Inserted::Lone => return,
            Inserted::Complete(ready) => {
                let mut extra = Vec::new();
                let datagram = defragmenter.assemble(ready, &bytes, &fragment, &mut extra);
                let start = datagram.header_start as usize + header_len;
                Outcome::Complete(extra.split_off(start))
            }
        };
        let expected = oracle.insert(Piece {
            offset,
            more,
            bytes: bytes[header_len..].to_vec(),
        });
        assert_eq!(got, expected, "{name} at {offset}");
        let stats = defragmenter.stats();
        assert_eq!(stats.accounted(), stats.received);
    }
}
