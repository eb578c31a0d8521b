//! The dispatcher: from a frame to its descriptor.

use crate::pin::hash::Hasher;
use crate::quality::Quality;
use crate::straight::plain;
use crate::straight::{self, Origin, oddities, rare_flags};
use crate::transport::checksum::verify;
use core::net::IpAddr;
use flowpin_packet::{FragmentRef, Frame, LinkType, Malformed, PacketFlags, PacketMeta, Timestamp};
use flowpin_wire::checksum::{ChecksumVerdict, Sum};

/// What the dispatcher is to do.
#[derive(Clone, Copy, Debug)]
pub struct DispatchOptions {
    /// Keys shards and identifiers (`--id-seed`).
    pub id_seed: u64,
    /// Keys the place in the table (`--seed`). Nothing written depends on it.
    pub secret: u64,
    /// `-k all`: a packet whose IP header's checksum does not hold is refused. Verified here for
    /// every cut, because reassembly depends on it; so are ICMP's checksums, and those of packets
    /// behind IPv6 extension headers.
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

/// No link type has this number.
const NO_LINK: u8 = u8::MAX;

/// What a frame turned out to be.
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
    /// The capture cut it before the addresses: nobody can say whose it is.
    Headless,
    /// Of a link type that is not read.
    UnsupportedLink,
}

/// Finds the packet in each frame, its key and its shard.
///
/// ```
/// use flowpin_dispatch::{DispatchOptions, Dispatched, Dispatcher};
/// use flowpin_packet::{Frame, LinkType, PacketKind, PacketMeta, Timestamp};
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
    /// The link type's number of frames that may be plain; [`NO_LINK`] without decoding.
    plain_link: u8,
    /// Anything is to be verified.
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
            plain_link: if options.decode {
                LinkType::Ethernet as u8
            } else {
                NO_LINK
            },
            checks: options.verify_network || options.checksums,
            hasher,
            quality: Quality::default(),
            refused_addresses: None,
        }
    }

    /// Describes the packet in `frame`, whose bytes lie in `bytes`, into `meta`.
    ///
    /// What `meta` holds is of use only if [`Dispatched::Packet`] is returned.
    #[inline]
    pub fn dispatch(
        &mut self,
        bytes: &[u8],
        frame: &Frame,
        number: u64,
        stream_time: Timestamp,
        meta: &mut PacketMeta,
    ) -> Dispatched {
        if self.dispatch_plain(bytes, frame, number, stream_time, meta) {
            Dispatched::Packet
        } else {
            self.dispatch_other(bytes, *frame, number, stream_time, meta)
        }
    }

    /// Describes the packet in `frame` if it is of the commonest form. If not, nothing has
    /// happened yet, and [`Dispatcher::dispatch_other`] is to be called: together they are
    /// [`Dispatcher::dispatch`], in two parts so that the walk has this one inlined.
    #[inline(always)]
    pub fn dispatch_plain(
        &mut self,
        bytes: &[u8],
        frame: &Frame,
        number: u64,
        stream_time: Timestamp,
        meta: &mut PacketMeta,
    ) -> bool {
        let origin = Origin {
            number,
            stream_time,
        };
        let start = frame.start as usize;
        let end = start.wrapping_add(frame.captured_len as usize);
        let Some(captured) = bytes.get(start..end) else {
            return false;
        };
        if frame.link as u8 != self.plain_link
            || plain::describe(captured, frame, origin, &self.hasher, meta).is_none()
        {
            return false;
        }
        if self.checks && !self.check(captured, meta) {
            return false;
        }
        let (snapped, late) = oddities(frame, origin);
        if snapped || late {
            self.quality.snapped += u64::from(snapped);
            rare_flags(snapped, late, meta);
        }
        self.quality.packets += 1;
        true
    }

    /// Verifies what is to be verified of a plain IPv4 packet; false if its header does not hold.
    #[inline(never)]
    fn check(&mut self, captured: &[u8], meta: &mut PacketMeta) -> bool {
        if self.options.verify_network {
            let header = captured.get(14..).and_then(|rest| rest.first_chunk::<20>());
            if header.is_none_or(|header| Sum::of(header).fold() != 0xffff) {
                return false;
            }
        }
        if self.options.checksums {
            self.verify(captured, meta);
        }
        true
    }

    /// Any frame at all: what [`Dispatcher::dispatch_plain`] did not take.
    #[inline(never)]
    pub fn dispatch_other(
        &mut self,
        bytes: &[u8],
        frame: Frame,
        number: u64,
        stream_time: Timestamp,
        meta: &mut PacketMeta,
    ) -> Dispatched {
        let start = frame.start as usize;
        let captured = bytes.get(start..start.wrapping_add(frame.captured_len as usize));
        let origin = Origin {
            number,
            stream_time,
        };
        if frame.link == LinkType::Ethernet
            && let Some(captured) = captured
        {
            let (hasher, verify_ip) = (&self.hasher, self.options.verify_network);
            let described = if self.options.decode {
                straight::describe::<true>(captured, &frame, origin, hasher, verify_ip, meta)
            } else {
                straight::describe::<false>(captured, &frame, origin, hasher, verify_ip, meta)
            };
            if described.is_some() {
                self.quality.packets += 1;
                if self.options.checksums {
                    self.verify(captured, meta);
                }
                if meta.flags.has(PacketFlags::SNAPPED) {
                    self.quality.snapped += 1;
                }
                return Dispatched::Packet;
            }
        }
        self.dispatch_slowly(captured.unwrap_or_default(), &frame, origin, meta)
    }

    /// Counts of the in-order step.
    pub const fn quality(&self) -> &Quality {
        &self.quality
    }

    /// Source and destination of the frame that was refused last, where an IP header was legible.
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
