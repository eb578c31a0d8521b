//! What one source asked: exactly up to a number, in sketches beyond.

use super::Host;
use crate::event::{Probe, Steps};
use crate::hash::Map;
use crate::options::ScanOptions;
use crate::sketch::{Distinct, hash_target};
use crate::summary::Attempt;
use flowpin_packet::Timestamp;

/// Host and port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Target {
    pub(super) host: Host,
    pub(super) port: u16,
}

impl Target {
    /// What an attempt asks.
    pub(super) const fn of(attempt: &Attempt) -> Self {
        Self {
            host: Host {
                ipv6: attempt.ipv6,
                address: attempt.target,
            },
            port: attempt.port,
        }
    }
}

/// What became of an attempt; of several at one target, the greatest counts, and of those that
/// were accepted the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(super) enum Outcome {
    /// No answer, or somebody else refused.
    Filtered,
    /// Refused.
    Closed,
    /// Accepted, and then reset without a handshake.
    HalfOpen,
    /// Accepted, and then nothing was said.
    Idle,
    /// Accepted and used: asked for only where every question counts.
    Used,
}

impl Outcome {
    /// Of an attempt at a target, after others at it.
    fn after(self, known: Self) -> Self {
        // Who connected first and scans later does not connect with his scan.
        if self >= Self::HalfOpen {
            self
        } else {
            self.max(known)
        }
    }
}

/// What an attempt counts for.
pub(super) enum Meaning {
    /// A connection that was used: against a scan.
    Used,
    /// Nothing: a route was traced, or it is no question.
    Nothing,
    /// It may be a scanner's.
    Question(Outcome),
}

impl Meaning {
    /// What it counts for where every question may be a scanner's.
    pub(super) fn counted(self, probe: Probe, options: &ScanOptions) -> Self {
        match self {
            Self::Used if options.is_enough(probe) => Self::Question(Outcome::Used),
            meaning => meaning,
        }
    }

    pub(super) fn of(attempt: &Attempt) -> Self {
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

/// What is known of one target.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub(super) outcome: Outcome,
    pub(super) attempts: u32,
    /// Interval of the last attempt.
    pub(super) last: u64,
    /// Packet number and time of the first.
    pub(super) first: (u64, Timestamp),
}

/// Different hosts, ports, and pairs of both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) hosts: u64,
    pub(super) ports: u64,
    pub(super) targets: u64,
    pub(super) open: u64,
    pub(super) closed: u64,
    pub(super) filtered: u64,
    /// Of the targets, the hosts and the ports: those that were asked once.
    pub(super) once: [u64; 3],
    /// Targets of the host that has most.
    pub(super) host_most: u64,
    /// Targets of the port that has most.
    pub(super) port_most: u64,
}

/// The targets of one source.
#[derive(Debug)]
pub(super) enum Targets {
    /// A few: searched one by one.
    Few(Vec<(Target, Seen)>),
    /// Up to [`EXACT_MAX`]; read in no order that matters.
    Many(Map<Target, Seen>),
    /// Beyond.
    Sketch(Box<Sketch>),
}

/// Targets of a source that are kept one by one.
pub(super) const EXACT_MAX: usize = 2048;

const FEW_MAX: usize = 16;

/// Intervals after which who asks again does something else.
const AGAIN: u64 = 10;

/// Room for so many is kept for the next source.
pub(super) const SPARE_TARGETS_MAX: usize = 4;

/// Some 30 KB.
#[derive(Debug)]
pub(super) struct Sketch {
    hosts: Distinct<4096>,
    targets: Distinct<4096>,
    outcomes: [Distinct<4096>; 4],
    ports: Vec<u64>,
}

impl Default for Targets {
    fn default() -> Self {
        Self::Few(Vec::new())
    }
}

impl Targets {
    /// None; with the memory of a few.
    pub(super) fn cleared(self) -> Self {
        match self {
            Self::Few(mut few) if few.capacity() <= SPARE_TARGETS_MAX => {
                few.clear();
                Self::Few(few)
            }
            _ => Self::default(),
        }
    }

