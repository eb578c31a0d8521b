//! Which attempts may be a scanner's.

use crate::event::{Begin, Probe};

/// Whether it may be a scanner's. Groups are not scanned. An acknowledgement to a higher port than
/// its own is more likely a server's, whose client was not captured.
#[inline]
pub(super) fn is_question(first: &Begin) -> bool {
    match first.probe {
        Probe::Other => false,
        Probe::Syn => true,
        Probe::Ack | Probe::Maimon => first.port < first.source_port,
        _ => !is_group(&first.target, first.ipv6),
    }
}

/// Multicast (RFC 5771, RFC 4291 §2.7), and addresses that end in 255, which are broadcasts of
/// most networks.
#[inline]
pub(super) fn is_group(address: &[u8; 16], ipv6: bool) -> bool {
    let [first, _, _, last, ..] = *address;
    if ipv6 {
        first == 0xff
    } else {
        first >= 224 || last == 255
    }
}
