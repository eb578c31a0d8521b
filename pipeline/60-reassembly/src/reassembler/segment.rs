//! A segment on the slow path.

use crate::Handshake;
use crate::connection::plain_stamp;
use crate::held::Standing;
use flowpin_packet::{FrameBytes, PacketMeta, Seq, TcpFlags};
use flowpin_wire::transport::{TcpOption, TcpSegment};

/// A segment's fields and captured bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment<'a> {
    flags: TcpFlags,
    /// Number of the first byte of data: a SYN's comes before it (RFC 9293 §3.4).
    pub(super) start: Seq,
    /// One past its data.
    pub(super) end: Seq,
    pub(super) ack: Seq,
    pub(super) window: u16,
    /// Bytes according to the headers, and the captured ones.
    pub(super) len: u32,
    pub(super) bytes: &'a [u8],
    pub(super) stamp: Option<u32>,
    /// The position of the urgent byte.
    pub(super) urgent: Option<Seq>,
    /// Only for a SYN.
    pub(super) handshake: Handshake,
    pub(super) shard: u8,
    /// The standing of its bytes inside the window. Less than [`Standing::Expected`]: its receiver
    /// may drop it as a whole.
    pub(super) standing: Standing,
}

impl<'a> Segment<'a> {
    /// Reads all fields except those that [`Segment::read_options`] reads.
    #[inline]
    pub(super) fn read(frames: &FrameBytes<'a>, meta: &PacketMeta) -> Self {
        let flags = meta.tcp_flags;
        let start = meta.seq.plus(u32::from(flags.has(TcpFlags::SYN)));
        Self {
            flags,
            start,
            end: start.plus(meta.payload_len),
            ack: meta.ack,
            window: meta.window,
            len: meta.payload_len,
            bytes: frames.payload(meta),
            stamp: plain_stamp(frames, meta),
            urgent: None,
            handshake: Handshake::default(),
            shard: meta.shard().0,
            standing: Standing::Expected,
        }
    }

    /// Reads fields that few segments have: options other than a time stamp, an urgent pointer.
    // PERF: apart from `read`, so that the segment is built in place: a copy right after its parts
    // were written would wait for them (50 cycles).
    #[inline]
    pub(super) fn read_options(&mut self, frames: &FrameBytes<'_>, meta: &PacketMeta) {
        let flags = meta.tcp_flags;
        let header_len = meta.payload_offset.wrapping_sub(meta.l4_offset);
        let options = usize::from(header_len) > TcpSegment::HEADER_LEN;
        if self.stamp.is_none() && options || flags.has_any(TcpFlags::SYN.with(TcpFlags::URG)) {
            self.read_header(frames, meta);
        }
    }

    pub(super) const fn has(&self, flag: TcpFlags) -> bool {
        self.flags.has(flag)
    }

    /// Whether its receiver may drop it as a whole.
    pub(super) fn is_doubted(&self) -> bool {
        self.standing < Standing::Expected
    }

    fn read_header(&mut self, frames: &FrameBytes<'_>, meta: &PacketMeta) {
        let Some(header) = header(frames, meta) else {
            return;
        };
        self.stamp = self.handshake.read(header).or(self.stamp);
        // RFC 6093 §3.1: systems follow the older reading, in which the pointer is one past the
        // urgent byte.
        let pointer = u32::from(header.urgent_pointer());
        if self.flags.has(TcpFlags::URG) && pointer > 0 {
            self.urgent = Some(self.start.plus(pointer.wrapping_sub(1)));
        }
    }
}

/// A segment's header, as far as captured.
pub(super) fn header<'a>(frames: &FrameBytes<'a>, meta: &PacketMeta) -> Option<TcpSegment<'a>> {
    let from = usize::from(meta.l4_offset);
    let bytes = frames.frame(meta).get(from..).unwrap_or_default();
    TcpSegment::parse(bytes, usize::MAX).ok()
}

impl Handshake {
    /// Reads a header's options; returns its time stamp.
    #[inline]
    pub(super) fn read(&mut self, header: TcpSegment<'_>) -> Option<u32> {
        let mut last = None;
        for option in header.options() {
            match option {
                TcpOption::MaximumSegmentSize(mss) => self.mss = Some(mss),
                TcpOption::WindowScale(shift) => self.window_scale = Some(shift),
                TcpOption::SackPermitted => self.sack_permitted = true,
                TcpOption::Timestamps(stamp, _) => {
                    self.timestamps = true;
                    last = Some(stamp);
                }
                TcpOption::FastOpen(cookie) => {
                    self.fast_open = u8::try_from(cookie.len()).ok();
                }
                TcpOption::Sack(_) | TcpOption::Other(..) => {}
            }
        }
        last
    }
}
