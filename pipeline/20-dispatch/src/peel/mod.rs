//! The peel loop: goes through any stack of headers to the innermost readable packet.
//!
//! ```text
//!            ┌──────────────────────────────────────────────┐
//!            ▼                                              │ payload is a frame or packet
//!  link ─► network ─► transport ─► tunnel header validates ─┘
//!             │           │
//!             │           ├─► packet (also stored, in case the inside of a tunnel is unreadable)
//!             │           └─► ICMP error ─► the quoted packet, read the same way
//!             └─► fragment (reassembled by the engine, then the loop continues)
//! ```
//!
//! Decisions where protocols leave a choice:
//!
//! - A tunnel whose header does not validate is no tunnel: the packet counts for its own
//!   endpoints.
//! - A tunnel that contains a refused packet, no IP packet, or one without content (RFC 8200 §4.7)
//!   counts for its own endpoints too; a refusal is also counted. So no packet is lost, and none is
//!   accepted that a receiver would drop.
//! - A frame that the capture cut counts for the innermost readable endpoints.
//! - An ICMP error counts for the innermost endpoints in the packet that it quotes. If the quote is
//!   unreadable, it is a one-way message of its own.
//!
//! Each round takes at least one byte and counts against [`LAYERS_MAX`], so the loop ends.

mod ip;
mod link;
mod network;
mod quote;
mod transport;
mod tunnel;

pub(crate) use network::{Found, Network};
pub use tunnel::TunnelLayer;

use flowpin_packet::{FragmentRef, Layer, LinkType, Malformed, PacketFlags, Reason, bad};
use flowpin_wire::Next;

/// Layers that are peeled before a packet is refused: frames, tags, packets, tunnel headers.
pub(crate) const LAYERS_MAX: u8 = 16;

/// The state of the loop.
pub(crate) struct Peel<'a, W> {
    /// The captured bytes, from the start of the frame.
    pub(crate) bytes: &'a [u8],
    /// Where the current layer starts.
    pub(crate) at: usize,
    /// Where its packet ends, as the headers around it claim.
    pub(crate) wire_end: usize,
    /// Where it ends in the capture: at most `wire_end`, at most the length of `bytes`.
    pub(crate) captured_end: usize,
    /// Layers so far.
    pub(crate) layers: u8,
    /// VLAN, TUNNELLED and the flags set by the caller.
    pub(crate) flags: PacketFlags,
    /// Refuse IP headers whose checksum does not hold.
    pub(crate) verify: bool,
    /// The packet was dispatched before, and only its encapsulation is wanted. Around a reassembled
    /// datagram, outer lengths are those of one fragment.
    pub(crate) again: bool,
    /// An IP header's checksum was 0 and wrong: offloaded to the sender's adapter.
    pub(crate) ip_checksum_offloaded: bool,
    /// The ICMP error whose quote is being read.
    pub(crate) error: Option<quote::IcmpError>,
    /// The innermost packet so far. It is the result if its content cannot be read.
    pub(crate) found: Option<Found>,
    /// The innermost IP header so far.
    pub(crate) network: Option<Network>,
    /// Receives tags and tunnels.
    pub(crate) watch: W,
}

/// Receives the layers that are peeled off. The dispatcher ignores them; [`crate::vlans`] and
/// [`crate::tunnels`] do not.
pub(crate) trait Watch {
    /// A VLAN tag.
    fn vlan(&mut self, id: u16);
    /// A tunnel header that was entered; its content may still be unreadable.
    fn tunnel(&mut self, layer: TunnelLayer);
    /// A layer is about to be read.
    fn layer(&mut self, next: Next, at: usize) {
        let _ = (next, at);
    }
    /// A transport header is about to be read.
    fn transport(&mut self, protocol: u8, at: usize) {
        let _ = (protocol, at);
    }
}

impl Watch for () {
    fn vlan(&mut self, _id: u16) {}
    fn tunnel(&mut self, _layer: TunnelLayer) {}
}

/// What a step found.
pub(crate) enum Step {
    /// Another layer, at `at`.
    Next(Next),
    /// A packet: `found`.
    Packet,
    /// A fragment.
    Fragment(FragmentRef),
    /// No IP packet.
    NonIp(NonIp),
}

/// What was found instead of an IP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NonIp {
    Arp,
    Lldp,
    Stp,
    Ppp,
    Ieee80211,
    Other,
    UnsupportedLink(LinkType),
}

