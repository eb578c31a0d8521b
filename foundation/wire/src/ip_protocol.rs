//! IP protocol numbers (IANA "Assigned Internet Protocol Numbers") that are read here.

/// IPv6 hop-by-hop options.
pub const HOP_BY_HOP: u8 = 0;
/// ICMP.
pub const ICMP: u8 = 1;
/// IGMP.
pub const IGMP: u8 = 2;
/// IPv4 in IP.
pub const IPV4: u8 = 4;
/// TCP.
pub const TCP: u8 = 6;
/// UDP.
pub const UDP: u8 = 17;
/// DCCP.
pub const DCCP: u8 = 33;
/// IPv6 in IP.
pub const IPV6: u8 = 41;
/// IPv6 routing header.
pub const ROUTING: u8 = 43;
/// IPv6 fragment header.
pub const FRAGMENT: u8 = 44;
/// GRE.
pub const GRE: u8 = 47;
/// Encapsulating security payload: what follows cannot be read.
pub const ESP: u8 = 50;
/// Authentication header.
pub const AH: u8 = 51;
/// ICMPv6.
pub const ICMPV6: u8 = 58;
/// IPv6: nothing follows.
pub const NO_NEXT_HEADER: u8 = 59;
/// IPv6 destination options.
pub const DESTINATION_OPTIONS: u8 = 60;
/// L2TP version 3 directly over IP.
pub const L2TP: u8 = 115;
/// SCTP.
pub const SCTP: u8 = 132;
/// IPv6 mobility header.
pub const MOBILITY: u8 = 135;
/// UDP-Lite.
pub const UDP_LITE: u8 = 136;
/// MPLS in IP.
pub const MPLS: u8 = 137;
/// Host identity protocol.
pub const HIP: u8 = 139;
/// Shim6.
pub const SHIM6: u8 = 140;
/// Ethernet in IPv6 (SRv6).
pub const ETHERNET: u8 = 143;
/// NSH directly over IP.
pub const NSH: u8 = 145;
/// Reserved for experiments (RFC 3692): an IPv6 extension header or a transport, nobody can tell.
pub const EXPERIMENT_1: u8 = 253;
/// The other number reserved for experiments.
pub const EXPERIMENT_2: u8 = 254;
