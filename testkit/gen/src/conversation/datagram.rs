//! What is no talk: datagrams, and probes of ports.

use super::{Answer, Conversation, Next, Phase};
use crate::net::flags;
use crate::trace::Trace;
use std::io::{self, Write};

impl Conversation {
    /// The next datagram, in fragments if it is long.
    pub(super) fn datagram<W: Write>(
        &mut self,
        trace: &mut Trace<'_, W>,
        place: u32,
    ) -> io::Result<Next> {
        let Some(current) = trace.next_message(&mut self.script) else {
            self.phase = Phase::Done;
            return Ok(Next::Never);
        };
        let from_client = current.from_client;
        self.tally.payload_bytes[usize::from(!from_client)] += u64::from(current.len);
        let id = self.identify(from_client);
        let said = (self.script.dialogue, current.message, 0, current.len);
        let count = trace.datagram(&self.ends, from_client, said, place);
        if count > 1 {
            trace.totals.fragmented += 1;
        }
        let is_backwards = count > 1 && trace.troubles.reorders(&mut trace.random);
        trace.totals.reordered += u64::from(is_backwards);
        for nth in 0..count {
            let nth = if is_backwards { count - 1 - nth } else { nth };
            trace.fragment(&self.ends, from_client, id, nth);
            self.sent(trace, from_client)?;
        }
        if self.script.at == self.script.messages {
            self.phase = Phase::Done;
            return Ok(Next::Never);
        }
        Ok(Next::Later)
    }

    pub(super) fn probing<W: Write>(
        &mut self,
        trace: &mut Trace<'_, W>,
        nth: u8,
        answer: Answer,
    ) -> io::Result<Next> {
        match (nth, answer) {
            (0, _) => {
                self.bare(trace, true, flags::SYN)?;
                self.advance(true);
            }
            (1, Answer::Closed) => {
                self.seq[1] = 0;
                self.bare(trace, false, flags::RST | flags::ACK)?;
            }
            (1, _) => {
                self.bare(trace, false, flags::SYN | flags::ACK)?;
                self.advance(false);
            }
            _ => self.bare(trace, true, flags::RST)?,
        }
        let is_over = u32::from(nth) + 1 == answer.packets();
        self.phase = if is_over {
            Phase::Done
        } else {
            Phase::Probe(nth + 1, answer)
        };
        Ok(if is_over { Next::Never } else { Next::Soon })
    }
}
