//! Stream time: the running maximum of capture times, robust against clocks that leap.
//!
//! ```text
//!  a packet's time        │ what stream time does
//!  ───────────────────────┼──────────────────────────────────────────────────────────────
//!  earlier than now       │ stays (counted); 64 in a row that agree with each other and are
//!                         │ all more than the limit behind: continues from here at their pace
//!  up to the limit ahead  │ follows
//!  further ahead          │ moves if the next packet is that far ahead too, to the earlier of
//!                         │ the two; else stays for this packet (counted)
//! ```
//!
//! So one packet with a broken time, or every second one from a broken clock, neither ends all
//! connections nor freezes time for the rest of the capture. A real gap (a quiet link, two captures
//! joined) is believed at once, as the packet after it is looked at: the first packet behind it
//! must not be taken for one of a connection that ended long before. The last packet of all is
//! believed.
//!
//! Stream time never goes back: records are ordered by it. When a capture continues in the past
//! (files joined in the wrong order), stream time continues at the pace of the new times from where
//! it was, so time-outs keep their meaning.
//!
//! Deterministic: depends on the times and their order only.

use flowpin_packet::Timestamp;

/// Packets in a row, far in the past and in agreement, after which the past is believed.
const RETURN_COUNT: u32 = 64;

/// The latest stream time, the year 2262: deadlines after it must still have a time.
const LATEST: Timestamp = Timestamp(1 << 63);

/// Irregularities of time, for the capture-quality report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockStats {
    /// Packets with a time before the stream's.
    pub backwards: u64,
    /// The largest of those differences.
    pub backwards_max_ns: u64,
    /// Leaps too far ahead, which stream time did not follow at once. One for all packets in whose
    /// times it shows, however many and whatever comes between them.
    pub leaps_clamped: u64,
    /// Times that stream time followed such a leap.
    pub leaps_followed: u64,
    /// The greatest leap ahead.
    pub leap_max_ns: u64,
    /// Times that the capture continued in the past.
    pub returns: u64,
}

/// The times of some packets in a row, as far as they matter for the clock of who comes behind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimesSeen {
    /// The first, the least and the greatest; none without a packet.
    pub span: Option<(Timestamp, Timestamp, Timestamp)>,
    /// The greatest step behind the greatest time before, and ahead of it.
    pub behind_max_ns: u64,
    /// Likewise.
    pub ahead_max_ns: u64,
}

impl TimesSeen {
    /// One more.
    pub fn add(&mut self, time: Timestamp) {
        let Some((_, least, greatest)) = &mut self.span else {
            self.span = Some((time, time, time));
            return;
        };
        self.behind_max_ns = self.behind_max_ns.max(greatest.nanos_since(time));
        self.ahead_max_ns = self.ahead_max_ns.max(time.nanos_since(*greatest));
        (*least, *greatest) = ((*least).min(time), (*greatest).max(time));
    }

    const fn is_regular(&self, leap_max_ns: u64) -> bool {
        self.behind_max_ns <= leap_max_ns && self.ahead_max_ns <= leap_max_ns
    }
}

/// Stream time.
///
/// ```
/// use flowpin_dispatch::Clock;
/// use flowpin_packet::Timestamp;
/// let mut clock = Clock::new(3_600_000_000_000);
/// assert_eq!(clock.observe(Timestamp::new(100, 0)), Timestamp::new(100, 0));
/// assert_eq!(clock.observe(Timestamp::new(99, 0)), Timestamp::new(100, 0));
/// assert_eq!(clock.observe(Timestamp::new(101, 0)), Timestamp::new(101, 0));
/// assert_eq!(clock.stats().backwards, 1);
/// ```
#[derive(Clone, Debug)]
pub struct Clock {
    now: Timestamp,
    first: Timestamp,
    /// Added to capture times: above 0 once the capture has continued in the past.
    shift_ns: u64,
    leap_max_ns: u64,
    started: bool,
    /// A step of this length or more takes the slow path. 0, and so every step, for the first
    /// packet, for one after an irregular step, and once capture times are shifted.
    step_end_ns: u64,
    /// The time of the last packet of the last leap that was counted.
    leapt_to: Option<Timestamp>,
    /// How many packets in a row were too far behind, and the last one's time.
    behind: (u32, Timestamp),
    /// Somebody else has the clock, and tells the time of each packet.
    is_told: bool,
    stats: ClockStats,
}

