//! What counts as a scan or a flood.

use flowpin_packet::Network;

/// Thresholds and exceptions. The defaults are those of [`ScanOptions::default`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScanOptions {
    /// How far back attempts count, in nanoseconds of stream time: a slower scan is not seen.
    pub window_ns: u64,
    /// Hosts that refuse or do not answer on one port: a horizontal scan.
    pub hosts_min: u32,
    /// Ports of one host that refuse or do not answer: a vertical scan.
    pub ports_min: u32,
    /// Protocols asked of one host: an IP-protocol scan.
    pub protocols_min: u32,
    /// SYNs without a handshake a second, to one host: a SYN flood.
    pub syn_rate: u32,
    /// ICMP requests a second, to one host.
    pub icmp_rate: u32,
    /// UDP datagrams without an answer a second, to one host.
    pub udp_rate: u32,
    /// Sources whose scans are nobody's concern.
    pub allow_sources: Vec<Network>,
    /// Hosts that may be scanned and flooded.
    pub allow_targets: Vec<Network>,
    /// Keys identifiers (`--id-seed`).
    pub id_seed: u64,
}

impl Default for ScanOptions {
    fn default() -> Self {
        Self {
            window_ns: 300_000_000_000,
            hosts_min: 40,
            ports_min: 20,
            protocols_min: 10,
            syn_rate: 1000,
            icmp_rate: 1000,
            udp_rate: 20_000,
            allow_sources: Vec::new(),
            allow_targets: Vec::new(),
            id_seed: 0,
        }
    }
}
