//! Where a scan begins: not with what its source had asked before.

use super::targets::{Outcome, Seen};

/// Pauses of a scan that are no end of what was asked before: as many times its usual pause, and
/// at least so many nanoseconds.
const PAUSE: (u64, u64) = (32, 3_000_000_000);

/// Likewise after a connection that was accepted, before anything failed.
const PAUSE_AFTER_IDLE: (u64, u64) = (8, 100_000_000);

/// The number of the first packet that belongs to a scan of which these targets were seen; none
/// if all do.
///
/// What lies before a long pause does not, if it is little of what failed. Connections that were
/// accepted before anything failed are ordinary ones, unless the scan follows at once.
pub(super) fn of(mut seen: Vec<Seen>) -> Option<u64> {
    seen.sort_unstable_by_key(|seen| seen.first.0);
    let usual = usual_pause(&seen);
    let limit = |pause| limit(usual, pause);
    let failed = seen.iter().filter(|seen| is_failure(seen)).count();
    let mut start = after_pause(&seen, failed, limit(PAUSE));
    let leading = seen.get(start..)?.iter().position(is_failure)?;
    for index in (start..start + leading).rev() {
        if pause(&seen, index + 1) > limit(PAUSE_AFTER_IDLE) {
            start = index + 1;
            break;
        }
    }
    let first = seen.get(start)?;
    (start > 0).then_some(first.first.0)
}

/// A pause after which it goes on with something else.
fn limit(usual: u64, (times, least): (u64, u64)) -> u64 {
    usual.saturating_mul(times).max(least)
}

/// Such a pause between probes and accepted connections, by the usual one.
pub(super) fn limit_idle(usual: u64) -> u64 {
    limit(usual, PAUSE_AFTER_IDLE)
}

/// The place after the last long pause with nine of ten failures after it.
fn after_pause(seen: &[Seen], failed: usize, limit: u64) -> usize {
    let mut after = 0;
    for index in (1..seen.len()).rev() {
        after += usize::from(seen.get(index).is_some_and(is_failure));
        if after * 10 >= failed * 9 && pause(seen, index) > limit {
            return index;
        }
    }
    0
}

const fn is_failure(seen: &Seen) -> bool {
    matches!(
        seen.outcome,
        Outcome::Filtered | Outcome::Closed | Outcome::HalfOpen
    )
}

/// Time from the one before to this.
fn pause(seen: &[Seen], index: usize) -> u64 {
    let time = |index: usize| seen.get(index).map_or(0, |seen| seen.first.1.0);
    time(index).saturating_sub(time(index.saturating_sub(1)))
}

/// The median of the pauses between failures.
fn usual_pause(seen: &[Seen]) -> u64 {
    let failures = seen.iter().filter(|seen| is_failure(seen));
    let times: Vec<_> = failures.map(|seen| seen.first.1.0).collect();
    let mut pauses: Vec<_> = times
        .windows(2)
        .map(|pair| match pair {
            [before, after] => after.saturating_sub(*before),
            _ => 0,
        })
        .collect();
    let middle = pauses.len() / 2;
    if pauses.is_empty() {
        return 0;
    }
    *pauses.select_nth_unstable(middle).1
}

#[cfg(test)]
mod tests {
    use super::of;
    use crate::merger::targets::{Outcome, Seen};
    use flowpin_packet::Timestamp;

    const SEC: u64 = 1_000_000_000;

    fn seen(number: u64, time: u64, outcome: Outcome) -> Seen {
        Seen {
            outcome,
            attempts: 1,
            last: 0,
            first: (number, Timestamp(time)),
        }
    }

    /// 100 ports, `step` apart, from packet 100 and `start` on.
    fn scan(start: u64, step: u64) -> Vec<Seen> {
        let closed = |nth| seen(100 + nth, start + nth * step, Outcome::Closed);
        (0..100).map(closed).collect()
    }

    #[test]
    fn what_came_long_before_is_not_of_the_scan() {
        for step in [1000, SEC / 100, 60 * SEC] {
            let start = 100_000 * SEC;
            let mut all = scan(start, step);
            assert_eq!(of(all.clone()), None);
            all.push(seen(1, start - 5000 * SEC, Outcome::Closed));
            all.push(seen(2, start - 4000 * SEC, Outcome::Idle));
            assert_eq!(of(all), Some(100), "{step}");
        }
    }

    /// An open port asked at once, or amid the others, is of the scan; one asked a while before
    /// is not.
    #[test]
    fn accepted_connections_are_of_the_scan_if_it_follows_at_once() {
        let mut all = scan(100 * SEC, SEC / 100);
        all.push(seen(99, 100 * SEC - SEC / 100, Outcome::Idle));
        assert_eq!(of(all.clone()), None);
        all.push(seen(98, 100 * SEC - SEC / 2, Outcome::Idle));
        assert_eq!(of(all), Some(99));
        let half = SEC / 2;
        let mut fast = scan(100 * SEC, 1000);
        fast.push(seen(150, 100 * SEC + 50_500, Outcome::Idle));
        fast.push(seen(99, 100 * SEC - half, Outcome::Idle));
        assert_eq!(of(fast), Some(100));
    }

    /// Of a scan in two parts none is left out.
    #[test]
    fn a_scan_that_pauses_is_one_scan() {
        let mut all = scan(100 * SEC, SEC / 100);
        all.extend((0..60).map(|nth| seen(nth, 10 * SEC + nth * SEC / 100, Outcome::Filtered)));
        assert_eq!(of(all), None);
    }
}
