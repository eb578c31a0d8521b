//! Outcomes of attempts, and what they mean.

use crate::event::{Probe, Steps};
use crate::options::ScanOptions;
use crate::summary::Attempt;

/// The outcome of an attempt. Of several attempts at one target the greatest counts, and of
/// accepted ones the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(in crate::merger) enum Outcome {
    /// No answer, or another host refused.
    Filtered,
    /// Refused.
    Closed,
    /// Accepted, and then reset without a handshake.
    HalfOpen,
    /// Accepted, and then nothing was said.
    Idle,
    /// Accepted and used: counts only where every question counts.
    Used,
}

impl Outcome {
    /// Of an attempt at a target, after others at it.
    pub(super) fn after(self, known: Self) -> Self {
        // A source that connected first and scans later does not connect with its scan.
        if self >= Self::HalfOpen {
            self
        } else {
            self.max(known)
        }
    }
}

/// The meaning of an attempt.
pub(in crate::merger) enum Meaning {
    /// A used connection: counts against a scan.
    Used,
    /// None: a route was traced, or it is no question.
    Nothing,
    /// It may be a scanner's.
    Question(Outcome),
}

impl Meaning {
    /// The meaning where every question may be a scanner's.
    pub(in crate::merger) fn counted(self, probe: Probe, options: &ScanOptions) -> Self {
        match self {
            Self::Used if options.is_enough(probe) => Self::Question(Outcome::Used),
            meaning => meaning,
        }
    }

    pub(in crate::merger) fn of(attempt: &Attempt) -> Self {
        use Outcome::{Closed, Filtered, HalfOpen, Idle};
        let has = |steps| attempt.steps.has_any(steps);
        let accepted = has(Steps::ACCEPTED.with(Steps::WENT_ON).with(Steps::ANSWERED));
        let silence = || {
            if has(Steps::EXPIRED) || has(Steps::REPEATED) {
                Self::Nothing
            } else if has(Steps::REFUSED) {
                Self::Question(Closed)
            } else {
                Self::Question(Filtered)
            }
        };
        match attempt.probe {
            Probe::Stray | Probe::Reset => Self::Nothing,
            Probe::Syn if has(Steps::CLIENT_DATA) => Self::Used,
            Probe::Syn if accepted && has(Steps::ABORTED) && !has(Steps::WENT_ON) => {
                Self::Question(HalfOpen)
            }
            Probe::Syn if accepted => Self::Question(Idle),
            Probe::SctpInit if has(Steps::WENT_ON.with(Steps::CLIENT_DATA)) => Self::Used,
            Probe::SctpInit if has(Steps::ACCEPTED) => Self::Question(HalfOpen),
            // A connection that began before the capture did.
            Probe::Ack | Probe::Maimon if has(Steps::WENT_ON) => Self::Nothing,
            Probe::IpProtocol if has(Steps::ANSWERED) => Self::Question(Idle),
            _ if has(Steps::ANSWERED.with(Steps::CLIENT_DATA)) => Self::Used,
            _ => silence(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Meaning;
    use crate::event::{Probe, Steps};
    use crate::summary::Attempt;
    use flowpin_packet::Timestamp;

    const PROBES: [Probe; 12] = [
        Probe::Syn,
        Probe::Fin,
        Probe::Null,
        Probe::Xmas,
        Probe::Maimon,
        Probe::Ack,
        Probe::Udp,
        Probe::SctpInit,
        Probe::SctpCookieEcho,
        Probe::IpProtocol,
        Probe::Echo,
        Probe::Other,
    ];

    /// The worker notes nothing more on an attempt that is settled: nothing may depend on it.
    #[test]
    fn no_further_step_changes_what_a_settled_attempt_means() {
        for probe in PROBES {
            let meaning = |steps| Meaning::of(&attempt(probe, steps));
            for steps in 0..Steps::REPEATED.0 * 2 {
                if !attempt(probe, steps).is_settled() {
                    continue;
                }
                let known = core::mem::discriminant(&meaning(steps));
                for more in 0..Steps::REPEATED.0 * 2 {
                    let now = meaning(steps | more);
                    assert_eq!(
                        core::mem::discriminant(&now),
                        known,
                        "{probe:?} {steps} {more}"
                    );
                    if let (Meaning::Question(was), Meaning::Question(is)) = (meaning(steps), now) {
                        assert_eq!(was, is, "{probe:?} {steps} {more}");
                    }
                }
            }
        }
    }

    fn attempt(probe: Probe, steps: u16) -> Attempt {
        Attempt {
            source: [0; 16],
            target: [0; 16],
            time: Timestamp(0),
            number: 0,
            handle: 0,
            before: 0,
            port: 0,
            steps: Steps(steps),
            probe,
            ipv6: false,
            shard: 0,
            late: false,
        }
    }
}
