//! What one connection says, message by message, and where each is cut into segments.

use crate::random::Random;
use crate::talk::{Dialogue, Message, Step};

/// What a connection has still to say. Each message takes its share of what is left, so that the
/// totals come out as planned.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Script {
    pub(crate) dialogue: u16,
    /// Without first and last messages.
    pub(crate) lean: bool,
    pub(crate) turns: u32,
    /// The next message's place.
    pub(crate) at: u32,
    pub(crate) messages: u32,
    /// Bytes of data, both directions.
    pub(crate) bytes_left: u32,
    /// What the rest of the messages holds at least.
    pub(crate) fixed_left: u32,
    pub(crate) segments_left: u32,
    pub(crate) elastic_left: u32,
    /// Segments that shall end inside a header line.
    pub(crate) straddles_left: u32,
    /// Segments of messages in chunks that are still wanted.
    pub(crate) chunked_left: i32,
    /// Bounds of a segment's data.
    pub(crate) mss: u32,
    /// Whether each message is one datagram.
    pub(crate) is_udp: bool,
    pub(crate) id: u16,
    /// Messages so far, from the server and from the client.
    pub(crate) numbers: [u32; 2],
}

/// A message on its way.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Current {
    pub(crate) message: Message,
    pub(crate) from_client: bool,
    pub(crate) is_chunked: bool,
    pub(crate) len: u32,
    pub(crate) header_len: u32,
    /// How many segments it is cut into, and how many of them end inside its header.
    pub(crate) segments: u32,
    straddles: u32,
    /// Segments that were sent.
    pub(crate) sent: u32,
}

impl Script {
    /// The next message, if there is one.
    pub(crate) fn next(&mut self, dialogue: &Dialogue, random: &mut Random) -> Option<Current> {
        let messages_left = self
            .messages
            .checked_sub(self.at)
            .filter(|&left| left > 0)?;
        let place = self.place(dialogue);
        let mut index = u16::try_from(place).ok()?;
        let mut step = dialogue.steps.get(place)?;
        let fixed_len = step.fixed_len();
        self.at += 1;
        let (mut len, mut segments) = (fixed_len, 1);
        if step.is_elastic() {
            (len, segments) = self.share(fixed_len, messages_left, random);
        }
        if self.chunked_left > 0
            && let Some(chunked) = step.chunked
        {
            step = dialogue.steps.get(usize::from(chunked))?;
            index = chunked;
        }
        let number = self.numbers.get_mut(usize::from(step.from_client))?;
        *number += 1;
        let message = Message {
            step: index,
            id: self.id,
            body: step.body_for(len),
            offset: random.next_u32() >> 8,
            number: *number,
        };
        let mut current = Current {
            message,
            from_client: step.from_client,
            is_chunked: step.is_chunked,
            len: step.len(&message),
            header_len: step.header_len(&message),
            segments,
            straddles: 0,
            sent: 0,
        };
        self.cut(&mut current, step);
        self.bytes_left = self.bytes_left.saturating_sub(current.len);
        self.fixed_left = self.fixed_left.saturating_sub(fixed_len);
        self.segments_left = self.segments_left.saturating_sub(current.segments);
        Some(current)
    }

    /// Where the next message stands in the dialogue.
    fn place(&self, dialogue: &Dialogue) -> usize {
        let at = self.at as usize;
        let first = if self.lean { 0 } else { dialogue.first.len() };
        let middle = self.turns as usize * dialogue.turn.len();
        if at < first {
            at
        } else if at < first + middle {
            dialogue.turn.start + (at - first) % dialogue.turn.len().max(1)
        } else {
            dialogue.last.start + (at - first - middle)
        }
    }

