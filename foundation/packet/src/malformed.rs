//! Why a packet was refused: a value, never a panic, and cheap enough for a flood.
//!
//! The same pairs of layer and reason name what was accepted and is odd, as a repeated fragment is:
//! such packets are told in anomaly records and not counted as refused.

use crate::Layer;

/// Why a packet was refused, in which layer and at which byte.
///
/// A (layer, reason) pair indexes a counter; see `flowpin-counters`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Malformed {
    /// The layer that refused.
    pub layer: Layer,
    /// What was wrong.
    pub reason: Reason,
    /// Where, in bytes from the start of that layer's header.
    pub offset: u16,
}

// A parse error travels in registers.
const _: () = assert!(size_of::<Malformed>() <= 8);

/// Shorthand for a [`Malformed`].
#[inline]
pub const fn bad(layer: Layer, reason: Reason, offset: u16) -> Malformed {
    Malformed {
        layer,
        reason,
        offset,
    }
}

named_enum! {
    /// What was wrong with a header.
    Reason {
        /// The packet ends before the header does.
        Truncated = "truncated",
        /// A length field is below the least legal value.
        LengthTooSmall = "length_too_small",
        /// A length field points behind the end of the packet.
        LengthBeyondPacket = "length_beyond_packet",
        /// The version field is not this protocol's.
        WrongVersion = "wrong_version",
        /// A checksum does not hold.
        Checksum = "checksum",
        /// A field has a value that the standard forbids.
        IllegalValue = "illegal_value",
        /// The link type or upper protocol is not one that we read.
        Unsupported = "unsupported",
        /// More layers, tags or extension headers than the limit.
        TooDeep = "too_deep",
        /// A fragment overlaps another one where that is forbidden.
        Overlap = "overlap",
        /// A fragment reaches past the greatest datagram ("ping of death").
        TooLong = "too_long",
        /// A fragment or segment overlaps another one with other bytes.
        OverlapDiffers = "overlap_differs",
        /// A last fragment ends inside those before it ("teardrop").
        Teardrop = "teardrop",
        /// A fragment contradicts the datagram's length.
        LengthConflict = "length_conflict",
        /// A fragment repeats an earlier one.
        Duplicate = "duplicate",
        /// A first fragment too small for the transport header's flags (RFC 1858, RFC 3128).
        Tiny = "tiny",
        /// A first fragment without the whole header chain (RFC 7112).
        HeaderChainCut = "header_chain_cut",
        /// A fragment that is the whole datagram (RFC 6946).
        Atomic = "atomic",
        /// A fragment inside a tunnel.
        Tunnelled = "tunnelled",
        /// A SYN inside a connection (RFC 9293 §3.10.7.4: not believed).
        SynInConnection = "syn_in_connection",
        /// A SYN-ACK that acknowledges something else than the SYN.
        SynAckMismatch = "syn_ack_mismatch",
        /// A RST whose number the receiver would not accept (RFC 5961 §3).
        InvalidReset = "invalid_reset",
        /// Data behind the end of its stream.
        DataAfterClose = "data_after_close",
        /// A SYN with data (RFC 7413).
        DataOnSyn = "data_on_syn",
        /// Data outside any window that the receiver could have.
        OutOfWindow = "out_of_window",
        /// A time stamp older than the last one (RFC 7323 §5).
        OldTimestamp = "old_timestamp",
        /// The urgent pointer was used (RFC 6093).
        UrgentData = "urgent_data",
        /// A second FIN with another number.
        FinChanged = "fin_changed",
        /// Data behind a FIN or RST was acknowledged: the receiver had ignored that.
        CloseIgnored = "close_ignored",
        /// A FIN where the receiver would not accept it.
        InvalidFin = "invalid_fin",
        /// Neither SYN nor RST, and acknowledges nothing (RFC 9293 §3.10.7).
        MissingAck = "missing_ack",
        /// Acknowledges what was never sent (RFC 9293 §3.10.7.4), or has data and acknowledges
        /// something more than a window old (RFC 5961 §5.2).
        InvalidAck = "invalid_ack",
        /// An option whose length is none that its kind may have, or reaches beyond the header.
        OptionLength = "option_length",
        /// An option without room for its length.
        OptionCut = "option_cut",
        /// An option whose pointer or flags are none that its kind may have.
        OptionMalformed = "option_malformed",
        /// An option that may occur only once, and does again (RFC 791 §3.1).
        OptionRepeated = "option_repeated",
        /// A router advertisement that ends before its fixed fields do (RFC 4861 §4.2).
        RouterAdvertisementShort = "router_advertisement_short",
        /// A neighbour solicitation that ends before its fixed fields do (RFC 4861 §4.3).
        NeighborSolicitationShort = "neighbor_solicitation_short",
        /// A neighbour advertisement that ends before its fixed fields do (RFC 4861 §4.4).
        NeighborAdvertisementShort = "neighbor_advertisement_short",
        /// A redirect that ends before its fixed fields do (RFC 4861 §4.5).
        RedirectShort = "redirect_short",
        /// A listener report that ends before its records do (RFC 3810 §5.2).
        ListenerReportShort = "listener_report_short",
        /// A message of an application protocol that is told by its own name.
        Message = "message",
    }
}
