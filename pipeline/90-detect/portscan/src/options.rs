//! What counts as a scan or a flood: the configuration's `[scans]`, and the key of identifiers.

use flowpin_config::ScansPlan;
use flowpin_packet::Network;

/// Thresholds and exceptions; the defaults are the configuration's.
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
    /// TCP acknowledgements a second that belong to no connection, to one host.
    pub ack_rate: u32,
    /// Likewise TCP resets.
    pub rst_rate: u32,
    /// Sources whose scans are nobody's concern.
    pub allow_sources: Vec<Network>,
    /// Hosts that may be scanned and flooded.
    pub allow_targets: Vec<Network>,
    /// Keys identifiers (`--id-seed`).
    pub id_seed: u64,
}

impl ScanOptions {
    /// What the configuration says.
    pub fn new(plan: &ScansPlan, id_seed: u64) -> Self {
        Self {
            window_ns: plan.window_ns,
            hosts_min: plan.hosts_min,
            ports_min: plan.ports_min,
            protocols_min: plan.protocols_min,
            syn_rate: plan.syn_rate,
            icmp_rate: plan.icmp_rate,
            udp_rate: plan.udp_rate,
            ack_rate: plan.ack_rate,
            rst_rate: plan.rst_rate,
            allow_sources: plan.allow_sources.clone(),
            allow_targets: plan.allow_targets.clone(),
            id_seed,
        }
    }
}

impl Default for ScanOptions {
    fn default() -> Self {
        Self::new(&ScansPlan::default(), 0)
    }
}
