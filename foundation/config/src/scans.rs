//! Detection of scans and floods.

use crate::options::{Flag, options};
use crate::{NetworkText, Span};
use flowpin_packet::Network;

options! {
    /// Thresholds and exceptions of scan and flood detection.
    #[derive(Clone, Debug, PartialEq, Eq)]
    plan ScansPlan {
        [scans] ScanSettings: "`[scans]`: detection of scans and floods." {
            /// Detect scans and floods.
            enabled: bool => enabled: bool = true,
                flag Flag::value("scans", "on|off", "Detect scans and floods; thresholds and \
                    exceptions are settings in `[scans]`");
            /// How far back attempts count.
            window: Span => window_ns: u64 = 300_000_000_000, not_zero "the scan window";
            /// How far back they count for sources that hardly ever succeed (slow scans).
            long_window: Span => long_window_ns: u64 = 86_400_000_000_000,
                not_zero "the long scan window";
            /// Horizontal scan: hosts that refuse or do not answer on one port.
            hosts: u32 => hosts_min: u32 = 40, not_zero "the hosts of a scan";
            /// Vertical scan: ports of one host that refuse or do not answer.
            ports: u32 => ports_min: u32 = 20, not_zero "the ports of a scan";
            /// Failures along one host or port, for a source that hardly ever succeeds.
            failures: u32 => failures_min: u32 = 11, not_zero "the failures of a scan";
            /// Sparse scan: failures of such a source, each at a different host and port.
            targets: u32 => targets_min: u32 = 100, not_zero "the targets of a scan";
            /// Report `failures` targets as a scan, whether they answer or not, as libnids does.
            sensitive: bool => sensitive: bool = false;
            /// IP protocol scan: protocols tried on one host.
            protocols: u32 => protocols_min: u32 = 10, not_zero "the protocols of a scan";
            /// SYN flood: SYNs a second to one host without a handshake.
            syn_rate: u32 => syn_rate: u32 = 1000, not_zero "the rate of a SYN flood";
            /// ICMP flood: requests a second to one host.
            icmp_rate: u32 => icmp_rate: u32 = 1000, not_zero "the rate of an ICMP flood";
            /// UDP flood: datagrams a second to one host without an answer.
            udp_rate: u32 => udp_rate: u32 = 20_000, not_zero "the rate of a UDP flood";
            /// ACK flood: TCP acknowledgements a second to one host outside any connection.
            ack_rate: u32 => ack_rate: u32 = 5000, not_zero "the rate of an ACK flood";
            /// RST flood: TCP resets a second to one host outside any connection.
            rst_rate: u32 => rst_rate: u32 = 1000, not_zero "the rate of a RST flood";
            /// Networks whose scans are not reported.
            allow_sources: Vec<NetworkText> => allow_sources: Vec<Network> = Vec::new();
            /// Networks for which scans and floods are not reported.
            allow_targets: Vec<NetworkText> => allow_targets: Vec<Network> = Vec::new();
        }
    }
}
