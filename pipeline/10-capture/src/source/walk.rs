//! A walk over a piece: the frames in it, one after the other.

use super::{Lane, Source};
use crate::format::{CAPTURED_LEN_MAX, Classic, Format, Lengths, Order, Quick};
use crate::share::Told;
use flowpin_packet::{Frame, InterfaceId, LinkType, Piece, Timestamp};

/// The frames of one piece, in order.
pub struct Walk<'a> {
    /// The bytes that the quick way may walk: all or none of the piece.
    quick: &'a [u8],
    pos: usize,
    header_len: usize,
    fraction_ns: u64,
    link: LinkType,
    until: Timestamp,
    /// Of pcapng: what the packets of the section have in common, while that is sure.
    quick_blocks: Option<Quick>,
    /// Of the last frame: its place in the merged input, counted before any filter.
    number: u64,
    /// Of the frames numbered in this walk, those that did not come the quick way.
    slow_count: u64,
    bytes: &'a [u8],
    /// Where in the piece the walk began.
    start: usize,
    stopped: bool,
    /// Of the last frame that came by the quick way of pcapng.
    last_time: Timestamp,
    /// Up to when nothing came before the frame that was found last, or before the end.
    silence: Option<Timestamp>,
    source: &'a mut Source,
}

impl<'a> Walk<'a> {
    pub(super) fn new(source: &'a mut Source, piece: &'a Piece) -> Self {
        let mut walk = Self {
            quick: &[],
            pos: 0,
            header_len: 0,
            fraction_ns: 0,
            link: LinkType::Unsupported,
            until: Timestamp::MAX,
            quick_blocks: None,
            number: source.number,
            slow_count: 0,
            bytes: piece.bytes.get(..piece.len).unwrap_or_default(),
            start: 0,
            stopped: false,
            last_time: Timestamp(0),
            silence: None,
            source,
        };
        if let Lane::Solo {
            index,
            start,
            until,
            ..
        } = walk.source.lane
        {
            walk.pos = start;
            walk.start = start;
            walk.until = until;
            let format = walk
                .source
                .files
                .reader(index)
                .and_then(|r| r.format.as_ref());
            match format {
                Some(Format::Classic(classic)) => {
                    let classic = *classic;
                    walk.go_quick(&classic);
                }
                Some(Format::Pcapng(pcapng)) => {
                    let quick = pcapng.quick();
                    walk.quick_blocks = quick.filter(|_| walk.may_go_quick());
                    walk.link = quick.map_or(walk.link, |quick| quick.link);
                }
                None => {}
            }
        }
        walk
    }

    /// Whether nothing but the format has to be looked at.
    fn may_go_quick(&self) -> bool {
        self.source.selection.is_none() && self.source.remaining > self.bytes.len() as u64
    }

    /// Takes the quick way, if that is all.
    fn go_quick(&mut self, classic: &Classic) {
        if self.may_go_quick()
            && classic.lengths == Lengths::Normal
            // PERF: choosing the order per record would lengthen the way to the next record.
            && classic.order == Order::Little
        {
            self.quick = self.bytes;
            self.header_len = classic.record_header_len;
            self.fraction_ns = classic.fraction_ns;
            self.link = classic.link;
        }
    }

    /// The next frame; none at the end of the piece.
    #[inline]
    pub fn next_frame(&mut self) -> Option<Frame> {
        // The variants of little-endian pcap differ by constants only: one way for all of them.
        let rest = self.quick.get(self.pos..);
        if let Some(header) = rest.and_then(|r| r.first_chunk::<{ Classic::RECORD_HEADER_LEN }>()) {
            let [secs, fraction, captured_len, len] = words(header);
            let time = u64::from(secs) * 1_000_000_000 + u64::from(fraction) * self.fraction_ns;
            let start = self.pos + self.header_len;
            let end = start + captured_len as usize;
            if end <= self.quick.len() && captured_len <= CAPTURED_LEN_MAX && time <= self.until.0 {
                self.pos = end;
                self.number += 1;
                #[expect(clippy::cast_possible_truncation, reason = "pieces are below 4 GiB")]
                return Some(Frame {
                    start: start as u32,
                    captured_len,
                    wire_len: len.max(captured_len),
                    link: self.link,
                    // No variant of pcap names one.
                    interface: InterfaceId::NONE,
                    time: Timestamp(time),
                });
            }
        }
        // PERF: field by field, or the compiler keeps the frames of both ways in memory.
        let slow = self.next_slowly()?;
        Some(Frame {
            start: slow.start,
            captured_len: slow.captured_len,
            wire_len: slow.wire_len,
            link: slow.link,
            interface: slow.interface,
            time: slow.time,
        })
    }

    /// The number of the frame that [`Walk::next_frame`] returned last, from 1: its place in the
    /// merged input. Frames that are left out have numbers, too.
    #[inline]
    pub const fn number(&self) -> u64 {
        self.number
    }

    /// Up to when nothing came before the frame that [`Walk::next_frame`] returned last, or before
    /// the end of the piece: a recording of our own says so. Of packets of a share, their stream
    /// time. Taken with this call.
    #[inline]
    pub const fn take_silence(&mut self) -> Option<Timestamp> {
        self.silence.take()
    }

