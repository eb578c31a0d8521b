//! One side of a session: sequence numbers and administrative messages.
//!
//! | MsgSeqNum of a message | is reported as |
//! | --- | --- |
//! | the first of its side, or after bytes that are missing | `first` |
//! | the one expected | `ok` |
//! | higher | `gap`, with how many are missing |
//! | lower, with PossDupFlag | `resent` |
//! | lower, without PossDupFlag | `low`: a FIX engine would end the session |
//! | any, in a Logon with ResetSeqNumFlag or a SequenceReset without GapFillFlag | `reset` |
//! | none | `missing` |

use crate::Slot;
use crate::message::fields::Fields;

/// The effect of an administrative message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// An application message.
    None,
    /// Logon, of either side.
    Logon,
    /// Logout, of either side.
    Logout,
    /// Heartbeat.
    Heartbeat,
    /// TestRequest.
    TestRequest,
    /// ResendRequest: this side is missing messages.
    ResendRequest,
    /// Reject: this side rejects a message.
    Reject,
    /// BusinessMessageReject: this side cannot process a message.
    BusinessReject,
    /// SequenceReset that replaces administrative messages which are not sent again.
    GapFill,
    /// SequenceReset that continues with another number.
    SequenceReset,
}

impl Event {
    /// Returns the name in records; empty for application messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Logon => "logon",
            Self::Logout => "logout",
            Self::Heartbeat => "heartbeat",
            Self::TestRequest => "test_request",
            Self::ResendRequest => "resend_request",
            Self::Reject => "reject",
            Self::BusinessReject => "business_reject",
            Self::GapFill => "gap_fill",
            Self::SequenceReset => "sequence_reset",
        }
    }

    fn of(message_type: &[u8], gap_fill: bool) -> Self {
        match message_type {
            b"A" => Self::Logon,
            b"5" => Self::Logout,
            b"0" => Self::Heartbeat,
            b"1" => Self::TestRequest,
            b"2" => Self::ResendRequest,
            b"3" => Self::Reject,
            b"j" => Self::BusinessReject,
            b"4" if gap_fill => Self::GapFill,
            b"4" => Self::SequenceReset,
            _ => Self::None,
        }
    }
}

/// The sequence number of a message compared with the expected one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sequence {
    /// No number was expected.
    First,
    /// The expected number.
    Ok,
    /// The number of messages missing before it.
    Gap(u64),
    /// Sent again and marked as such.
    Resent,
    /// Sent before, but not marked.
    Low,
    /// The numbering restarts.
    Reset,
    /// The message has no number.
    Missing,
}

impl Sequence {
    /// Returns the name in records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Ok => "ok",
            Self::Gap(_) => "gap",
            Self::Resent => "resent",
            Self::Low => "low",
            Self::Reset => "reset",
            Self::Missing => "missing",
        }
    }
}

/// The sequence state of one side of a session.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Side {
    /// The next number; 0: any.
    expected: u64,
}

/// The effect of a message on its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) event: Event,
    pub(crate) sequence: Sequence,
    /// The expected number; `None` if any number was accepted.
    pub(crate) expected: Option<u64>,
}

impl Side {
    /// Handles missing bytes: the next message may have any number.
    pub(crate) fn forget(&mut self) {
        self.expected = 0;
    }

    /// Processes a message of a type.
    #[inline]
    pub(crate) fn step(&mut self, fields: &Fields, message: &[u8], message_type: &[u8]) -> Step {
        let flag = |slot| fields.value(message, slot) == Some(b"Y");
        let event = Event::of(message_type, message_type == b"4" && flag(Slot::GapFill));
        let expected = Some(self.expected).filter(|&expected| expected != 0);
        let Some(number) = fields.count(message, Slot::MsgSeqNum) else {
            let sequence = Sequence::Missing;
            return Step {
                event,
                sequence,
                expected,
            };
        };
        let next = number.saturating_add(1);
        let sequence = match event {
            Event::Logon if flag(Slot::ResetSeqNum) => {
                self.expected = next;
                Sequence::Reset
            }
            Event::SequenceReset => {
                // Its own number is ignored (FIX 4.4, Sequence Reset).
                self.expected = fields.count(message, Slot::NewSeqNo).unwrap_or(next);
                Sequence::Reset
            }
            _ => self.in_order(number, || flag(Slot::PossDup)),
        };
        if event == Event::GapFill
            && let Some(next) = fields.count(message, Slot::NewSeqNo)
        {
            self.expected = self.expected.max(next);
        }
        Step {
            event,
            sequence,
            expected,
        }
    }

    #[inline]
    fn in_order(&mut self, number: u64, resent: impl FnOnce() -> bool) -> Sequence {
        let expected = self.expected;
        if expected == 0 || number >= expected {
            self.expected = number.saturating_add(1);
        }
        match number.checked_sub(expected) {
            _ if expected == 0 => Sequence::First,
            Some(0) => Sequence::Ok,
            Some(missing) => Sequence::Gap(missing),
            None if resent() => Sequence::Resent,
            None => Sequence::Low,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Event, Sequence, Side};
    use crate::message::fields::Fields;
    use crate::record::secrets::type_of;
    use crate::{Dictionary, from_printed};
    use std::sync::Arc;

    fn steps(messages: &[&str]) -> Vec<(Event, Sequence)> {
        let mut fields = Fields::new(Arc::new(Dictionary::bundled()), 50);
        let mut side = Side::default();
        let mut step = |text: &&str| {
            let message = from_printed(format!("8=FIX.4.4|9=1|{text}|10=000|").as_bytes());
            fields.split(&message);
            let step = side.step(&fields, &message, type_of(&fields, &message));
            (step.event, step.sequence)
        };
        messages.iter().map(&mut step).collect()
    }

    /// FIX session protocol, Message Recovery: missed messages are requested and sent again with
    /// PossDupFlag; the numbering continues after the gap.
    #[test]
    fn a_gap_is_reported_and_its_resent_messages_are_not() {
        let found = steps(&[
            "35=A|34=1",
            "35=D|34=2",
            "35=D|34=6",
            "35=D|34=3|43=Y",
            "35=4|34=4|43=Y|123=Y|36=6",
            "35=D|34=7",
            "35=D|34=7",
        ]);
        use Event as E;
        use Sequence::{First, Gap, Low, Ok, Resent};
        let expected = [
            (E::Logon, First),
            (E::None, Ok),
            (E::None, Gap(3)),
            (E::None, Resent),
            (E::GapFill, Resent),
            (E::None, Ok),
            (E::None, Low),
        ];
        assert_eq!(found, expected);
    }

    /// GapFill also advances the number; a reset may set any number; a Logon may restart the
    /// numbering.
    #[test]
    fn resets_set_the_next_number() {
        let found = steps(&[
            "35=0|34=5",
            "35=4|34=6|123=Y|36=10",
            "35=0|34=10",
            "35=4|34=99|36=3",
            "35=0|34=3",
            "35=A|34=1|141=Y",
            "35=0|34=2",
            "35=0",
        ]);
        use Sequence::{First, Missing, Ok, Reset};
        let sequence: Vec<Sequence> = found.iter().map(|&(_, sequence)| sequence).collect();
        assert_eq!(sequence, [First, Ok, Ok, Reset, Ok, Reset, Ok, Missing]);
        assert_eq!(
            (found[1].0, found[3].0),
            (Event::GapFill, Event::SequenceReset)
        );
    }
}
