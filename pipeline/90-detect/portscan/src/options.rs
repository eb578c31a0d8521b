//! What counts as a scan or a flood: the configuration's `[scans]`, and the key of identifiers.

use crate::caps::ScanCaps;
use crate::event::Probe;
use flowpin_config::ScansPlan;
use flowpin_packet::Network;

/// Thresholds and exceptions; the defaults are the configuration's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScanOptions {
    /// How far back attempts count, in nanoseconds of stream time.
    pub window_ns: u64,
    /// How far back those of sources that hardly ever succeed do: a slower scan is not seen.
    pub long_window_ns: u64,
    /// Hosts that refuse or do not answer on one port: a horizontal scan.
    pub hosts_min: u32,
    /// Ports of one host that refuse or do not answer: a vertical scan.
    pub ports_min: u32,
    /// Hosts and ports together that fail, of a source that hardly ever succeeds.
    pub failures_min: u32,
    /// Likewise where each is another host and another port: a sparse scan.
    pub targets_min: u32,
    /// Whether more targets than `failures_min`, answered or not, are a scan, too.
    pub sensitive: bool,
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
    /// How much is kept.
    pub caps: ScanCaps,
}

impl ScanOptions {
    /// Whether it is enough to ask so, whatever comes of it.
    pub(crate) const fn is_enough(&self, probe: Probe) -> bool {
        self.sensitive && matches!(probe, Probe::Syn | Probe::Fin | Probe::Null | Probe::Xmas)
    }

    /// What the configuration says.
    pub fn new(plan: &ScansPlan, id_seed: u64, caps: ScanCaps) -> Self {
        Self {
            window_ns: plan.window_ns,
            long_window_ns: plan.long_window_ns.max(plan.window_ns),
            hosts_min: plan.hosts_min,
            ports_min: plan.ports_min,
            failures_min: plan.failures_min,
            targets_min: plan.targets_min,
            sensitive: plan.sensitive,
            protocols_min: plan.protocols_min,
            syn_rate: plan.syn_rate,
            icmp_rate: plan.icmp_rate,
            udp_rate: plan.udp_rate,
            ack_rate: plan.ack_rate,
            rst_rate: plan.rst_rate,
            allow_sources: plan.allow_sources.clone(),
            allow_targets: plan.allow_targets.clone(),
            id_seed,
            caps,
        }
    }
}

impl Default for ScanOptions {
    fn default() -> Self {
        Self::new(&ScansPlan::default(), 0, ScanCaps::default())
    }
}