    /// Length and segments of an elastic message: its share of what is left, more or less.
    fn share(&mut self, fixed_len: u32, messages_left: u32, random: &mut Random) -> (u32, u32) {
        let bytes = self.bytes_left.saturating_sub(self.fixed_left);
        let plain_left = messages_left.saturating_sub(self.elastic_left);
        let segments = self.segments_left.saturating_sub(plain_left).max(1);
        let after = self.elastic_left.saturating_sub(1);
        self.elastic_left = after;
        let room = self.mss.saturating_sub(fixed_len);
        if after == 0 {
            let fits = if self.is_udp { bytes.min(room) } else { bytes };
            return (fixed_len + fits, segments);
        }
        let even = bytes / (after + 1);
        // Half to one and a half times as long, unless each shall fit into a segment.
        let mut extra = even / 2 + random.below(even + 1);
        if self.is_udp || segments < 2 * (after + 1) && even <= room {
            extra = extra.min(room);
        }
        let extra = extra.max(1).min(bytes.saturating_sub(after));
        let part = u64::from(segments) * u64::from(extra) + u64::from(bytes / 2);
        let part = u32::try_from(part / u64::from(bytes.max(1))).unwrap_or(1);
        let most = segments.saturating_sub(after).max(1);
        (fixed_len + extra, part.clamp(1, most))
    }

    /// Decides how a message is cut: never longer than a segment can be, and inside its header as
    /// often as wanted.
    fn cut(&mut self, current: &mut Current, step: &Step) {
        if self.is_udp {
            current.segments = 1;
            return;
        }
        let header = current.header_len.min(current.len);
        if self.straddles_left > 0 && header > 0 {
            // An answer has room for them; a question takes what no answer will.
            let room = if step.from_client {
                let turns_left = (self.messages - self.at) / 2 + 1;
                let spare = self.segments_left.saturating_sub(2 * turns_left);
                (self.straddles_left / turns_left).saturating_sub(spare / turns_left)
            } else {
                current.segments - 1
            };
            let straddles = self.straddles_left.min(room).min(header / 32);
            current.straddles = straddles;
            current.segments = current.segments.max(straddles + 1);
            self.straddles_left -= straddles;
        }
        let within = current.within_header();
        let head = header.max(within + 1) - within;
        let whole = current.len.saturating_sub(within);
        let least = if head < whole && head <= self.mss {
            1 + (whole - head).div_ceil(self.mss)
        } else {
            whole.div_ceil(self.mss)
        };
        let fits = whole.div_ceil(self.mss).max(1);
        let wanted = current.segments - current.straddles;
        current.segments = current.straddles
            + if wanted < least {
                fits.max(wanted)
            } else {
                wanted
            };
        // Behind the header, each holds a byte at least.
        let most = current.straddles + 1 + current.len.saturating_sub(header);
        current.segments = current.segments.min(most);
    }
}

impl Current {
    /// Whether all segments were sent.
    pub(crate) const fn is_done(&self) -> bool {
        self.sent >= self.segments
    }

    /// The end of the header's part that the wanted straddling segments hold.
    fn within_header(&self) -> u32 {
        let header = self.header_len.min(self.len);
        header * self.straddles / (self.straddles + 1)
    }

    /// Where segment `nth` begins.
    pub(crate) fn cut_at(&self, nth: u32, mss: u32) -> u32 {
        if nth == 0 {
            return 0;
        }
        if nth >= self.segments {
            return self.len;
        }
        let header = self.header_len.min(self.len);
        if nth <= self.straddles {
            return header * nth / (self.straddles + 1);
        }
        let within = self.within_header();
        let rest = self.segments - self.straddles;
        let whole = self.len - within;
        let even = |nth: u32, of: u32, len: u32| {
            let at = u64::from(len) * u64::from(nth) / u64::from(of.max(1));
            u32::try_from(at).unwrap_or(len)
        };
        // The first of the rest holds the rest of the header, if the others still can hold theirs.
        let head = header - within.min(header);
        let others = u64::from(rest - 1) * u64::from(mss);
        let stretched = head > even(1, rest, whole)
            && head <= mss
            && u64::from(whole - head.min(whole)) <= others
            && whole - head.min(whole) >= rest - 1;
        let nth = nth - self.straddles;
        within
            + if stretched {
                head + even(nth - 1, rest - 1, whole - head)
            } else {
                even(nth, rest, whole)
            }
    }
}
