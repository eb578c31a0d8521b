//! The canonical key of a connection: the same for both directions.
//!
//! The layout is that of [`FlowKey`]. "Lower" and "higher" compare (address, port) as numbers, so
//! an endpoint sorts the same, whichever side sends.

use crate::pin::hash::address_digest;
use flowpin_packet::FlowKey;

/// The key, and whether the packet travels from the higher endpoint to the lower.
#[inline]
pub(crate) const fn ipv4_key(
    source: u32,
    destination: u32,
    source_port: u16,
    destination_port: u16,
    protocol: u8,
    subkind: u8,
) -> (FlowKey, bool) {
    let source = (source as u64) << 16 | source_port as u64;
    let destination = (destination as u64) << 16 | destination_port as u64;
    let high_to_low = source > destination;
    let (low, high) = if high_to_low {
        (destination, source)
    } else {
        (source, destination)
    };
    let low = ((subkind & 0x7f) as u64) << 56 | (protocol as u64) << 48 | low;
    (FlowKey { low, high }, high_to_low)
}

/// The key, whether the packet travels from the higher endpoint to the lower, and the addresses
/// in key order.
// PERF: inlined into the fast path, so that addresses stay in registers.
#[inline(always)]
pub(crate) fn ipv6_key(
    source: u128,
    destination: u128,
    source_port: u16,
    destination_port: u16,
    protocol: u8,
    subkind: u8,
) -> (FlowKey, bool, u128, u128) {
    let high_to_low = (source, source_port) > (destination, destination_port);
    let (low, low_port, high, high_port) = if high_to_low {
        (destination, destination_port, source, source_port)
    } else {
        (source, source_port, destination, destination_port)
    };
    let word = FlowKey::IPV6_BIT
        | u64::from(subkind & 0x7f) << 56
        | u64::from(protocol) << 48
        | u64::from(high_port) << 16
        | u64::from(low_port);
    let key = FlowKey {
        low: word,
        high: address_digest(low, high),
    };
    (key, high_to_low, low, high)
}

#[cfg(test)]
mod tests {
    use super::{ipv4_key, ipv6_key};
    use proptest::prelude::*;

    proptest! {
        /// Both directions of a connection have one key, and opposite directions unless both
        /// endpoints are the same.
        #[test]
        fn both_directions_have_one_key(
            a in prop_oneof![any::<u32>(), 0u32..4], b in prop_oneof![any::<u32>(), 0u32..4],
            p in prop_oneof![any::<u16>(), 0u16..4], q in prop_oneof![any::<u16>(), 0u16..4],
            protocol in any::<u8>(), subkind in 0u8..128,
        ) {
            let (there, down) = ipv4_key(a, b, p, q, protocol, subkind);
            let (back, up) = ipv4_key(b, a, q, p, protocol, subkind);
            prop_assert_eq!(there, back);
            prop_assert_eq!(down != up, (a, p) != (b, q));
            prop_assert_eq!(there.protocol(), protocol);
            prop_assert_eq!(there.subkind(), subkind);
            prop_assert!(!there.is_ipv6());
            prop_assert_eq!(there.ports(), if down { (q, p) } else { (p, q) });

            let (a, b) = (u128::from(a) << 90, u128::from(b) << 90);
            let (there, down, low, high) = ipv6_key(a, b, p, q, protocol, subkind);
            let (back, up, ..) = ipv6_key(b, a, q, p, protocol, subkind);
            prop_assert_eq!(there, back);
            prop_assert_eq!(down != up, (a, p) != (b, q));
            prop_assert!(low <= high && there.is_ipv6());
            prop_assert_eq!(there.ports(), if down { (q, p) } else { (p, q) });
        }
    }
}
