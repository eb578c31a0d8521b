//! Used connections amid a scan's probes: those on its lines are targets, too.

use super::super::amid::{Lines, UsedOne, WAITING_MAX};
use super::super::beginning;
use super::super::targets::{Outcome, Target};
use super::Asked;
use crate::summary::Attempt;
use flowpin_counters::{Loss, Losses};

impl Asked {
    /// It is a scan: what was forgotten, and what was asked before it began, is none of it; what
    /// was `used` amid it is.
    pub(in crate::merger) fn cut(&mut self, used: &[UsedOne]) {
        let last = self.last_probe();
        let used = used.iter().filter(|(attempt, _)| attempt.number < last);
        for (attempt, interval) in self.on_lines(used.copied()) {
            self.targets.add(&attempt, Outcome::Used, interval);
        }
        let seen: Vec<_> = self.targets.iter().map(|(_, seen)| *seen).collect();
        if let Some(number) = beginning::of(seen) {
            self.targets.forget_begun_before(number);
        }
        (self.attempts, self.accepted) = (0, [0; 2]);
        let mut first = None;
        for (_, seen) in self.targets.iter() {
            self.attempts += u64::from(seen.attempts);
            first = Some(first.map_or(seen.first, |known| seen.first.min(known)));
            match seen.outcome {
                Outcome::HalfOpen => self.accepted[0] += 1,
                Outcome::Idle | Outcome::Used => self.accepted[1] += 1,
                _ => {}
            }
        }
        self.first = first.unwrap_or(self.first);
    }

    /// The number of the last target's first probe.
    pub(super) fn last_probe(&self) -> u64 {
        let numbers = self.targets.iter().map(|(_, seen)| seen.first.0);
        numbers.max().unwrap_or(0)
    }

    /// Of used connections those along the lines of what failed, but for targets that were asked
    /// without being used.
    fn on_lines(&self, used: impl Iterator<Item = UsedOne>) -> Vec<UsedOne> {
        let mut used = used.peekable();
        if used.peek().is_none() {
            return Vec::new();
        }
        let fresh = match &self.remembered {
            Some(_) => None,
            None => Lines::of(&self.targets),
        };
        let known = self
            .remembered
            .as_ref()
            .and_then(|known| known.lines.as_ref());
        let Some(lines) = fresh.as_ref().or(known) else {
            return Vec::new();
        };
        used.filter(|(attempt, _)| {
            let target = Target::of(attempt);
            lines.have(&target)
                && self
                    .targets
                    .get(&target)
                    .is_none_or(|seen| seen.outcome == Outcome::Used)
        })
        .collect()
    }

    /// Notes a connection that was used while the scan goes on.
    pub(in crate::merger) fn note_used(
        &mut self,
        attempt: &Attempt,
        interval: u64,
        losses: &mut Losses,
    ) {
        if let Some(scan) = &mut self.scan {
            if scan.waiting.len() < WAITING_MAX {
                scan.waiting.push((*attempt, interval));
            } else {
                losses.count(Loss::ScanUsedForgotten, 1);
                scan.is_short = true;
            }
        }
    }

    /// Adds what was used before the last probe; at the end, also what followed it at once.
    pub(in crate::merger) fn take_used(&mut self, is_end: bool) {
        let Some(scan) = &mut self.scan else {
            return;
        };
        let (mut waiting, probe) = (core::mem::take(&mut scan.waiting), scan.last_probe);
        let at = waiting.partition_point(|(attempt, _)| attempt.number < probe);
        let after = waiting.split_off(at);
        for one in self.on_lines(waiting.into_iter()) {
            self.add_used(&one);
        }
        if !is_end {
            if let Some(scan) = &mut self.scan {
                scan.waiting = after;
            }
            return;
        }
        let span = self.last.0.saturating_sub(self.first.1.0);
        let limit = beginning::limit_idle(span / self.attempts.max(1));
        for one in self.on_lines(after.into_iter()) {
            if one.0.time.0.saturating_sub(self.last.0) > limit {
                break;
            }
            self.add_used(&one);
        }
    }

    fn add_used(&mut self, (attempt, interval): &UsedOne) {
        self.attempts += 1;
        self.last = self.last.max(attempt.time);
        let is_new = self.targets.add(attempt, Outcome::Used, *interval);
        self.accepted[1] += u64::from(is_new);
    }
}
