//! What counts as a scan or a flood.

use crate::{NetworkText, ScanSettings, Span};
use flowpin_packet::Network;

/// Thresholds and exceptions of scan and flood detection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScansPlan {
    /// Whether it is on.
    pub enabled: bool,
    /// How far back attempts count.
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
    /// Whether as many targets as `failures_min`, answered or not, are a scan, too.
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
}

impl Default for ScansPlan {
    fn default() -> Self {
        Self {
            enabled: true,
            window_ns: 300_000_000_000,
            long_window_ns: 86_400_000_000_000,
            hosts_min: 40,
            ports_min: 20,
            failures_min: 11,
            targets_min: 100,
            sensitive: false,
            protocols_min: 10,
            syn_rate: 1000,
            icmp_rate: 1000,
            udp_rate: 20_000,
            ack_rate: 5000,
            rst_rate: 1000,
            allow_sources: Vec::new(),
            allow_targets: Vec::new(),
        }
    }
}

impl From<ScanSettings> for ScansPlan {
    fn from(settings: ScanSettings) -> Self {
        let defaults = Self::default();
        let networks = |networks: Option<Vec<NetworkText>>| {
            let networks = networks.unwrap_or_default();
            networks.into_iter().map(|network| network.0).collect()
        };
        Self {
            enabled: settings.enabled.unwrap_or(defaults.enabled),
            window_ns: settings.window.map_or(defaults.window_ns, |span| span.0),
            hosts_min: settings.hosts.unwrap_or(defaults.hosts_min),
            ports_min: settings.ports.unwrap_or(defaults.ports_min),
            long_window_ns: settings
                .long_window
                .map_or(defaults.long_window_ns, |span| span.0),
            failures_min: settings.failures.unwrap_or(defaults.failures_min),
            targets_min: settings.targets.unwrap_or(defaults.targets_min),
            sensitive: settings.sensitive.unwrap_or(defaults.sensitive),
            protocols_min: settings.protocols.unwrap_or(defaults.protocols_min),
            syn_rate: settings.syn_rate.unwrap_or(defaults.syn_rate),
            icmp_rate: settings.icmp_rate.unwrap_or(defaults.icmp_rate),
            udp_rate: settings.udp_rate.unwrap_or(defaults.udp_rate),
            ack_rate: settings.ack_rate.unwrap_or(defaults.ack_rate),
            rst_rate: settings.rst_rate.unwrap_or(defaults.rst_rate),
            allow_sources: networks(settings.allow_sources),
            allow_targets: networks(settings.allow_targets),
        }
    }
}

impl From<&ScansPlan> for ScanSettings {
    fn from(plan: &ScansPlan) -> Self {
        let networks =
            |networks: &[Network]| Some(networks.iter().copied().map(NetworkText).collect());
        Self {
            enabled: Some(plan.enabled),
            window: Some(Span(plan.window_ns)),
            hosts: Some(plan.hosts_min),
            ports: Some(plan.ports_min),
            long_window: Some(Span(plan.long_window_ns)),
            failures: Some(plan.failures_min),
            targets: Some(plan.targets_min),
            sensitive: Some(plan.sensitive),
            protocols: Some(plan.protocols_min),
            syn_rate: Some(plan.syn_rate),
            icmp_rate: Some(plan.icmp_rate),
            udp_rate: Some(plan.udp_rate),
            ack_rate: Some(plan.ack_rate),
            rst_rate: Some(plan.rst_rate),
            allow_sources: networks(&plan.allow_sources),
            allow_targets: networks(&plan.allow_targets),
        }
    }
}

impl ScansPlan {
    /// What is 0 and must not be.
    pub(crate) fn zero(&self) -> Option<&'static str> {
        [
            (self.window_ns, "the scan window"),
            (u64::from(self.hosts_min), "the hosts of a scan"),
            (u64::from(self.ports_min), "the ports of a scan"),
            (self.long_window_ns, "the long scan window"),
            (u64::from(self.failures_min), "the failures of a scan"),
            (u64::from(self.targets_min), "the targets of a scan"),
            (u64::from(self.protocols_min), "the protocols of a scan"),
            (u64::from(self.syn_rate), "the rate of a SYN flood"),
            (u64::from(self.icmp_rate), "the rate of an ICMP flood"),
            (u64::from(self.udp_rate), "the rate of a UDP flood"),
            (u64::from(self.ack_rate), "the rate of an ACK flood"),
            (u64::from(self.rst_rate), "the rate of a RST flood"),
        ]
        .into_iter()
        .find_map(|(value, what)| (value == 0).then_some(what))
    }
}
