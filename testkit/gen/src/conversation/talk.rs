//! The talk of a TCP connection, with all that goes wrong, and its end.

use super::{Conversation, Next, Phase};
use crate::net::{Segment, flags};
use crate::plan::Close;
use crate::talk::Message;
use crate::trace::Trace;
use std::io::{self, Write};

/// A segment that comes later than it should, or again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pending {
    pub(super) message: Message,
    pub(super) from_client: bool,
    from: u32,
    len: u32,
    pub(super) seq: u32,
    /// Segments that come before it.
    wait: u8,
    /// The receiver lacks it, and acknowledges nothing behind it.
    pub(super) is_hole: bool,
}

/// What happens to a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Arrives,
    Missing,
    Lost,
    Reordered,
    Retransmitted,
}

impl Conversation {
    pub(super) fn talk<W: Write>(
        &mut self,
        trace: &mut Trace<'_, W>,
        place: u32,
    ) -> io::Result<Next> {
        if let Some(pending) = self.pending
            && (pending.wait == 0 || self.current.is_done())
        {
            self.pending = None;
            self.again(trace, &pending)?;
            return Ok(Next::Later);
        }
        if let Some(by_client) = self.owes_ack.take() {
            self.bare(trace, by_client, flags::ACK)?;
            return Ok(Next::Later);
        }
        if self.current.is_done() {
            let Some(next) = trace.next_message(&mut self.script) else {
                self.phase = Phase::Closing(0);
                return self.closing(trace, 0);
            };
            self.current = next;
        }
        self.segment(trace, place)?;
        Ok(Next::Later)
    }

    /// Sends the next segment of the message, or lets something happen to it.
    fn segment<W: Write>(&mut self, trace: &mut Trace<'_, W>, place: u32) -> io::Result<()> {
        let current = self.current;
        let mss = self.script.mss;
        let from = current.cut_at(current.sent, mss);
        let until = current.cut_at(current.sent + 1, mss);
        self.current.sent += 1;
        let is_last = self.current.is_done();
        let from_client = current.from_client;
        let sequence = self.seq[usize::from(!from_client)];
        let pending = Pending {
            message: current.message,
            from_client,
            from,
            len: until.saturating_sub(from),
            seq: sequence,
            wait: 0,
            is_hole: false,
        };
        let next = sequence.wrapping_add(pending.len);
        self.seq[usize::from(!from_client)] = next;
        self.tally.payload_bytes[usize::from(!from_client)] += u64::from(pending.len);
        if current.is_chunked {
            trace.totals.chunked += 1;
            self.tally.chunks -= 1;
            self.script.chunked_left -= 1;
        }
        if let Some(waiting) = &mut self.pending {
            waiting.wait = waiting.wait.saturating_sub(1);
        }
        let fate = if self.pending.is_some() {
            Fate::Arrives
        } else {
            trace.troubles.fate(is_last, &mut trace.random)
        };
        self.suffer(trace, place, &pending, fate)?;
        self.ack_debt += self.acks;
        if self.ack_debt >= self.data {
            self.ack_debt -= self.data;
            self.owes_ack = (self.data > 0).then_some(!from_client);
        }
        let straddles = until < current.header_len && trace.ended_inside_line;
        if straddles {
            trace.totals.straddling += 1;
            self.tally.straddles -= 1;
        }
        Ok(())
    }

    fn suffer<W: Write>(
        &mut self,
        trace: &mut Trace<'_, W>,
        place: u32,
        segment: &Pending,
        fate: Fate,
    ) -> io::Result<()> {
        let hold = |wait, is_hole| {
            Some(Pending {
                wait,
                is_hole,
                ..*segment
            })
        };
        match fate {
            Fate::Arrives => self.data(trace, segment, Some(place), true)?,
            Fate::Missing => {
                self.data(trace, segment, Some(place), false)?;
                trace.totals.missing += 1;
                self.tally.missing_bytes += u64::from(segment.len);
            }
            Fate::Lost => {
                trace.totals.lost += 1;
                self.data(trace, segment, Some(place), false)?;
                self.pending = hold(3, true);
            }
            Fate::Reordered => {
                trace.totals.reordered += 1;
                self.data(trace, segment, Some(place), false)?;
                self.pending = hold(1, true);
            }
            Fate::Retransmitted => {
                trace.totals.retransmitted += 1;
                self.data(trace, segment, Some(place), true)?;
                self.pending = hold(2, false);
            }
        }
        Ok(())
    }

    /// Sends a held segment.
    fn again<W: Write>(&mut self, trace: &mut Trace<'_, W>, held: &Pending) -> io::Result<()> {
        self.data(trace, held, None, true)
    }

    /// A segment with data. What is new is told to the truth under `place`.
    fn data<W: Write>(
        &mut self,
        trace: &mut Trace<'_, W>,
        data: &Pending,
        place: Option<u32>,
        is_captured: bool,
    ) -> io::Result<()> {
        let ends_message = data.from + data.len == self.current.len;
        let push = if ends_message { flags::PSH } else { 0 };
        let segment = Segment {
            from_client: data.from_client,
            seq: data.seq,
            ack: self.acknowledged(data.from_client),
            flags: flags::ACK | push,
            ip_id: self.identify(data.from_client),
        };
        let said = (self.script.dialogue, data.message, data.from, data.len);
        trace.data(&self.ends, segment, said, place);
        if is_captured {
            self.sent(trace, data.from_client)
        } else {
            trace.abandon();
            Ok(())
        }
    }

    pub(super) fn closing<W: Write>(
        &mut self,
        trace: &mut Trace<'_, W>,
        nth: u8,
    ) -> io::Result<Next> {
        let closer = self.client_closes;
        let fin = flags::FIN | flags::ACK;
        let (by_closer, control) = match (self.close, nth) {
            (Close::Reset, _) => (true, flags::RST | flags::ACK),
            (Close::Four | Close::Three, 0) => (true, fin),
            (Close::Four, 1) => (false, flags::ACK),
            (Close::Four, 2) | (Close::Three, 1) => (false, fin),
            (Close::Four, 3) | (Close::Three, 2) => (true, flags::ACK),
            _ => {
                self.phase = Phase::Done;
                return Ok(Next::Never);
            }
        };
        let by_client = by_closer == closer;
        self.bare(trace, by_client, control)?;
        if control & flags::FIN != 0 {
            self.advance(by_client);
        }
        let is_over = u32::from(nth) + 1 == self.close.packets();
        self.phase = if is_over {
            Phase::Done
        } else {
            Phase::Closing(nth + 1)
        };
        Ok(if is_over { Next::Never } else { Next::Soon })
    }
}