    /// Adds an attempt; whether the target is new.
    pub(super) fn add(&mut self, attempt: &Attempt, outcome: Outcome, interval: u64) -> bool {
        let target = Target::of(attempt);
        let fresh = Seen {
            outcome,
            attempts: 1,
            last: interval,
            first: (attempt.number, attempt.time),
        };
        let known = match self {
            Self::Few(few) => few
                .iter_mut()
                .find_map(|(known, seen)| (*known == target).then_some(seen)),
            Self::Many(many) => many.get_mut(&target),
            Self::Sketch(sketch) => {
                sketch.add(&target, outcome);
                return true;
            }
        };
        if let Some(seen) = known {
            let is_over = seen.outcome >= Outcome::HalfOpen && interval > seen.last + AGAIN;
            if is_over || seen.outcome > outcome && outcome == Outcome::HalfOpen {
                // That was an ordinary connection.
                (seen.attempts, seen.first) = (0, fresh.first);
            }
            seen.outcome = outcome.after(seen.outcome);
            seen.attempts = seen.attempts.saturating_add(1);
            seen.last = interval;
            return false;
        }
        match self {
            Self::Few(few) if few.len() < FEW_MAX => few.push((target, fresh)),
            Self::Few(few) => {
                let mut many: Map<_, _> = few.drain(..).collect();
                many.insert(target, fresh);
                *self = Self::Many(many);
            }
            Self::Many(many) => {
                many.insert(target, fresh);
            }
            Self::Sketch(_) => {}
        }
        true
    }

    /// What is known of one that is kept.
    pub(super) fn get(&self, target: &Target) -> Option<&Seen> {
        match self {
            Self::Few(few) => few
                .iter()
                .find_map(|(known, seen)| (known == target).then_some(seen)),
            Self::Many(many) => many.get(target),
            Self::Sketch(_) => None,
        }
    }

    /// How many are kept one by one.
    pub(super) fn exact_len(&self) -> usize {
        match self {
            Self::Few(few) => few.len(),
            Self::Many(many) => many.len(),
            Self::Sketch(_) => 0,
        }
    }

    pub(super) const fn is_sketch(&self) -> bool {
        matches!(self, Self::Sketch(_))
    }

    /// Those that are kept one by one, in no order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&Target, &Seen)> {
        let (few, many) = match self {
            Self::Few(few) => (Some(few), None),
            Self::Many(many) => (None, Some(many)),
            Self::Sketch(_) => (None, None),
        };
        let few = few
            .into_iter()
            .flatten()
            .map(|(target, seen)| (target, seen));
        few.chain(many.into_iter().flatten())
    }

    /// Forgets targets that were last asked before an interval.
    pub(super) fn forget_before(&mut self, interval: u64) {
        match self {
            Self::Few(few) => few.retain(|(_, seen)| seen.last >= interval),
            Self::Many(many) => many.retain(|_, seen| seen.last >= interval),
            Self::Sketch(_) => {}
        }
    }

    /// Those that were last asked in an interval or after it.
    pub(super) fn since(&self, interval: u64) -> impl Iterator<Item = (&Target, &Seen)> {
        self.iter().filter(move |(_, seen)| seen.last >= interval)
    }

    /// Forgets targets that were first asked before a packet.
    pub(super) fn forget_begun_before(&mut self, number: u64) {
        match self {
            Self::Few(few) => few.retain(|(_, seen)| seen.first.0 >= number),
            Self::Many(many) => many.retain(|_, seen| seen.first.0 >= number),
            Self::Sketch(_) => {}
        }
    }

    /// From exact to sketch.
    pub(super) fn condense(&mut self) {
        let mut sketch = Box::new(Sketch::new());
        for (target, seen) in self.iter() {
            sketch.add(target, seen.outcome);
        }
        if !self.is_sketch() {
            *self = Self::Sketch(sketch);
        }
    }

    pub(super) fn counts(&self) -> Counts {
        if let Self::Sketch(sketch) = self {
            return sketch.counts();
        }
        let mut counts = Counts::default();
        let mut hosts: Map<Host, Line> = Map::default();
        let mut ports: Map<u16, Line> = Map::default();
        for (target, seen) in self.iter() {
            counts.targets += 1;
            counts.once[0] += u64::from(seen.attempts == 1);
            match seen.outcome {
                Outcome::Filtered => counts.filtered += 1,
                Outcome::Closed => counts.closed += 1,
                Outcome::HalfOpen | Outcome::Idle | Outcome::Used => counts.open += 1,
            }
            hosts.entry(target.host).or_default().add(seen);
            ports.entry(target.port).or_default().add(seen);
        }
        (counts.hosts, counts.ports) = (hosts.len() as u64, ports.len() as u64);
        for line in hosts.values() {
            counts.host_most = counts.host_most.max(line.targets);
            counts.once[1] += u64::from(line.attempts == 1);
        }
        for line in ports.values() {
            counts.port_most = counts.port_most.max(line.targets);
            counts.once[2] += u64::from(line.attempts == 1);
        }
        counts
    }

    /// The least hash of the targets in each of 16 parts: two sets that have a share of their
    /// union in common, have about that share of these in common (Broder, 1997; one permutation:
    /// Li, Owen and Zhang, 2012).
    pub(super) fn signature(&self) -> [u64; 16] {
        let mut least = [u64::MAX; 16];
        for (target, _) in self.iter() {
            let hash = hash_target(&target.host.address, target.port);
            if let Some(place) = least.get_mut((hash & 15) as usize) {
                *place = (*place).min(hash);
            }
        }
        least
    }
}

