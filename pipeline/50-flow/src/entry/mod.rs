//! One connection in memory: fields that every packet touches, fields that some do, rare facts.
//!
//! ```text
//!            line 0 (64)                    line 1 (64)                cold (40)      links (8)
//!  Hot │ key, times, sums both ways │ sequence, history, states │ Cold │ start, … │ wheel │
//!                                                                   └─► Addresses (IPv6), Extra
//! ```
//!
//! Arrays of two are indexed by the key's direction: 0 from the lower endpoint to the higher, 1
//! back. One bit says which of them is the client's, so turning a connection moves nothing.

pub(crate) mod birth;
pub(crate) mod history;
pub(crate) mod stream;

use crate::observe::NO_VLAN;
use crate::time::timeouts::Class;
use birth::Birth;
use flowpin_packet::{
    Endpoints, FlowKey, InterfaceId, PacketMeta, Seq, TcpFlags, Timestamp, TunnelKind,
};
use flowpin_record::{TcpState, Uid};
use history::Letters;

/// The place of an entry in the slabs.
pub(crate) type Handle = u32;

/// No handle.
pub(crate) const NIL: Handle = Handle::MAX;

/// Not in the timer wheel.
pub(crate) const UNLINKED: u16 = u16::MAX;

/// The part that every packet of a connection reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(128))]
pub(crate) struct Hot {
    pub(crate) key: FlowKey,
    /// The stream time from which the time-out counts: of the last packet, or of the event that
    /// fixed the deadline. It never decreases, so a deadline moves closer only if the class
    /// changes.
    pub(crate) since: Timestamp,
    /// Latest capture time.
    pub(crate) end: Timestamp,
    /// Sums, without what moved to [`Extra`] before they would overflow.
    pub(crate) packets: [u32; 2],
    pub(crate) frame_bytes: [u32; 2],
    pub(crate) ip_bytes: [u32; 2],
    pub(crate) payload_bytes: [u32; 2],

    /// One past the last byte of the stream that was seen or acknowledged without a hole.
    pub(crate) next: [Seq; 2],
    pub(crate) fingerprint: [u32; 2],
    /// Sequence number of the last FIN (one past it) or RST.
    pub(crate) control_seq: [Seq; 2],
    /// As computed by dispatch: needed to leave the index.
    pub(crate) hash: u32,
    /// Handle of the [`Extra`], or [`NIL`].
    pub(crate) extra: Handle,
    pub(crate) history: Letters,
    pub(crate) fingerprint_time: [u16; 2],
    pub(crate) tcp_flags: [TcpFlags; 2],
    pub(crate) ends: [End; 2],
    pub(crate) tcp_state: TcpState,
    pub(crate) class: Class,
    pub(crate) seen: Seen,
    pub(crate) bits: Bits,
    /// Slot of the timer wheel, or [`UNLINKED`].
    pub(crate) slot: u16,
}

// PERF: two lines, which the processor fetches as a pair.
const _: () = assert!(size_of::<Hot>() == 128);

/// The part that only the first packets and the record read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cold {
    /// Capture time of the first packet.
    pub(crate) start: Timestamp,
    pub(crate) first_packet: u64,
    /// TCP: the sequence number of the SYN, or one before the first byte. ICMP: [0] holds type
    /// and code.
    pub(crate) start_seq: [Seq; 2],
    /// Until the handshake is complete: nanoseconds from `start` to the last SYN. Then the
    /// round-trip time.
    pub(crate) rtt: u32,
    pub(crate) vlans: [u16; 2],
    /// If the key holds the addresses ([`Hot::has_addresses_apart`] is false): the [`Birth`].
    /// Otherwise the handle of the [`Addresses`], which hold it too.
    // PERF: one word for both: another word would add eight bytes to `Cold`.
    pub(crate) birth_or_addresses: u32,
    pub(crate) interims: Interims,
}

impl Cold {
    /// For the connection that begins with this packet.
    pub(crate) const fn new(meta: &PacketMeta, birth_or_addresses: u32) -> Self {
        Self {
            start: meta.time,
            first_packet: meta.number,
            start_seq: [Seq(0); 2],
            rtt: 0,
            vlans: [NO_VLAN; 2],
            birth_or_addresses,
            interims: Interims::of(meta.interface),
        }
    }
}

const _: () = assert!(size_of::<Cold>() == 40);

/// How many interim records were written, and the interface that the first packet came by.
///
/// ```text
///   31        24 23                      0
///  │ interface  │ interim records written │
/// ```
// PERF: one word for both: another word would add eight bytes to `Cold`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Interims(u32);

impl Interims {
    const COUNT_MAX: u32 = (1 << 24) - 1;

    const fn of(interface: InterfaceId) -> Self {
        Self((interface.0 as u32) << 24)
    }

    /// The interface.
    #[inline]
    pub(crate) const fn interface(self) -> InterfaceId {
        InterfaceId((self.0 >> 24) as u8)
    }

