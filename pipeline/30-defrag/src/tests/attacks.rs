//! Attacks that have names, and rules that were made against them.

use super::policies::with_policy;
use super::{Whole, insert, insert_held, refusal};
use crate::{DefragOptions, Defragmenter, Inserted, Oddities};
use flowpin_config::{FragmentOverlap, Named};
use flowpin_counters::Loss;
use flowpin_packet::{PacketFlags, Reason};

/// Teardrop (CERT CA-1997-28): a last fragment that ends inside the first. It is refused under
/// every policy, and named.
#[test]
fn teardrop_is_refused_by_name() {
    for &(policy, name, _) in FragmentOverlap::ALL {
        for ipv6 in [false, true] {
            let mut defragmenter = Defragmenter::new(with_policy(policy));
            let long = Whole::new(ipv6, 242, 0, vec![1; 72]);
            let short = Whole::new(ipv6, 242, 0, vec![2; 28]);
            insert_held(&mut defragmenter, &long.fragment(0, 40, 0));
            let reason = refusal(&mut defragmenter, &short.fragment(24, 28, 0));
            assert_eq!(reason, Reason::Teardrop, "{name}");
        }
    }
}

/// The teardrop that was sent: its first fragment is 36 bytes long, which is no multiple of 8. For
/// IPv4 the 4 bytes too much are left out, as Linux does; 4.4BSD and IPv6 refuse such fragments.
#[test]
fn a_misaligned_fragment_is_cut() {
    for (policy, ipv6, is_cut) in [
        (FragmentOverlap::First, false, true),
        (FragmentOverlap::Linux, false, true),
        (FragmentOverlap::Bsd, false, false),
        (FragmentOverlap::First, true, false),
    ] {
        let mut defragmenter = Defragmenter::new(with_policy(policy));
        let whole = Whole::new(ipv6, 242, 0, vec![1; 72]);
        let first = whole.fragment(0, 36, 0);
        if !is_cut {
            assert_eq!(refusal(&mut defragmenter, &first), Reason::IllegalValue);
            continue;
        }
        insert_held(&mut defragmenter, &first);
        assert_eq!(defragmenter.oddities(), Oddities::MISALIGNED);
        let short = Whole::new(ipv6, 242, 0, vec![2; 28]);
        let reason = refusal(&mut defragmenter, &short.fragment(24, 28, 0));
        assert_eq!(reason, Reason::Teardrop);
        let rest = whole.fragment(32, 72, 0);
        let found = insert(&mut defragmenter, &rest).expect("complete");
        assert_eq!(super::datagram_bytes(&found), whole.bytes());
    }
}

/// RFC 1858 §3, RFC 3128: a first fragment without TCP's flags, and one that begins at 8. They
/// are accepted, as hosts do, and told.
#[test]
fn tiny_tcp_fragments_are_told() {
    let mut defragmenter = Defragmenter::new(DefragOptions::default());
    for (protocol, from, to, expected) in [
        (6, 0, 8, true),
        (6, 8, 24, true),
        (6, 0, 16, false),
        (6, 16, 24, false),
        (17, 0, 8, false),
    ] {
        let whole = Whole::new(false, 5, 0, vec![0; 64]);
        let mut fragment = whole.fragment(from, to, 0);
        fragment.1.protocol = protocol;
        fragment.1.id = to as u32;
        insert_held(&mut defragmenter, &fragment);
        let told = defragmenter.oddities() == Oddities::TINY;
        assert_eq!(told, expected, "{protocol} {from} {to}");
    }
}

