//! Tunnels: headers that carry packets or frames of their own.
//!
//! A tunnel on a well-known port may be something else, so these views are strict: versions,
//! reserved bits and the protocol inside must be as the standard says, or `parse` refuses.
//! Dispatch takes a refusal on a UDP port for "not this tunnel", not for a broken packet.

mod ayiya;
mod capwap;
mod erspan;
mod geneve;
mod gre;
mod gtpu;
mod l2tp;
mod nsh;
mod ports;
mod teredo;
mod vxlan;
mod wireguard;

pub use ayiya::AyiyaHeader;
pub use capwap::CapwapHeader;
pub use erspan::{Erspan2Header, Erspan3Header};
pub use geneve::{GeneveHeader, GeneveOption, GeneveOptions};
pub use gre::{EoipHeader, GreHeader};
pub use gtpu::GtpuHeader;
pub use l2tp::{L2tpHeader, L2tpVersion};
pub use nsh::NshHeader;
pub use ports::{IpTunnel, UdpTunnel};
pub use teredo::{TeredoHeader, TeredoOrigin};
pub use vxlan::{VxlanGpeHeader, VxlanHeader};
pub use wireguard::{WireguardKind, WireguardMessage};

use crate::Next;
use crate::link::looks_like_ethernet;
use flowpin_packet::{Layer, Malformed, Reason, bad};

/// Refuses a payload that is not what the header around it says: the header's few fixed bits
/// are easily met by chance (a DNS query with the right identifier begins like VXLAN).
fn check_carried(next: Next, payload: &[u8], layer: Layer, offset: u16) -> Result<(), Malformed> {
    let (least_len, plausible) = match next {
        Next::Ethernet => (14, looks_like_ethernet(payload)),
        Next::Ipv4 | Next::Ipv6 => (1, Next::from_ip_version(payload) == next),
        Next::Ip => (1, Next::from_ip_version(payload) != Next::Opaque),
        _ => (0, true),
    };
    if payload.len() < least_len {
        return Err(bad(layer, Reason::Truncated, offset));
    }
    if !plausible {
        return Err(bad(layer, Reason::IllegalValue, offset));
    }
    Ok(())
}