    /// Counts one more, and returns how many there are: one a second is counted for half a year.
    pub(crate) const fn count(&mut self) -> u32 {
        let count = self.0 & Self::COUNT_MAX;
        if count < Self::COUNT_MAX {
            self.0 += 1;
        }
        self.0 & Self::COUNT_MAX
    }
}

/// Addresses that the key does not hold, and the field that their handle displaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Addresses {
    pub(crate) endpoints: Endpoints,
    pub(crate) birth: Birth,
}

/// Facts that few connections have: big sums, losses, anomalies, tunnels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extra {
    pub(crate) packets: [u64; 2],
    pub(crate) frame_bytes: [u64; 2],
    pub(crate) ip_bytes: [u64; 2],
    pub(crate) payload_bytes: [u64; 2],
    pub(crate) missed_bytes: [u64; 2],
    pub(crate) tunnel: Option<(TunnelKind, Uid)>,
    /// How often `next` wrapped from 2³² to 0.
    pub(crate) wraps: [u32; 2],
    pub(crate) duplicates: [u32; 2],
    pub(crate) snapped: [u32; 2],
    pub(crate) bad_checksums: [u32; 2],
    pub(crate) icmp_errors: [u32; 2],
    pub(crate) retransmissions: [u32; 2],
    pub(crate) zero_windows: [u32; 2],
    pub(crate) gaps: [u32; 2],
    /// One past the last byte seen, if the other side acknowledged more than that.
    pub(crate) seen_end: [Seq; 2],
    pub(crate) islands: [stream::Islands; 2],
}

impl Extra {
    pub(crate) const EMPTY: Self = Self {
        packets: [0; 2],
        frame_bytes: [0; 2],
        ip_bytes: [0; 2],
        payload_bytes: [0; 2],
        missed_bytes: [0; 2],
        tunnel: None,
        wraps: [0; 2],
        duplicates: [0; 2],
        snapped: [0; 2],
        bad_checksums: [0; 2],
        icmp_errors: [0; 2],
        retransmissions: [0; 2],
        zero_windows: [0; 2],
        gaps: [0; 2],
        seen_end: [Seq(0); 2],
        islands: [stream::Islands::NONE; 2],
    };
}

/// State of one side of a TCP connection, in Zeek's terms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum EndState {
    /// No packet of it was seen.
    #[default]
    Inactive,
    /// It sent a SYN; no answer was seen.
    SynSent,
    /// A client that sent SYN-ACK.
    SynAckSent,
    /// It sent packets, but its SYN was not seen.
    Partial,
    /// Its part of the handshake is complete.
    Established,
    /// It sent a FIN.
    Closed,
    /// It sent a RST.
    Reset,
}

/// The state of one side, and the state before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct End(u8);

impl End {
    /// It sent a SYN, and nothing before it.
    pub(crate) const SYN_SENT: Self = Self(EndState::SynSent as u8);

    #[inline]
    pub(crate) const fn state(self) -> EndState {
        Self::decode(self.0 & 15)
    }

    #[inline]
    pub(crate) const fn previous(self) -> EndState {
        Self::decode(self.0 >> 4)
    }

    #[inline]
    pub(crate) fn set(&mut self, state: EndState) {
        if self.state() as u8 != state as u8 {
            self.0 = self.0 << 4 | state as u8;
        }
    }

    /// Returns to the previous state.
    pub(crate) const fn undo(&mut self) {
        self.0 >>= 4;
    }

    #[inline]
    const fn decode(code: u8) -> EndState {
        match code {
            1 => EndState::SynSent,
            2 => EndState::SynAckSent,
            3 => EndState::Partial,
            4 => EndState::Established,
            5 => EndState::Closed,
            6 => EndState::Reset,
            _ => EndState::Inactive,
        }
    }

    /// Established, or closed from that state: its acknowledgements can be believed.
    #[inline]
    pub(crate) const fn is_clean(self) -> bool {
        match self.state() {
            EndState::Established => true,
            EndState::Closed => matches!(self.previous(), EndState::Established),
            _ => false,
        }
    }
}

/// Which letters the history has, by direction, and whether packets can take the fast path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen(pub(crate) u16);

impl Seen {
    pub(crate) const DATA: u16 = 1;
    pub(crate) const ACK: u16 = 1 << 2;
    pub(crate) const SYN: u16 = 1 << 4;
    pub(crate) const FIN: u16 = 1 << 6;
    pub(crate) const RST: u16 = 1 << 8;
    pub(crate) const INCONSISTENT: u16 = 1 << 10;
    pub(crate) const MULTI_FLAG: u16 = 1 << 12;
    /// TCP, and only data in order or a plain acknowledgement is expected. (The bit above belongs
    /// to `tcp/reuse`.)
    pub(crate) const QUIET: u16 = 1 << 14;

    #[inline]
    pub(crate) const fn has(self, letter: u16, direction: usize) -> bool {
        self.0 & letter << (direction & 1) != 0
    }

    /// Marks a letter; false if it was marked before.
    #[inline]
    pub(crate) const fn mark(&mut self, letter: u16, direction: usize) -> bool {
        let new = !self.has(letter, direction);
        self.0 |= letter << (direction & 1);
        new
    }

