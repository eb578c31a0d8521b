//! The interface to the consumer of the streams.

/// A position in a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The connection's handle in the connection table.
    pub handle: u32,
    /// Whether the stream goes from the client to the server.
    pub to_server: bool,
    /// Bytes of the stream before this position, including gaps; 0 is the first after the SYN, or
    /// where the capture picked the stream up.
    pub offset: u64,
}

/// Receives each stream in order: every offset once, as data, as a gap or as an urgent byte, then
/// the end. The implementation for `()` does nothing and costs nothing.
pub trait StreamConsumer {
    /// Whether any method does anything. If false, the calls for data in order are compiled out.
    const WANTS: bool = true;

    /// Whether a connection that has no more packets is over, though it was not ended yet. Then
    /// nothing of it is given up to make room for others.
    fn is_due(&self, handle: u32) -> bool {
        let _ = handle;
        false
    }

    /// The next bytes of a stream; never empty.
    fn data(&mut self, at: Span, bytes: &[u8]) {
        let _ = (at, bytes);
    }

    /// Bytes of a stream that the capture lacks; `len` is never 0.
    fn gap(&mut self, at: Span, len: u64) {
        let _ = (at, len);
    }

    /// A byte that the receiver reads out of band ([`crate::Urgent::OutOfBand`]).
    fn urgent(&mut self, at: Span, byte: u8) {
        let _ = (at, byte);
    }

    /// A side's SYN and what it offers. Called again for a repeated SYN.
    fn handshake(&mut self, at: Span, handshake: Handshake) {
        let _ = (at, handshake);
    }

    /// The stream has ended; nothing more of it follows. Called once for each stream that began,
    /// unless it [goes on](StreamConsumer::goes_on).
    fn closed(&mut self, at: Span, how: Closed) {
        let _ = (at, how);
    }

    /// Both streams have ended by FINs that their receivers acknowledged, while their connection
    /// still exists: nothing more of either follows, unless one goes on.
    fn over(&mut self, handle: u32) {
        let _ = handle;
    }

    /// A RST arrived that its receiver accepts: its streams have ended, unless they go on. Their
    /// ends are reported with that of the connection.
    fn reset(&mut self, handle: u32) {
        let _ = handle;
    }

    /// The receiver ignored the close of a stream: it goes on, from this position. `told`: the end
    /// was already reported ([`StreamConsumer::closed`]); more of the stream follows all the same,
    /// and its end again.
    fn goes_on(&mut self, at: Span, told: bool) {
        let _ = (at, told);
    }

    /// Something that honest systems do not do, or that is worth reporting.
    fn anomaly(&mut self, at: Span, what: Anomaly) {
        let _ = (at, what);
    }
}

impl StreamConsumer for () {
    const WANTS: bool = false;
}

/// The options of a SYN (RFC 9293 §3.2, RFC 7323, RFC 2018, RFC 7413).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Handshake {
    /// Largest segment that the side accepts.
    pub mss: Option<u16>,
    /// Shift of the windows that it will advertise.
    pub window_scale: Option<u8>,
    /// It supports selective acknowledgements.
    pub sack_permitted: bool,
    /// It requests time stamps.
    pub timestamps: bool,
    /// Length of its fast-open cookie; 0 requests one.
    pub fast_open: Option<u8>,
}

/// How a stream ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closed {
    /// The sender's FIN, acknowledged after all bytes before it were delivered; or not acknowledged
    /// by the time that the connection ended.
    Fin,
    /// A RST of either side.
    Reset,
    /// The connection ended without either: it timed out, was evicted, or the input ended.
    Ended,
}

/// What is unusual about a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Anomaly {
    /// It overlaps held or delivered bytes and differs from them: one of the two was meant only for
    /// an observer. Delivered bytes are compared only if they are stored for that.
    OverlapDiffers,
    /// A SYN inside a connection (RFC 9293 §3.10.7.4: not believed).
    SynInConnection,
    /// A SYN-ACK that does not acknowledge the SYN.
    SynAckMismatch,
    /// A RST whose number the receiver would not accept (RFC 5961 §3).
    InvalidReset,
    /// Data after the end of its stream.
    DataAfterClose,
    /// A SYN with data; delivered only if it is acknowledged (RFC 7413).
    DataOnSyn,
    /// Data outside any window that the receiver could have.
    OutOfWindow,
    /// A time stamp older than the last one (RFC 7323 §5: the receiver drops it).
    OldTimestamp,
    /// The urgent pointer was used (RFC 6093 advises against it).
    UrgentData,
    /// A second FIN with another number.
    FinChanged,
    /// Data after a FIN or RST was acknowledged: the receiver had ignored the close.
    CloseIgnored,
    /// A FIN where the receiver would not accept it.
    InvalidFin,
    /// No SYN, no RST, and no ACK flag: every receiver drops it (RFC 9293 §3.10.7).
    MissingAck,
    /// It acknowledges bytes that were never sent (RFC 9293 §3.10.7.4), or has data and
    /// acknowledges bytes more than a window old (RFC 5961 §5.2).
    InvalidAck,
}

impl Anomaly {
    /// All, in the order of their numbers.
    pub const ALL: &'static [Self] = &[
        Self::OverlapDiffers,
        Self::SynInConnection,
        Self::SynAckMismatch,
        Self::InvalidReset,
        Self::DataAfterClose,
        Self::DataOnSyn,
        Self::OutOfWindow,
        Self::OldTimestamp,
        Self::UrgentData,
        Self::FinChanged,
        Self::CloseIgnored,
        Self::InvalidFin,
        Self::MissingAck,
        Self::InvalidAck,
    ];

    /// The name in records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OverlapDiffers => "tcp_overlap_differs",
            Self::SynInConnection => "tcp_syn_in_connection",
            Self::SynAckMismatch => "tcp_syn_ack_mismatch",
            Self::InvalidReset => "tcp_invalid_reset",
            Self::DataAfterClose => "tcp_data_after_close",
            Self::DataOnSyn => "tcp_data_on_syn",
            Self::OutOfWindow => "tcp_out_of_window",
            Self::OldTimestamp => "tcp_old_timestamp",
            Self::UrgentData => "tcp_urgent_data",
            Self::FinChanged => "tcp_fin_changed",
            Self::CloseIgnored => "tcp_close_ignored",
            Self::InvalidFin => "tcp_invalid_fin",
            Self::MissingAck => "tcp_missing_ack",
            Self::InvalidAck => "tcp_invalid_ack",
        }
    }
}
