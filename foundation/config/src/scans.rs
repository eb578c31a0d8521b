//! What counts as a scan or a flood.

use crate::options::{Flag, options};
use crate::{NetworkText, Span};
use flowpin_packet::Network;

options! {
    /// Thresholds and exceptions of scan and flood detection.
    #[derive(Clone, Debug, PartialEq, Eq)]
    plan ScansPlan {
        [scans] ScanSettings: "`[scans]`: what counts as a scan or a flood." {
            /// Look for scans and floods.
            enabled: bool => enabled: bool = true,
                flag Flag::value("scans", "on|off", "Look for scans and floods; thresholds and \
                    exceptions: `[scans]` in settings");
            /// How far back attempts count.
            window: Span => window_ns: u64 = 300_000_000_000, not_zero "the scan window";
            /// How far back they count of sources that hardly ever succeed: slow scans.
            long_window: Span => long_window_ns: u64 = 86_400_000_000_000,
                not_zero "the long scan window";
            /// Hosts that refuse or do not answer on one port: a horizontal scan.
            hosts: u32 => hosts_min: u32 = 40, not_zero "the hosts of a scan";
            /// Ports of one host that refuse or do not answer: a vertical scan.
            ports: u32 => ports_min: u32 = 20, not_zero "the ports of a scan";
            /// Both together, of a source that hardly ever succeeds: a scan.
            failures: u32 => failures_min: u32 = 11, not_zero "the failures of a scan";
            /// Likewise, each another host and another port: a sparse scan.
            targets: u32 => targets_min: u32 = 100, not_zero "the targets of a scan";
            /// As many targets as `failures` are a scan, answered or not, as libnids has it.
            sensitive: bool => sensitive: bool = false;
            /// Protocols asked of one host: an IP-protocol scan.
            protocols: u32 => protocols_min: u32 = 10, not_zero "the protocols of a scan";
            /// SYNs a second without a handshake, to one host: a flood.
            syn_rate: u32 => syn_rate: u32 = 1000, not_zero "the rate of a SYN flood";
            /// ICMP requests a second to one host.
            icmp_rate: u32 => icmp_rate: u32 = 1000, not_zero "the rate of an ICMP flood";
            /// UDP datagrams a second to one host, without an answer.
            udp_rate: u32 => udp_rate: u32 = 20_000, not_zero "the rate of a UDP flood";
            /// TCP acknowledgements a second to one host, of no connection.
            ack_rate: u32 => ack_rate: u32 = 5000, not_zero "the rate of an ACK flood";
            /// TCP resets a second to one host, of no connection.
            rst_rate: u32 => rst_rate: u32 = 1000, not_zero "the rate of a RST flood";
            /// Networks that may scan.
            allow_sources: Vec<NetworkText> => allow_sources: Vec<Network> = Vec::new();
            /// Networks that may be scanned and flooded.
            allow_targets: Vec<NetworkText> => allow_targets: Vec<Network> = Vec::new();
        }
    }
}