/// A clock on its way to another process, which goes on with it. The irregularities that it has
/// counted stay behind.
pub type ClockWords = [u64; 9];

impl Clock {
    /// A clock that takes its time from the first packet.
    pub const fn new(leap_max_ns: u64) -> Self {
        Self {
            now: Timestamp(0),
            first: Timestamp(0),
            shift_ns: 0,
            leap_max_ns,
            started: false,
            step_end_ns: 0,
            leapt_to: None,
            behind: (0, Timestamp(0)),
            is_told: false,
            stats: ClockStats {
                backwards: 0,
                backwards_max_ns: 0,
                leaps_clamped: 0,
                leaps_followed: 0,
                leap_max_ns: 0,
                returns: 0,
            },
        }
    }

    /// A clock that has no opinion of its own: [`Clock::pass`] tells the time of each packet before
    /// it is observed.
    pub const fn told() -> Self {
        let mut clock = Self::new(0);
        clock.is_told = true;
        clock
    }

    /// As it goes on in another process.
    pub fn words(&self) -> ClockWords {
        [
            u64::from(self.started),
            self.now.0,
            self.first.0,
            self.shift_ns,
            self.step_end_ns,
            u64::from(self.leapt_to.is_some()),
            self.leapt_to.unwrap_or_default().0,
            u64::from(self.behind.0),
            self.behind.1.0,
        ]
    }

    /// The clock that has come so far in another process.
    pub fn of_words(leap_max_ns: u64, words: ClockWords) -> Self {
        let [
            started,
            now,
            first,
            shift_ns,
            step_end_ns,
            has_leapt,
            leapt_to,
            count,
            behind,
        ] = words;
        let mut clock = Self::new(leap_max_ns);
        clock.started = started != 0;
        (clock.now, clock.first) = (Timestamp(now), Timestamp(first));
        (clock.shift_ns, clock.step_end_ns) = (shift_ns, step_end_ns);
        clock.leapt_to = (has_leapt != 0).then_some(Timestamp(leapt_to));
        clock.behind = (u32::try_from(count).unwrap_or(u32::MAX), Timestamp(behind));
        clock
    }

    /// Goes on over packets that somebody else has seen, if their times are so regular that what
    /// the clock says of them does not depend on what came before. False: they have to be observed
    /// one by one.
    pub fn pass_over(&mut self, times: &TimesSeen) -> bool {
        let Some((first, least, greatest)) = times.span else {
            return true;
        };
        let is_plain =
            self.shift_ns == 0 && self.behind.0 == 0 && times.is_regular(self.leap_max_ns);
        let fits = !self.started
            || self.now.nanos_since(least) <= self.leap_max_ns
                && first.nanos_since(self.now) <= self.leap_max_ns;
        if !is_plain || !fits || greatest > LATEST {
            return false;
        }
        if !self.started {
            (self.started, self.first) = (true, first);
        }
        self.now = self.now.max(greatest);
        self.step_end_ns = self.leap_max_ns.saturating_add(1);
        true
    }

    /// Takes the capture time of the last packet there is, and returns the stream time at it.
    pub fn observe(&mut self, time: Timestamp) -> Timestamp {
        self.observe_before(time, || None)
    }

    /// Takes a packet's capture time and returns the stream time at this packet. `next` tells the
    /// capture time of the packet after it, if there is one; it is asked only if this one leaps.
    #[inline]
    pub fn observe_before(
        &mut self,
        time: Timestamp,
        next: impl FnOnce() -> Option<Timestamp>,
    ) -> Timestamp {
        let step = time.0.wrapping_sub(self.now.0);
        if step >= self.step_end_ns {
            return self.observe_slow(time, next);
        }
        self.now = time;
        time
    }

    /// Takes note that no packet came up to this time, as a live capture knows. Says nothing before
    /// the first packet, nor where packets themselves would not be believed.
    pub fn pass(&mut self, time: Timestamp) {
        if self.is_told {
            if !self.started {
                (self.started, self.first) = (true, time);
            }
            self.now = time;
            return;
        }
        let is_near = time > self.now && time.nanos_since(self.now) <= self.leap_max_ns;
        if self.started && self.shift_ns == 0 && is_near {
            self.now = time;
        }
    }

