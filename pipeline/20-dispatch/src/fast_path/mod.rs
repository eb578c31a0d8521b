//! The fast path: ordinary TCP and UDP packets in Ethernet frames, at known offsets.
//!
//! ```text
//!  0          L3 = 14, 18 or 22    + 20 or 40          + 20.. or 8
//!  │ Ethernet, tags │ IPv4 or IPv6 header │ TCP or UDP header │ payload
//! ```
//!
//! It accepts Ethernet with at most two VLAN tags, IPv4 without options that is no fragment, IPv6
//! without extension headers, and TCP or UDP that no tunnel can hide in: nearly all packets of
//! nearly all captures. It refuses everything else, broken packets included, and the slow path
//! (`slow_path.rs`) starts from the beginning of the frame. For packets that it accepts, the
//! slow path gives the same descriptor (property tests in `tests/robust.rs`), so nothing is
//! decided here: which packets take which path affects speed alone.
// PERF: the commonest stack of headers stands at fixed offsets, so it needs no loop over layers,
// and the frame's fields stay in registers because this code is inlined into the loop over frames.
// Packets other than untagged IPv4 pay for one call. Instructions a packet for all of dispatch
// (callgrind, `examples/measure.rs`): docs/decisions/0028-fast-path.md.

mod network;
mod refusal;
mod transport;

pub use refusal::SlowReason;

use crate::dispatcher::Origin;
use crate::pin::hash::Hasher;
use flowpin_packet::{Frame, LinkType, PacketFlags, PacketMeta};
use flowpin_wire::{Next, ether_type};
use refusal::Refusal;

/// Fills `meta`, except for checksums. If it refuses the frame, `meta` may hold anything.
///
/// With `DECODE` off, TCP's numbers stay unread ([`PacketFlags::UNDECODED`]); the header is
/// validated all the same, so that reading them later cannot fail.
#[inline(always)]
pub(crate) fn describe<const DECODE: bool, R: Refusal>(
    captured: &[u8],
    frame: &Frame,
    origin: Origin,
    hasher: &Hasher,
    meta: &mut PacketMeta,
) -> Result<(), R> {
    // PERF: with this one comparison of lengths, all others in the inlined code fall away.
    match captured.first_chunk::<HEADERS_LEN>() {
        Some(h) if [h[12], h[13]] == ether_type::IPV4.to_be_bytes() => {
            let (l3, flags) = (ETHERNET_LEN, 0);
            network::ipv4::<DECODE, R>(captured, l3, flags, frame, origin, hasher, meta)
        }
        _ => describe_other::<DECODE, R>(captured, *frame, origin, hasher, meta),
    }
}

/// IPv6 packets, tagged frames, and frames with a short UDP payload and no padding.
// PERF: out of line, and the frame by value, so that the loop over frames stays small and keeps
// the frame's fields in registers.
#[inline(never)]
fn describe_other<const DECODE: bool, R: Refusal>(
    captured: &[u8],
    frame: Frame,
    origin: Origin,
    hasher: &Hasher,
    meta: &mut PacketMeta,
) -> Result<(), R> {
    let (mut l3, mut flags) = (ETHERNET_LEN, 0);
    let mut ether_type = type_before(captured, l3)?;
    for _ in 0..TAGS_MAX {
        if Next::from_ether_type(ether_type) != Next::Vlan {
            break;
        }
        (l3, flags) = (l3 + TAG_LEN, PacketFlags::VLAN.0);
        ether_type = type_before(captured, l3)?;
    }
    match ether_type {
        ether_type::IPV4 => {
            network::ipv4::<DECODE, R>(captured, l3, flags, &frame, origin, hasher, meta)
        }
        ether_type::IPV6 => {
            network::ipv6::<DECODE, R>(captured, l3, flags, &frame, origin, hasher, meta)
        }
        _ => Err(R::because(SlowReason::EtherType(ether_type))),
    }
}

/// The type that ends just before `l3`.
#[inline]
fn type_before<R: Refusal>(captured: &[u8], l3: usize) -> Result<u16, R> {
    let bytes = captured.get(l3 - 2..).and_then(|rest| rest.first_chunk());
    let bytes = bytes.ok_or_else(|| R::because(SlowReason::Short))?;
    Ok(u16::from_be_bytes(*bytes))
}

/// Copies what the frame says into the descriptor.
#[inline(always)]
fn store_frame(frame: &Frame, origin: Origin, meta: &mut PacketMeta) {
    meta.time = frame.time;
    meta.stream_time = origin.stream_time;
    meta.number = origin.number;
    meta.frame_start = frame.start;
    meta.captured_len = frame.captured_len;
    meta.wire_len = frame.wire_len;
    meta.link = LinkType::Ethernet;
    meta.interface = frame.interface;
}

/// Length of an Ethernet header.
const ETHERNET_LEN: usize = 14;
/// Length of the commonest stack of headers: Ethernet, IPv4, TCP.
const HEADERS_LEN: usize = 54;
/// Length of a VLAN tag.
const TAG_LEN: usize = 4;
/// Tags that are skipped here; a frame with more takes the slow path.
const TAGS_MAX: usize = 2;
