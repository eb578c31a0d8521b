//! The dispatcher: from a frame to its descriptor.

use crate::fast_path::{self, SlowReason};
use crate::pin::hash::Hasher;
use crate::quality::Quality;
use crate::transport::checksum::verify;
use core::net::IpAddr;
use flowpin_packet::{FragmentRef, Frame, LinkType, Malformed, PacketFlags, PacketMeta, Timestamp};
use flowpin_wire::checksum::{ChecksumVerdict, Sum};

/// Settings of a [`Dispatcher`].
#[derive(Clone, Copy, Debug)]
pub struct DispatchOptions {
    /// Keys shards and identifiers (`--id-seed`).
    pub id_seed: u64,
    /// Keys the place in the table (`--seed`). Nothing written depends on it.
    pub secret: u64,
    /// `-k all`: a packet with a bad IP header checksum is refused. Verified here for every cut,
    /// because reassembly depends on it; so are the checksums of ICMP, and of packets with IPv6
    /// extension headers.
    pub verify_network: bool,
    /// Verify TCP and UDP checksums here as well (`--cut l3` and `1x1`). Otherwise call
    /// [`verify`](crate::verify) later, or not at all.
    pub checksums: bool,
    /// Read transport headers here; otherwise (`--cut capture`) call
    /// [`decode`](crate::decode) later.
    pub decode: bool,
}

impl Default for DispatchOptions {
    /// Everything is done here.
    fn default() -> Self {
        Self {
            id_seed: 0,
            secret: 0,
            verify_network: true,
            checksums: true,
            decode: true,
        }
    }
}

/// The number and stream time of a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    pub(crate) number: u64,
    pub(crate) stream_time: Timestamp,
}

/// The result of dispatching a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dispatched {
    /// A packet: its descriptor is filled.
    Packet,
    /// A fragment: it needs defragmentation first.
    Fragment(FragmentRef),
    /// No IP packet: ARP, spanning tree, …
    NonIp,
    /// Refused.
    Malformed(Malformed),
    /// The capture cut it before the addresses, so it belongs to no connection.
    Headless,
    /// Of a link type that is not supported.
    UnsupportedLink,
}

/// Finds the packet in each frame, its key and its shard.
///
/// ```
/// use flowpin_dispatch::{DispatchOptions, Dispatched, Dispatcher};
/// use flowpin_packet::{Frame, InterfaceId, LinkType, PacketKind, PacketMeta, Timestamp};
/// // An IPv4 packet with a UDP datagram: 10.0.0.1:7 → 10.0.0.2:53, no payload.
/// let bytes = [
///     0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, //
///     0, 7, 0, 53, 0, 8, 0, 0,
/// ];
/// let frame = Frame {
///     start: 0,
///     captured_len: 28,
///     wire_len: 28,
///     link: LinkType::Raw,
///     interface: InterfaceId::NONE,
///     time: Timestamp(1),
/// };
/// let mut dispatcher = Dispatcher::new(DispatchOptions::default());
/// let mut meta = PacketMeta::default();
/// let found = dispatcher.dispatch(&bytes, &frame, 1, Timestamp(1), &mut meta);
/// assert_eq!((found, meta.kind), (Dispatched::Packet, PacketKind::Udp));
/// assert_eq!((meta.key.ports(), meta.high_to_low()), ((7, 53), false));
/// ```
#[derive(Clone, Debug)]
pub struct Dispatcher {
    pub(crate) options: DispatchOptions,
    /// Whether any checksum is verified here.
    checks: bool,
    pub(crate) hasher: Hasher,
    pub(crate) quality: Quality,
    pub(crate) refused_addresses: Option<(IpAddr, IpAddr)>,
}

impl Dispatcher {
    /// A dispatcher that has seen nothing.
    pub fn new(options: DispatchOptions) -> Self {
        let hasher = Hasher::new(options.id_seed, options.secret);
        Self {
            options,
            checks: options.verify_network || options.checksums,
            hasher,
            quality: Quality::default(),
            refused_addresses: None,
        }
    }

    /// Whether transport headers are read here ([`DispatchOptions::decode`]): which of the two
    /// versions of [`Dispatcher::dispatch_fast`] to call.
    pub const fn decodes(&self) -> bool {
        self.options.decode
    }

    /// Describes the packet in `frame`, whose bytes lie in `bytes`, into `meta`.
    ///
    /// `meta` is valid only if [`Dispatched::Packet`] is returned.
    pub fn dispatch(
        &mut self,
        bytes: &[u8],
        frame: &Frame,
        number: u64,
        stream_time: Timestamp,
        meta: &mut PacketMeta,
    ) -> Dispatched {
        let is_described = if self.options.decode {
            self.dispatch_fast::<true>(bytes, frame, number, stream_time, meta)
        } else {
            self.dispatch_fast::<false>(bytes, frame, number, stream_time, meta)
        };
        if is_described {
            Dispatched::Packet
        } else {
            self.dispatch_slow(bytes, *frame, number, stream_time, meta)
        }
    }