    /// The time of the frame after the one that [`Walk::next_frame`] returned last, whether it will
    /// be delivered or not. None if there is none, or it cannot be told yet.
    #[cold]
    pub fn peek_time(&mut self) -> Option<Timestamp> {
        let source = &mut *self.source;
        match &source.lane {
            Lane::Closed | Lane::Told(_) => None,
            Lane::Merged(frames) => match frames.get(self.pos) {
                Some((frame, _)) => Some(frame.time),
                None => source.merge.next_time(),
            },
            Lane::Solo { index, .. } => {
                let later = source.files.pending.front().map(|&(time, _)| time);
                let reader = source.files.files.get_mut(*index)?.reader.as_deref_mut();
                let here = reader.and_then(|reader| reader.peek(self.bytes, self.pos));
                here.into_iter().chain(later).min()
            }
        }
    }

    /// Any format, with filter and limits; and the end of the piece.
    #[inline(never)]
    fn next_slowly(&mut self) -> Option<Frame> {
        if let Some(frame) = self.next_block() {
            return Some(frame);
        }
        if self.stopped {
            return None;
        }
        let frame = match &self.source.lane {
            Lane::Solo { index, .. } => self.next_solo(*index),
            Lane::Merged(frames) => {
                let next = frames.get(self.pos).copied();
                self.pos += 1;
                next.map(|(frame, number)| {
                    self.number = number;
                    frame
                })
            }
            Lane::Told(told) => {
                let next = told.get(self.pos).copied();
                self.pos += 1;
                next.and_then(|told| self.told(told))
            }
            Lane::Closed => None,
        };
        self.stopped = frame.is_none();
        frame
    }

    /// The next packet of pcapng, if its block is like most.
    #[inline]
    fn next_block(&mut self) -> Option<Frame> {
        let quick = self.quick_blocks?;
        let found = quick.packet(self.bytes, self.pos);
        match found.filter(|(frame, _)| frame.time <= self.until) {
            Some((frame, end)) => {
                self.pos = end;
                self.number += 1;
                self.last_time = frame.time;
                Some(frame)
            }
            None => {
                // What follows may be of another section.
                self.leave_quick_blocks();
                None
            }
        }
    }

    /// Goes on block by block, and tells the format how far it got.
    fn leave_quick_blocks(&mut self) {
        if self.quick_blocks.take().is_some()
            && self.number > self.source.number
            && let Lane::Solo { index, .. } = self.source.lane
            && let Some(reader) = self.source.files.reader(index)
            && let Some(Format::Pcapng(pcapng)) = &mut reader.format
        {
            pcapng.passed(self.last_time);
        }
    }

    /// A packet whose number and stream time are known.
    fn told(&mut self, told: Told) -> Option<Frame> {
        self.number = told.number;
        self.silence = Some(told.stream_time);
        self.source.remaining -= u64::from(told.frame.is_some());
        told.frame
    }

    fn next_solo(&mut self, index: usize) -> Option<Frame> {
        let source = &mut *self.source;
        let reader = source.files.files.get_mut(index)?.reader.as_deref_mut()?;
        while source.remaining > 0 {
            let next = reader.next(self.bytes, &mut self.pos, self.start);
            self.silence = reader.take_silence().or(self.silence);
            let (frame, record_start) = next?;
            if frame.time > self.until {
                self.pos = record_start;
                if let Lane::Solo { overtaken, .. } = &mut source.lane {
                    *overtaken = true;
                }
                return None;
            }
            reader.count(frame.link);
            self.number += 1;
            self.slow_count += 1;
            if let Some(selection) = &mut source.selection {
                let from = frame.start as usize;
                let range = from..from + frame.captured_len as usize;
                let bytes = self.bytes.get(range).unwrap_or_default();
                if !selection.takes(reader.last_link(), &frame, bytes) {
                    if selection.has_failed() {
                        return None;
                    }
                    continue;
                }
            }
            source.remaining -= 1;
            return Some(frame);
        }
        None
    }
}

impl Drop for Walk<'_> {
    fn drop(&mut self) {
        self.leave_quick_blocks();
        let Lane::Solo { index, .. } = self.source.lane else {
            return;
        };
        let quick_count = self.number - self.source.number - self.slow_count;
        self.source.number = self.number;
        self.source.remaining = self.source.remaining.saturating_sub(quick_count);
        if let Some(reader) = self.source.files.reader(index) {
            reader.count_many(self.link, quick_count);
            reader.record(self.bytes.get(self.start..self.pos).unwrap_or_default());
            let unwalked = self.bytes.get(self.pos..).unwrap_or_default();
            reader.keep(unwalked, self.pos - self.start);
        }
    }
}

/// The four numbers that each record starts with.
#[inline]
fn words(header: &[u8; Classic::RECORD_HEADER_LEN]) -> [u32; 4] {
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = *header;
    let words = [[a, b, c, d], [e, f, g, h], [i, j, k, l], [m, n, o, p]];
    words.map(u32::from_le_bytes)
}
