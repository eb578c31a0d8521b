//! How many fragments are kept, and how long.

use crate::options::options;
use crate::{ByteSize, Span};

// 30 s as in Linux for IPv4, 60 s as in RFC 8200 §4.5 for IPv6. Over the smallest common path MTU
// (256 bytes, radio links) the largest datagram needs 283 fragments; 8,192 would be the number of
// fragment units.
options! {
    /// Caps, time-outs and keys of defragmentation.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    plan DefragmentationPlan {
        [defragmentation] DefragmentationSettings:
            "`[defragmentation]`: caps and keys of fragments." {
            /// Memory for waiting fragments; if not set, a quarter of `--memory`, 512 MiB at most.
            memory: ByteSize => memory_bytes: Option<u64> = None, example "\"256 MiB\"",
                not_zero "memory for fragments";
            /// Memory for waiting fragments from one address; no separate limit if not set.
            host_memory: ByteSize => host_bytes: Option<u64> = None, example "\"64 MiB\"",
                not_zero "host_memory";
            /// Memory for the fragments of one datagram.
            datagram_memory: ByteSize => datagram_bytes: u64 = 128 << 10,
                not_zero "datagram_memory";
            /// Most fragments of a datagram; datagrams with more are not reassembled.
            fragments_max: u16 => fragments_max: u16 = 1024, not_zero "fragments_max";
            /// Time-out of an IPv4 datagram: capture time from its first fragment.
            timeout: Span => ipv4_timeout_ns: u64 = 30_000_000_000,
                not_zero "the time-out of fragments";
            /// The same for IPv6.
            ipv6_timeout: Span => ipv6_timeout_ns: u64 = 60_000_000_000,
                not_zero "the time-out of IPv6 fragments";
            /// Never combine fragments from different VLANs.
            by_vlan: bool => by_vlan: bool = false;
            /// Never combine fragments from different tunnels.
            by_tunnel: bool => by_tunnel: bool = false;
        }
    }
}
