//! What a host does with a segment, by RFC 9293 §3.10.7, RFC 5961 and RFC 7323: a model of one end,
//! made of the segments that it has sent and received.

use crate::segment::{ACK, FIN, ISS, RST, SYN, Segment};

/// How far an end has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It has sent nothing and received nothing: it listens, or does not exist yet.
    Closed,
    SynSent,
    SynReceived,
    Synchronized,
}

/// One end of a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Receiver {
    state: State,
    iss: u32,
    sent: u32,
    acked: u32,
    next: u32,
    stamp: Option<u32>,
}

/// What a segment does to its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// The receiver drops it, whoever it is, or at most answers.
    None,
    /// It changes the receiver: it must have been lost if the connection goes on as if it were not
    /// there.
    Some,
}

/// Every window here, without a shift.
pub(crate) const WINDOW: u32 = 64_240;

impl Receiver {
    /// The end that the segments of a direction reach, after `history`.
    pub(crate) fn after(history: &[Segment], is_server: bool) -> Self {
        let mut end = Self {
            state: State::Closed,
            iss: 0,
            sent: 0,
            acked: 0,
            next: 0,
            stamp: None,
        };
        for segment in history {
            if segment.to_server == is_server {
                end.receive(segment);
            } else {
                end.send(segment);
            }
        }
        if end.state == State::SynReceived && end.sent == 0 {
            // Its answer may be on its way.
            let iss = ISS[usize::from(is_server)];
            (end.iss, end.acked, end.sent) = (iss, iss, iss.wrapping_add(1));
        }
        end
    }

    fn send(&mut self, segment: &Segment) {
        if segment.has(SYN) {
            (self.iss, self.acked) = (segment.seq, segment.seq);
            if self.state == State::Closed {
                self.state = State::SynSent;
            }
        }
        self.sent = segment.end();
    }

    fn receive(&mut self, segment: &Segment) {
        self.next = segment.end();
        self.stamp = segment.stamp;
        if segment.has(ACK) {
            self.acked = segment.ack;
        }
        self.state = match self.state {
            State::Closed => State::SynReceived,
            State::SynSent | State::SynReceived | State::Synchronized => State::Synchronized,
        };
    }

    /// What a segment would do that is not part of the conversation.
    pub(crate) fn effect(&self, segment: &Segment) -> Effect {
        let dropped = match self.state {
            State::Closed => !segment.has(SYN) || segment.has(ACK | RST),
            State::SynSent => self.drops_in_syn_sent(segment),
            State::SynReceived | State::Synchronized => self.drops(segment),
        };
        if dropped || segment.bad_checksum {
            Effect::None
        } else {
            Effect::Some
        }
    }

    /// §3.10.7.3.
    fn drops_in_syn_sent(&self, segment: &Segment) -> bool {
        let acceptable = after(segment.ack, self.iss) && !after(segment.ack, self.sent);
        if segment.has(ACK) && !acceptable {
            return true;
        }
        if segment.has(RST) {
            return !segment.has(ACK);
        }
        !segment.has(SYN)
    }

    /// §3.10.7.4.
    fn drops(&self, segment: &Segment) -> bool {
        let stale = |stamp: u32| self.stamp.is_some_and(|last| after(last, stamp));
        if segment.stamp.is_some_and(stale) && !segment.has(RST) {
            return true;
        }
        let inside = |seq: u32| seq.wrapping_sub(self.next) < WINDOW;
        let end = segment.end();
        let acceptable = match end.wrapping_sub(segment.seq) {
            0 => inside(segment.seq),
            _ => inside(segment.seq) || inside(end.wrapping_sub(1)),
        };
        if !acceptable {
            return true;
        }
        // RFC 793 takes any that is inside.
        if segment.has(RST) || segment.has(SYN) {
            return false;
        }
        if !segment.has(ACK) || after(segment.ack, self.sent) {
            return true;
        }
        if self.state == State::SynReceived && !after(segment.ack, self.acked) {
            return true;
        }
        // RFC 5961 §5.2 drops some of what remains; RFC 793 does not.
        let same = segment.seq == self.next && segment.ack == self.acked;
        let newer = |stamp: u32| self.stamp.is_some_and(|last| after(stamp, last));
        let is_repeated = same && !segment.stamp.is_some_and(newer);
        segment.len() == 0 && !segment.has(FIN) && is_repeated && segment.window == WINDOW as u16
    }
}

/// Whether one number comes after another.
fn after(one: u32, other: u32) -> bool {
    one.wrapping_sub(other).cast_signed() > 0
}