/// What the loop found.
pub(crate) enum Outcome {
    /// A packet, in `found`; and why the content of its tunnel was refused.
    Packet(Option<Malformed>),
    /// A fragment.
    Fragment(FragmentRef),
    /// No IP packet.
    NonIp(NonIp),
    /// The capture cut the frame before the first addresses.
    Headless,
    /// Refused.
    Malformed(Malformed),
}

impl<'a, W: Watch> Peel<'a, W> {
    /// At the first byte of a frame of `wire_len` bytes.
    pub(crate) fn new(bytes: &'a [u8], wire_len: usize, watch: W) -> Self {
        let wire_end = wire_len.max(bytes.len());
        Self {
            bytes,
            at: 0,
            wire_end,
            captured_end: bytes.len(),
            layers: 0,
            flags: PacketFlags(0),
            verify: false,
            again: false,
            ip_checksum_offloaded: false,
            error: None,
            found: None,
            network: None,
            watch,
        }
    }

    /// Peels from `next` on.
    pub(crate) fn run(&mut self, mut next: Next) -> Outcome {
        loop {
            self.watch.layer(next, self.at);
            let step = match self.layers {
                LAYERS_MAX.. => Err(bad(Layer::Nesting, Reason::TooDeep, 0)),
                _ => self.step(next),
            };
            self.layers = self.layers.saturating_add(1);
            match step {
                Ok(Step::Next(inner)) => next = inner,
                Ok(Step::Packet) => return self.packet(None),
                Ok(Step::Fragment(fragment)) => return Outcome::Fragment(fragment),
                Ok(Step::NonIp(_)) if self.found.is_some() => return self.packet(None),
                Ok(Step::NonIp(what)) => return Outcome::NonIp(what),
                Err(refused) => return self.give_up(refused),
            }
        }
    }

    fn packet(&mut self, refusal: Option<Malformed>) -> Outcome {
        self.finish();
        Outcome::Packet(refusal)
    }

    /// Handles a layer that cannot be read.
    fn give_up(&mut self, refused: Malformed) -> Outcome {
        let cut = self.is_truncation(refused);
        match self.found {
            // A quote may end anywhere, and so may a cut frame.
            Some(_) if cut || self.error.is_some() => self.packet(None),
            Some(_) => self.packet(Some(refused)),
            None if cut => Outcome::Headless,
            None => Outcome::Malformed(refused),
        }
    }

    fn step(&mut self, next: Next) -> Result<Step, Malformed> {
        match next {
            Next::Ipv4 => self.ipv4(),
            Next::Ipv6 => self.ipv6(),
            Next::Ip => match Next::from_ip_version(self.rest()) {
                Next::Opaque if self.rest().is_empty() => {
                    Err(bad(Layer::Ipv4, Reason::Truncated, 0))
                }
                Next::Opaque => Err(bad(Layer::Ipv4, Reason::WrongVersion, 0)),
                version => Ok(Step::Next(version)),
            },
            _ => self.link(next),
        }
    }

    /// The captured bytes of the current layer.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.bytes
            .get(self.at..self.captured_end)
            .unwrap_or_default()
    }

    /// The length of the current layer on the wire; unbounded where lengths beyond the end are no
    /// error, as in a quote.
    pub(crate) fn wire_len(&self) -> usize {
        if self.again || self.error.is_some() {
            WITHOUT_BOUND
        } else {
            self.wire_end.saturating_sub(self.at)
        }
    }

    /// Whether the capture cut the current layer.
    pub(crate) fn is_cut(&self) -> bool {
        self.captured_end < self.wire_end
    }

    /// Whether a layer was refused only because the capture cut it.
    pub(crate) fn is_truncation(&self, refused: Malformed) -> bool {
        refused.reason == Reason::Truncated && self.is_cut()
    }

    /// Steps over a header. `payload_len`: the length of the payload on the wire, if the header
    /// says.
    pub(crate) fn enter(&mut self, header_len: usize, payload_len: Option<usize>) {
        self.at = self.at.saturating_add(header_len);
        if let Some(len) = payload_len {
            self.wire_end = self.at.saturating_add(len);
            if !self.again {
                self.captured_end = self.captured_end.min(self.wire_end);
            }
        }
    }
}

/// Longer than any packet, without risk of overflow.
const WITHOUT_BOUND: usize = u32::MAX as usize;

/// An offset into the frame as the descriptor holds it.
pub(crate) fn offset(at: usize) -> Result<u16, Malformed> {
    u16::try_from(at).map_err(|_| bad(Layer::Nesting, Reason::TooLong, u16::MAX))
}
