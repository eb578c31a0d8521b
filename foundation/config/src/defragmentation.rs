//! How much is kept for fragments, and how long.

use crate::options::options;
use crate::{ByteSize, Span};

// 30 s as Linux has it for IPv4, 60 s as RFC 8200 §4.5 has it for IPv6. Over the smallest common
// path (256 bytes, radio links) the greatest datagram needs 283 fragments; 8,192 would be the
// number of units.
options! {
    /// Caps, time-outs and keys of defragmentation.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    plan DefragmentationPlan {
        [defragmentation] DefragmentationSettings:
            "`[defragmentation]`: caps and keys of fragments." {
            /// For fragments that wait; a quarter of all memory if not set, 512 MiB at most.
            memory: ByteSize => memory_bytes: Option<u64> = None, example "\"256 MiB\"",
                not_zero "memory for fragments";
            /// For fragments from one address; no limit of its own if not set.
            host_memory: ByteSize => host_bytes: Option<u64> = None, example "\"64 MiB\"",
                not_zero "host_memory";
            /// For the fragments of one datagram.
            datagram_memory: ByteSize => datagram_bytes: u64 = 128 << 10,
                not_zero "datagram_memory";
            /// Fragments of one datagram: what has more is not put together.
            fragments_max: u16 => fragments_max: u16 = 1024, not_zero "fragments_max";
            /// Capture time that an IPv4 datagram may take from its first fragment on.
            timeout: Span => ipv4_timeout_ns: u64 = 30_000_000_000,
                not_zero "the time-out of fragments";
            /// As above, for IPv6.
            ipv6_timeout: Span => ipv6_timeout_ns: u64 = 60_000_000_000,
                not_zero "the time-out of IPv6 fragments";
            /// Never put fragments of different VLANs together.
            by_vlan: bool => by_vlan: bool = false;
            /// Never put fragments of different tunnels together.
            by_tunnel: bool => by_tunnel: bool = false;
        }
    }
}