    /// The fast path: describes the packet in `frame` if it is an ordinary one. Otherwise returns
    /// false with nothing counted, and the caller must call [`Dispatcher::dispatch_slow`].
    ///
    /// Together they are [`Dispatcher::dispatch`]; apart, so that this one can be inlined into a
    /// loop over frames. `DECODE` must be [`Dispatcher::decodes`].
    #[inline(always)]
    pub fn dispatch_fast<const DECODE: bool>(
        &mut self,
        bytes: &[u8],
        frame: &Frame,
        number: u64,
        stream_time: Timestamp,
        meta: &mut PacketMeta,
    ) -> bool {
        debug_assert_eq!(DECODE, self.options.decode);
        let origin = Origin {
            number,
            stream_time,
        };
        let start = frame.start as usize;
        let end = start.wrapping_add(frame.captured_len as usize);
        let Some(captured) = bytes.get(start..end) else {
            return false;
        };
        if frame.link as u8 != LinkType::Ethernet as u8
            || fast_path::describe::<DECODE, ()>(captured, frame, origin, &self.hasher, meta)
                .is_err()
        {
            return false;
        }
        if self.checks && !self.check(captured, meta) {
            return false;
        }
        let snapped = frame.captured_len < frame.wire_len;
        let late = frame.time < origin.stream_time;
        if snapped || late {
            self.quality.snapped += u64::from(snapped);
            set_rare_flags(snapped, late, meta);
        }
        self.quality.packets += 1;
        true
    }

    /// Verifies the configured checksums of a packet on the fast path; false if its IP header's
    /// does not hold.
    #[inline(never)]
    fn check(&mut self, captured: &[u8], meta: &mut PacketMeta) -> bool {
        if self.options.verify_network && !has_good_header(captured, meta) {
            return false;
        }
        if self.options.checksums {
            self.verify(captured, meta);
        }
        true
    }

    /// Counts of the in-order step.
    pub const fn quality(&self) -> &Quality {
        &self.quality
    }

    /// A dispatcher with the same settings that has seen nothing: for another thread.
    pub fn another(&self) -> Self {
        Self::new(self.options)
    }

    /// Adds what another one has seen.
    pub fn absorb(&mut self, other: &Self) {
        self.quality.add(&other.quality);
    }

    /// Source and destination of the frame that was refused last, if its IP header was legible.
    pub const fn refused_addresses(&self) -> Option<(IpAddr, IpAddr)> {
        self.refused_addresses
    }

    #[inline]
    pub(crate) fn verify(&mut self, captured: &[u8], meta: &mut PacketMeta) {
        match verify(meta, captured) {
            ChecksumVerdict::Good | ChecksumVerdict::NotChecked => {}
            ChecksumVerdict::Bad => self.quality.bad_checksums += 1,
            ChecksumVerdict::Offloaded => self.quality.offloaded_checksums += 1,
        }
    }
}

/// Whether the IP header's checksum holds, of a packet on the fast path.
#[inline(always)]
fn has_good_header(captured: &[u8], meta: &PacketMeta) -> bool {
    // IPv6 headers have no checksum.
    if meta.flags.has(PacketFlags::IPV6) {
        return true;
    }
    let header = captured.get(usize::from(meta.l3_offset)..);
    let header = header.and_then(|rest| rest.first_chunk::<20>());
    header.is_some_and(|header| Sum::of(header).fold() == 0xffff)
}

/// Why the fast path refuses a frame, whose captured bytes these are; `None` if it accepts it. The
/// answer is the fast path's own, in an instance of it that a run does not use.
///
/// `verify`: [`DispatchOptions::verify_network`].
pub fn slow_reason(captured: &[u8], frame: &Frame, verify: bool) -> Option<SlowReason> {
    if frame.link != LinkType::Ethernet {
        return Some(SlowReason::Link);
    }
    let origin = Origin {
        number: 0,
        stream_time: frame.time,
    };
    let mut meta = PacketMeta::default();
    let hasher = Hasher::new(0, 0);
    let described = fast_path::describe::<true, _>(captured, frame, origin, &hasher, &mut meta);
    match described {
        Err(reason) => Some(reason),
        Ok(()) if verify && !has_good_header(captured, &meta) => Some(SlowReason::HeaderChecksum),
        Ok(()) => None,
    }
}

#[cold]
#[inline(never)]
fn set_rare_flags(snapped: bool, late: bool, meta: &mut PacketMeta) {
    if snapped {
        meta.flags = meta.flags.with(PacketFlags::SNAPPED);
    }
    if late {
        meta.flags = meta.flags.with(PacketFlags::OUT_OF_ORDER);
    }
}