    /// Stream time now.
    #[inline]
    pub const fn now(&self) -> Timestamp {
        self.now
    }

    /// Stream time at the first packet; none before it.
    pub fn first(&self) -> Option<Timestamp> {
        self.started.then_some(self.first)
    }

    /// The counts so far.
    pub const fn stats(&self) -> ClockStats {
        self.stats
    }

    /// The slow path: a step that is not small and forward, or the first one after such a step.
    #[cold]
    #[inline(never)]
    fn observe_slow(
        &mut self,
        time: Timestamp,
        next: impl FnOnce() -> Option<Timestamp>,
    ) -> Timestamp {
        if self.is_told {
            return self.now;
        }
        let time = self.shifted(time);
        let (behind_before, behind_time) = core::mem::take(&mut self.behind);
        if !self.started {
            self.started = true;
            self.first = time;
            self.now = time;
        } else if time < self.now {
            let behind_ns = self.now.nanos_since(time);
            self.stats.backwards += 1;
            self.stats.backwards_max_ns = self.stats.backwards_max_ns.max(behind_ns);
            if behind_ns > self.leap_max_ns {
                self.fall_behind(time, behind_before, behind_time);
            }
        } else if time.nanos_since(self.now) <= self.leap_max_ns {
            self.now = time;
        } else {
            let leap_ns = time.nanos_since(self.now);
            self.stats.leap_max_ns = self.stats.leap_max_ns.max(leap_ns);
            let next = next().map(|next| self.shifted(next));
            match next {
                Some(next) if !self.is_far_ahead(next) => self.clamp(time),
                next => self.follow(time, next.unwrap_or(time)),
            }
        }
        let watchful = self.behind.0 > 0 || self.shift_ns > 0;
        self.step_end_ns = if watchful {
            0
        } else {
            self.leap_max_ns.saturating_add(1)
        };
        self.now
    }

    /// Two packets in a row are far ahead: the earlier one is believed.
    fn follow(&mut self, time: Timestamp, next: Timestamp) {
        self.stats.leaps_followed += 1;
        self.now = time.min(next);
        if self.is_far_ahead(time) {
            self.clamp(time);
        } else {
            self.now = time;
            // A return to the time before it is a leap of its own.
            self.leapt_to = None;
        }
    }

    /// By the clock of this stream.
    fn shifted(&self, time: Timestamp) -> Timestamp {
        time.plus_nanos(self.shift_ns).min(LATEST)
    }

    fn is_far_ahead(&self, time: Timestamp) -> bool {
        time > self.now && time.nanos_since(self.now) > self.leap_max_ns
    }

    /// Time stays for a packet that is too far ahead. It is the same leap as long as such packets
    /// agree with each other, although packets of the present may come between them.
    fn clamp(&mut self, time: Timestamp) {
        let leap_max_ns = self.leap_max_ns;
        let is_known = |to: Timestamp| time.0.abs_diff(to.0) <= leap_max_ns;
        self.stats.leaps_clamped += u64::from(!self.leapt_to.is_some_and(is_known));
        self.leapt_to = Some(time);
    }