    #[inline]
    pub(crate) const fn is_quiet(self) -> bool {
        self.0 & Self::QUIET != 0
    }

    #[inline]
    pub(crate) const fn set_quiet(&mut self, quiet: bool) {
        self.0 = self.0 & !Self::QUIET | if quiet { Self::QUIET } else { 0 };
    }
}

/// Facts about a connection, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bits(pub(crate) u16);

impl Bits {
    /// The client is the key's higher endpoint.
    pub(crate) const CLIENT_HIGH: u16 = 1;
    /// Turned because only the source port is well known.
    pub(crate) const FLIPPED: u16 = 1 << 1;
    pub(crate) const MIDSTREAM: u16 = 1 << 2;
    /// Closed by the lower endpoint; the next bit: by the higher one.
    pub(crate) const CLOSED: u16 = 1 << 3;
    pub(crate) const SYN_ACK_SEEN: u16 = 1 << 5;
    pub(crate) const RTT_KNOWN: u16 = 1 << 6;
    pub(crate) const RTT_VOID: u16 = 1 << 7;
    /// It has had packets since the last interim record.
    pub(crate) const CHANGED: u16 = 1 << 8;
    /// The addresses are those of an ICMP error, not of the key.
    pub(crate) const ICMP_ERROR: u16 = 1 << 9;
    /// `control_seq` is that of a RST; two bits, by direction.
    pub(crate) const CONTROL_IS_RST: u16 = 1 << 10;
    /// More was acknowledged than seen; two bits, by direction.
    pub(crate) const BEHIND_ACK: u16 = 1 << 12;
    /// The connection is over: its record follows after a fixed delay.
    pub(crate) const OVER: u16 = 1 << 14;
    /// Its last record was written before its removal.
    pub(crate) const TOLD: u16 = 1 << 15;

    #[inline]
    pub(crate) const fn has(self, bit: u16) -> bool {
        self.0 & bit != 0
    }

    #[inline]
    pub(crate) const fn set(&mut self, bit: u16) {
        self.0 |= bit;
    }

    #[inline]
    pub(crate) const fn clear(&mut self, bit: u16) {
        self.0 &= !bit;
    }
}

impl Hot {
    /// A connection without packets.
    pub(crate) const fn new(key: FlowKey, hash: u32, now: Timestamp, class: Class) -> Self {
        Self {
            key,
            since: now,
            end: Timestamp(0),
            packets: [0; 2],
            frame_bytes: [0; 2],
            ip_bytes: [0; 2],
            payload_bytes: [0; 2],
            next: [Seq(0); 2],
            fingerprint: [0; 2],
            control_seq: [Seq(0); 2],
            hash,
            extra: NIL,
            history: Letters::NONE,
            fingerprint_time: [0; 2],
            tcp_flags: [TcpFlags(0); 2],
            ends: [End(0); 2],
            tcp_state: TcpState::None,
            class,
            seen: Seen(0),
            bits: Bits(0),
            slot: UNLINKED,
        }
    }

    /// The client's direction as an index: 0 if it is the lower endpoint.
    #[inline]
    pub(crate) const fn client(&self) -> usize {
        (self.bits.0 & Bits::CLIENT_HIGH) as usize
    }

    /// Whether the addresses are stored apart from the key: IPv6, ICMP errors.
    #[inline]
    pub(crate) const fn has_addresses_apart(&self) -> bool {
        self.key.is_ipv6() || self.bits.has(Bits::ICMP_ERROR)
    }

    /// Whether a side has ended the connection.
    #[inline]
    pub(crate) const fn closed(&self, side: usize) -> bool {
        self.bits.has(Bits::CLOSED << (side & 1))
    }
}

/// No packet has this key: bits 32 to 47 of an IPv6 key are 0.
pub(crate) const FREE_KEY: FlowKey = FlowKey {
    low: u64::MAX,
    high: u64::MAX,
};

#[cfg(test)]
mod tests {
    use super::{End, EndState, Interims};
    use flowpin_packet::InterfaceId;

    /// Counting never reaches the interface, and stops at its end.
    #[test]
    fn interims_and_interface_share_a_word() {
        let mut interims = Interims::of(InterfaceId(255));
        assert_eq!((interims.count(), interims.count()), (1, 2));
        interims.0 |= Interims::COUNT_MAX - 1;
        assert_eq!(interims.count(), Interims::COUNT_MAX);
        assert_eq!(interims.count(), Interims::COUNT_MAX);
        assert_eq!(interims.interface(), InterfaceId(255));
    }

    /// A repeated state must not displace the one before.
    #[test]
    fn an_end_remembers_the_state_before() {
        let mut end = End::default();
        end.set(EndState::SynSent);
        end.set(EndState::Established);
        end.set(EndState::Closed);
        end.set(EndState::Closed);
        assert_eq!(
            (end.state(), end.previous()),
            (EndState::Closed, EndState::Established)
        );
        assert!(end.is_clean());
        end.set(EndState::Reset);
        assert_eq!(
            (end.state(), end.previous()),
            (EndState::Reset, EndState::Closed)
        );
        assert!(!end.is_clean());
    }
}