/// RFC 7112 §5, RFC 8200 §4.5: an IPv6 first fragment without its whole header chain should be
/// discarded. It is, where the receiver goes by that rule for overlaps as well; elsewhere it is
/// told. IPv4 has no such rule.
#[test]
fn a_first_fragment_needs_its_header_chain() {
    // Destination options of 8 bytes, then TCP.
    let options: &[u8] = &[6, 0, 1, 4, 0, 0, 0, 0];
    for (protocol, payload, is_whole) in [
        (17, vec![0; 8], true),
        (6, vec![0; 16], false),
        (6, vec![0; 24], true),
        (60, options.to_vec(), false),
        (60, [options, &[0; 16]].concat(), false),
        (60, [options, &[0; 24]].concat(), true),
        (59, vec![0; 8], true),
        (253, vec![0; 8], true),
    ] {
        let mut sent = payload.clone();
        sent.extend([0; 64]);
        for policy in [FragmentOverlap::Refuse, FragmentOverlap::First] {
            for ipv6 in [true, false] {
                let mut defragmenter = Defragmenter::new(with_policy(policy));
                let whole = Whole::new(ipv6, 5, 0, sent.clone());
                let mut fragment = whole.fragment(0, payload.len(), 0);
                fragment.1.protocol = protocol;
                let inserted = defragmenter.insert(&fragment.0, &fragment.1, 0);
                let odd = defragmenter.oddities().has(Oddities::HEADER_CHAIN_CUT);
                let what = format!("{protocol} {} {policy:?} {ipv6}", payload.len());
                match (is_whole || !ipv6, policy) {
                    (true, _) => assert!(!odd && matches!(inserted, Inserted::Held), "{what}"),
                    (false, FragmentOverlap::Refuse) => {
                        let Inserted::Refused(refused) = inserted else {
                            panic!("{what}")
                        };
                        assert_eq!(refused.reason, Reason::HeaderChainCut, "{what}");
                        assert_eq!(defragmenter.stats().refused, 1);
                    }
                    (false, _) => assert!(odd && matches!(inserted, Inserted::Held), "{what}"),
                }
            }
        }
    }
    // What the capture cut is not held against the sender.
    let whole = Whole::new(true, 5, 0, vec![0; 64]);
    let (bytes, mut fragment) = whole.fragment(0, 32, 0);
    (fragment.protocol, fragment.captured_len) = (60, 0);
    let mut defragmenter = Defragmenter::new(DefragOptions::default());
    assert!(matches!(
        defragmenter.insert(&bytes, &fragment, 0),
        Inserted::Held
    ));
}

/// Linux forgets a datagram whose fragments overlap, and what comes then is another one: who sends
/// all of it once more is read. RFC 8200 §4.5 no longer asks to drop what is yet to come.
#[test]
fn a_refused_datagram_is_not_remembered() {
    for ipv6 in [false, true] {
        let mut defragmenter = Defragmenter::new(with_policy(FragmentOverlap::Refuse));
        let whole = Whole::new(ipv6, 5, 0, vec![1; 40]);
        insert_held(&mut defragmenter, &whole.fragment(0, 16, 0));
        assert_eq!(
            refusal(&mut defragmenter, &whole.fragment(8, 24, 0)),
            Reason::Overlap
        );
        insert_held(&mut defragmenter, &whole.fragment(16, 40, 0));
        let found = insert(&mut defragmenter, &whole.fragment(0, 16, 0)).expect("complete");
        assert_eq!(super::datagram_bytes(&found), whole.bytes());
        assert_eq!(defragmenter.stats().losses.of(Loss::FragmentOverlap), 2);
    }
}

/// The first fragment of a datagram to come in a tunnel is told, not each of them.
#[test]
fn fragments_in_tunnels_are_told_once_a_datagram() {
    let mut defragmenter = Defragmenter::new(DefragOptions::default());
    let whole = Whole::new(false, 5, 0, vec![1; 64]);
    let told: Vec<bool> = [(0, 16), (16, 32), (32, 48)]
        .into_iter()
        .map(|(from, to)| {
            let mut fragment = whole.fragment(from, to, 0);
            fragment.1.context.flags = PacketFlags::TUNNELLED;
            insert_held(&mut defragmenter, &fragment);
            defragmenter.oddities().has(Oddities::TUNNELLED)
        })
        .collect();
    assert_eq!(told, [true, false, false]);
}

/// Where VLANs or tunnels are to count, fragments of different ones never meet.
#[test]
fn fragments_of_different_contexts_do_not_meet() {
    let mut defragmenter = Defragmenter::new(DefragOptions::default());
    let whole = Whole::new(false, 5, 0, vec![1; 32]);
    let (first, last) = (whole.fragment(0, 16, 0), whole.fragment(16, 32, 0));
    let mut send = |fragment: &(Vec<u8>, _), context| {
        let inserted = defragmenter.insert(&fragment.0, &fragment.1, context);
        matches!(inserted, Inserted::Complete(_))
    };
    assert!(!send(&first, 1));
    assert!(!send(&last, 2));
    assert!(send(&last, 1));
    assert!(send(&first, 2));
}