    /// One more packet in a row is far behind.
    fn fall_behind(&mut self, time: Timestamp, count: u32, last: Timestamp) {
        let agrees = count == 0 || time.0.abs_diff(last.0) <= self.leap_max_ns;
        self.behind = (if agrees { count + 1 } else { 1 }, time);
        if self.behind.0 >= RETURN_COUNT {
            // From here on, this packet's time is now.
            self.shift_ns = self.shift_ns.saturating_add(self.now.nanos_since(time));
            self.behind = (0, Timestamp(0));
            self.stats.returns += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Clock, TimesSeen};
    use flowpin_packet::Timestamp;
    use proptest::prelude::*;

    const HOUR: u64 = 3_600_000_000_000;
    const DAY: u64 = 24 * HOUR;

    fn observe(clock: &mut Clock, ns: u64) -> u64 {
        clock.observe(Timestamp(ns)).0
    }

    /// Stream time at each of a capture's packets, and the clock at its end.
    fn run(times: &[u64]) -> (Vec<u64>, Clock) {
        let mut clock = Clock::new(HOUR);
        let next = times.iter().skip(1).map(|&time| Some(Timestamp(time)));
        let next = next.chain([None]);
        let nows = (times.iter().zip(next))
            .map(|(&time, next)| clock.observe_before(Timestamp(time), || next).0);
        (nows.collect(), clock)
    }

    /// The first packet sets the time, however far from 0 it is; the last one is believed.
    #[test]
    fn the_first_packet_sets_the_time() {
        assert_eq!(run(&[500 * DAY]).0, [500 * DAY]);
        let (nows, clock) = run(&[5, 500 * DAY]);
        assert_eq!(nows, [5, 500 * DAY]);
        assert_eq!(clock.stats().leaps_clamped, 0);
    }

    /// A capture may claim times up to the year 2554. What falls due after them must still have a
    /// time of its own, or everything would fall due at once.
    #[test]
    fn stream_time_stays_clear_of_the_end_of_time() {
        let mut times = vec![u64::MAX; 4];
        times.push(DAY);
        times.extend([u64::MAX - 5; 200]);
        assert!(run(&times).0.iter().all(|&now| now <= 1 << 63));
    }

    /// One packet with a broken time must not end connections, nor stop time after it.
    #[test]
    fn one_bad_packet_leaves_time_alone() {
        let (nows, clock) = run(&[DAY, 900 * DAY, DAY + 7]);
        assert_eq!(nows, [DAY, DAY, DAY + 7]);
        assert_eq!(clock.stats().leaps_clamped, 1);
        assert_eq!(clock.stats().leaps_followed, 0);
        assert_eq!(clock.stats().leap_max_ns, 899 * DAY);
    }

    /// Every second packet from a clock that is a day ahead: stream time follows the others.
    #[test]
    fn a_second_clock_that_is_wrong_is_not_followed() {
        let times: Vec<_> = (0..1000)
            .flat_map(|i| [10 * DAY + i, 11 * DAY + i])
            .collect();
        let (nows, clock) = run(&[times, vec![10 * DAY + 1000]].concat());
        assert!(nows.iter().all(|&now| now <= 10 * DAY + 1000));
        assert_eq!(clock.stats().leaps_clamped, 1, "it leapt once");
    }

    /// A real gap is believed at its first packet, which belongs to none of the connections before.
    #[test]
    fn a_gap_is_followed_at_its_first_packet() {
        let times = [DAY, 3 * DAY, 3 * DAY + 1, 5 * DAY];
        let (nows, clock) = run(&times);
        assert_eq!(nows, times);
        let stats = clock.stats();
        assert_eq!((stats.leaps_clamped, stats.leaps_followed), (0, 2));
    }

    /// Of two packets that leap, the earlier one is believed, in either order.
    #[test]
    fn the_earlier_of_two_leaps_is_believed() {
        assert_eq!(
            run(&[0, 9 * DAY, 3 * DAY, 3 * DAY + 1]).0[1..3],
            [3 * DAY; 2]
        );
        assert_eq!(
            run(&[0, 3 * DAY, 9 * DAY, 3 * DAY + 1]).0[1..3],
            [3 * DAY; 2]
        );
    }

    /// Stragglers from before a gap do not make two gaps of it; another gap is another leap.
    #[test]
    fn a_leap_is_counted_once() {
        let leaps = |times: &[u64]| run(times).1.stats().leaps_clamped;
        assert_eq!(leaps(&[DAY, 3 * DAY, DAY + 1, 3 * DAY + 2, 3 * DAY + 3]), 1);
        assert_eq!(leaps(&[DAY, 3 * DAY, DAY - 1, 3 * DAY + 2, 3 * DAY + 3]), 1);
        assert_eq!(leaps(&[DAY, 3 * DAY, DAY + 1, 9 * DAY, DAY + 2]), 2);
        assert_eq!(
            leaps(&[DAY, 10 * DAY, DAY + 1, 3 * DAY, DAY + 2, 10 * DAY, DAY + 3]),
            3
        );
    }

    /// One packet a day: time is each packet's own.
    #[test]
    fn packets_further_apart_than_the_limit_move_time() {
        let times: Vec<_> = (1..50).map(|day| day * DAY).collect();
        assert_eq!(run(&times).0, times);
    }

    /// Silence moves time as a packet would, and no irregularity is counted for it.
    #[test]
    fn silence_moves_time() {
        let mut clock = Clock::new(HOUR);
        clock.pass(Timestamp(9 * DAY));
        assert_eq!(clock.first(), None);
        observe(&mut clock, DAY);
        clock.pass(Timestamp(DAY + 5));
        clock.pass(Timestamp(DAY + 2));
        clock.pass(Timestamp(3 * DAY));
        assert_eq!(clock.now(), Timestamp(DAY + 5));
        assert_eq!(observe(&mut clock, DAY + 7), DAY + 7);
        assert_eq!(clock.stats(), Default::default());
    }

    /// Files joined in the wrong order: time goes on from where it was, at the new pace.
    #[test]
    fn a_capture_that_continues_in_the_past_keeps_time_running() {
        let mut clock = Clock::new(HOUR);
        observe(&mut clock, 10 * DAY);
        for i in 0..64 {
            assert_eq!(observe(&mut clock, DAY + i), 10 * DAY);
        }
        assert_eq!(observe(&mut clock, DAY + 63 + 1000), 10 * DAY + 1000);
        assert_eq!(clock.stats().returns, 1);
        assert_eq!(clock.stats().backwards, 64);
    }

    proptest! {
        /// Records are ordered by stream time, so it must never go back; and within the limit it
        /// is exactly the running maximum.
        #[test]
        fn stream_time_never_goes_back(
            steps in prop::collection::vec(
                prop_oneof![0u64..1000, 0u64..HOUR, 0u64..100 * DAY, any::<u64>()], 1..300),
        ) {
            prop_assert!(run(&steps).0.is_sorted());
            let mut clock = Clock::new(HOUR);
            let mut most = 0;
            for time in steps.iter().map(|step| step % HOUR) {
                most = most.max(time);
                prop_assert_eq!(observe(&mut clock, time), most);
            }
        }
    }

    proptest! {
        /// Cut anywhere and handed on, or passed over where that is allowed, it says the same.
        #[test]
        fn a_clock_goes_on_elsewhere(
            steps in prop::collection::vec((0u64..8, 0u64..2 * HOUR), 1..120),
            cuts in prop::collection::vec(0usize..120, 0..6),
        ) {
            let mut time = 400 * DAY;
            let times: Vec<_> = steps.iter().map(|&(kind, ns)| {
                time = match kind {
                    0 => time.saturating_sub(ns),
                    1 => time + 3 * ns,
                    _ => time + ns / 1000,
                };
                time
            }).collect();
            let (nows, whole) = run(&times);
            let mut cuts: Vec<_> = cuts.iter().map(|cut| cut % times.len()).collect();
            cuts.extend([0, times.len()]);
            cuts.sort_unstable();
            let mut words = Clock::new(HOUR).words();
            for cut in cuts.windows(2) {
                let mut seen = TimesSeen::default();
                times[cut[0]..cut[1]].iter().for_each(|&time| seen.add(Timestamp(time)));
                let mut over = Clock::of_words(HOUR, words);
                let is_over = over.pass_over(&seen);
                let mut clock = Clock::of_words(HOUR, words);
                for at in cut[0]..cut[1] {
                    let next = times.get(at + 1).map(|&time| Timestamp(time));
                    let now = clock.observe_before(Timestamp(times[at]), || next);
                    prop_assert_eq!(now.0, nows[at]);
                }
                let at_end = |clock: &Clock| (clock.now(), clock.first());
                prop_assert!(!is_over || at_end(&over) == at_end(&clock));
                words = if is_over { over.words() } else { clock.words() };
            }
            let end = Clock::of_words(HOUR, words);
            prop_assert_eq!((end.now(), end.first()), (whole.now(), whole.first()));
        }
    }

    /// A clock that is told says what it is told.
    #[test]
    fn a_told_clock_repeats() {
        let mut clock = Clock::told();
        for now in [5 * DAY, 5 * DAY, 900 * DAY, 900 * DAY + 1] {
            clock.pass(Timestamp(now));
            assert_eq!(observe(&mut clock, DAY), now);
            assert_eq!(clock.now().0, now);
        }
        assert_eq!(clock.first(), Some(Timestamp(5 * DAY)));
    }
}