/// Sums of one host or port.
#[derive(Clone, Copy, Debug, Default)]
struct Line {
    targets: u64,
    attempts: u64,
}

impl Line {
    fn add(&mut self, seen: &Seen) {
        self.targets += 1;
        self.attempts += u64::from(seen.attempts);
    }
}

impl Sketch {
    fn new() -> Self {
        Self {
            hosts: Distinct::new(),
            targets: Distinct::new(),
            outcomes: [(); 4].map(|()| Distinct::new()),
            ports: vec![0; 1 << 10],
        }
    }

    fn add(&mut self, target: &Target, outcome: Outcome) {
        let hash = hash_target(&target.host.address, target.port);
        self.hosts.add(hash_target(&target.host.address, 0));
        self.targets.add(hash);
        let outcome = outcome.min(Outcome::Idle);
        if let Some(sketch) = self.outcomes.get_mut(outcome as usize) {
            sketch.add(hash);
        }
        if let Some(word) = self.ports.get_mut(usize::from(target.port) / 64) {
            *word |= 1 << (target.port % 64);
        }
    }

    fn counts(&self) -> Counts {
        let [filtered, closed, half_open, idle] = &self.outcomes;
        let ports = self.ports.iter().map(|word| u64::from(word.count_ones()));
        let ports: u64 = ports.sum();
        let hosts = self.hosts.estimate().max(1);
        // As many as each line has one of, and no more than all lines have of all.
        let targets = self.targets.estimate();
        let targets = targets.max(hosts.max(ports)).min(hosts * ports);
        let outcomes = [half_open.estimate() + idle.estimate(), closed.estimate()];
        let [open, closed, filtered] = shares(targets, outcomes, filtered.estimate());
        // Where targets are hardly more than ports, one host has nearly all of them.
        let most = |lines: u64, others: u64| {
            if others == 1 || targets <= lines + lines / 4 && lines > others {
                targets
            } else {
                targets / others.max(1)
            }
        };
        Counts {
            hosts,
            ports,
            targets,
            open,
            closed,
            filtered,
            once: [targets, hosts, ports],
            host_most: most(ports, hosts),
            port_most: most(hosts, ports),
        }
    }
}

/// Estimates of parts, made to be no more and no less than the whole.
fn shares(whole: u64, [first, second]: [u64; 2], third: u64) -> [u64; 3] {
    let all = (first + second + third).max(1);
    let mut parts = [first, second, third].map(|part| part * whole / all);
    let rest = whole - parts.iter().sum::<u64>();
    if let Some(most) = parts.iter_mut().max() {
        *most += rest;
    }
    parts
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
