//! How much is kept for fragments, and how long.

use crate::{ByteSize, DefragmentationSettings, Span};

/// Caps, time-outs and keys of defragmentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DefragmentationPlan {
    /// For all fragments that wait; none: a share of the plan's memory.
    pub memory_bytes: Option<u64>,
    /// For the fragments of one source address; none: as much as there is.
    pub host_bytes: Option<u64>,
    /// For one datagram.
    pub datagram_bytes: u64,
    /// Fragments of one datagram.
    pub fragments_max: u16,
    /// Stream time that an IPv4 datagram may take from its first fragment on.
    pub ipv4_timeout_ns: u64,
    /// As above for IPv6.
    pub ipv6_timeout_ns: u64,
    /// Fragments of different VLANs never belong together.
    pub by_vlan: bool,
    /// Fragments of different tunnels never belong together.
    pub by_tunnel: bool,
}

impl Default for DefragmentationPlan {
    /// 30 s as Linux has it for IPv4, 60 s as RFC 8200 §4.5 has it for IPv6.
    fn default() -> Self {
        Self {
            memory_bytes: None,
            host_bytes: None,
            datagram_bytes: 128 << 10,
            // Over the smallest common path (256 bytes, radio links) the greatest datagram needs
            // 283; 8,192 would be the number of units.
            fragments_max: 1024,
            ipv4_timeout_ns: 30_000_000_000,
            ipv6_timeout_ns: 60_000_000_000,
            by_vlan: false,
            by_tunnel: false,
        }
    }
}

impl From<DefragmentationSettings> for DefragmentationPlan {
    fn from(settings: DefragmentationSettings) -> Self {
        let defaults = Self::default();
        let bytes = |size: Option<ByteSize>| size.map(|size| size.0);
        let nanos = |span: Option<Span>, default| span.map_or(default, |span| span.0);
        let datagram_bytes = bytes(settings.datagram_memory).unwrap_or(defaults.datagram_bytes);
        Self {
            memory_bytes: bytes(settings.memory),
            host_bytes: bytes(settings.host_memory),
            datagram_bytes,
            fragments_max: settings.fragments_max.unwrap_or(defaults.fragments_max),
            ipv4_timeout_ns: nanos(settings.timeout, defaults.ipv4_timeout_ns),
            ipv6_timeout_ns: nanos(settings.ipv6_timeout, defaults.ipv6_timeout_ns),
            by_vlan: settings.by_vlan.unwrap_or(defaults.by_vlan),
            by_tunnel: settings.by_tunnel.unwrap_or(defaults.by_tunnel),
        }
    }
}

impl From<&DefragmentationPlan> for DefragmentationSettings {
    fn from(plan: &DefragmentationPlan) -> Self {
        Self {
            memory: plan.memory_bytes.map(ByteSize),
            host_memory: plan.host_bytes.map(ByteSize),
            datagram_memory: Some(ByteSize(plan.datagram_bytes)),
            fragments_max: Some(plan.fragments_max),
            timeout: Some(Span(plan.ipv4_timeout_ns)),
            ipv6_timeout: Some(Span(plan.ipv6_timeout_ns)),
            by_vlan: Some(plan.by_vlan),
            by_tunnel: Some(plan.by_tunnel),
        }
    }
}

impl DefragmentationPlan {
    /// The name of a setting that must not be 0 and is.
    pub(crate) fn zero(&self) -> Option<&'static str> {
        [
            (self.memory_bytes, "memory for fragments"),
            (self.host_bytes, "host_memory"),
            (Some(self.datagram_bytes), "datagram_memory"),
            (Some(u64::from(self.fragments_max)), "fragments_max"),
            (Some(self.ipv4_timeout_ns), "the time-out of fragments"),
            (Some(self.ipv6_timeout_ns), "the time-out of IPv6 fragments"),
        ]
        .into_iter()
        .find_map(|(value, name)| (value == Some(0)).then_some(name))
    }
}
