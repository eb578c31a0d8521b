//! Caps, time-outs and policies.

use flowpin_config::{DefragmentationPlan, FragmentOverlap};
use flowpin_packet::NetworkMap;

/// Caps, time-outs and policies.
#[derive(Clone, Debug)]
pub struct DefragOptions {
    /// Memory for fragments that wait, pools included. What does not fit pushes out the oldest
    /// datagram; of a source that holds more than an eighth of all, its own oldest.
    pub memory_bytes: u64,
    /// Memory for the fragments of one source address. What does not fit pushes out its oldest.
    pub host_bytes: u64,
    /// Memory for one datagram. What does not fit goes on alone, and so does the rest of it.
    pub datagram_bytes: u64,
    /// Fragments of one datagram, repeated ones included. Further ones go on alone.
    pub fragments_max: u16,
    /// How long, in stream time, an IPv4 datagram may take from its first fragment on.
    pub ipv4_timeout_ns: u64,
    /// As above for IPv6 (RFC 8200 §4.5: 60 s).
    pub ipv6_timeout_ns: u64,
    /// What is done where fragments overlap, by destination.
    pub overlap: NetworkMap<FragmentOverlap>,
    /// Keys the tables' hashes. No result depends on it.
    pub secret: u64,
}

impl Default for DefragOptions {
    /// 64 MiB and what a plan says; IPv4 takes what came first, IPv6 allows no overlap.
    fn default() -> Self {
        let plan = DefragmentationPlan::default();
        Self {
            memory_bytes: 64 << 20,
            host_bytes: u64::MAX,
            datagram_bytes: plan.datagram_bytes,
            fragments_max: plan.fragments_max,
            ipv4_timeout_ns: plan.ipv4_timeout_ns,
            ipv6_timeout_ns: plan.ipv6_timeout_ns,
            overlap: NetworkMap::with_defaults(FragmentOverlap::First, FragmentOverlap::Refuse, []),
            secret: 0,
        }
    }
}
