//! Searches over streams: segment by segment, keeping earlier bytes while they may be needed.

use super::progress::{Likely, Order, Progress, Side};
use super::{Memory, Search, Whose, likely, side_of, sure};
use crate::Look;
use crate::identifier::Compiled;
use crate::kept::{Blocks, STREAM_BYTES_MAX};
use crate::verdict::{GaveUp, Step};
use flowpin_pattern::{Fed, State};

impl Memory {
    /// Examines the first segment, in place if it decides.
    pub(super) fn first_segment(
        &mut self,
        compiled: &Compiled,
        search: &mut Search,
        whose: Whose<'_>,
        bytes: &[u8],
    ) -> Step {
        let own = side_of(whose.to_server);
        // PERF: most searches end here, without a `Progress`.
        let (mut side, mut likely) = (Side::NEW, Likely::default());
        side.start = whose.offset;
        let all = bytes.get(..STREAM_BYTES_MAX).unwrap_or(bytes);
        let seen = Seen {
            all,
            fresh: all,
            other: &[],
            other_is_over: whose.again.is_some(),
        };
        let ended = all.len() >= STREAM_BYTES_MAX;
        let step = advance(compiled, &mut side, &mut likely, whose, &seen, ended);
        side.asked = low(all.len());
        if step != Step::Undecided {
            return step;
        }
        side.cut = bytes.len() > all.len();
        let shard = whose.shard.0;
        self.make_room(whose, None);
        if self.blocks.append(&mut side.kept, shard, all).is_none() {
            return Step::GaveUp(GaveUp::Memory);
        }
        let mut kept = side.kept;
        let mut progress = Progress::new(whose);
        progress.turn = own;
        progress.order = Order::begun_by(own);
        progress.likely = likely;
        *progress.side(own) = side;
        let step = self.begin(search, &progress);
        if step != Step::Undecided {
            self.blocks.free(&mut kept, shard);
        }
        step
    }

    pub(super) fn next_segment(
        &mut self,
        compiled: &Compiled,
        handle: u32,
        whose: Whose<'_>,
        bytes: &[u8],
    ) -> Step {
        let own = side_of(whose.to_server);
        self.make_room(whose, Some(handle));
        let Self { slab, blocks, .. } = self;
        let Some(progress) = slab.get_mut(handle) else {
            return Step::GaveUp(GaveUp::Memory);
        };
        if progress.turn != own {
            // The other direction's turn has ended.
            let step = turn_over(blocks, compiled, progress, whose);
            progress.turn = own;
            let kept = progress.sides.iter().map(|side| side.kept.len());
            progress.order.turn_over(kept.sum());
            if step != Step::Undecided {
                return step;
            }
        }
        let (side, other, likely) = progress.both(own);
        if side.kept.len() == 0 {
            side.start = whose.offset;
        }
        if side.over && goes_on_in_vain(side, whose, bytes.len()) {
            return Step::GaveUp(GaveUp::NothingFits);
        }
        if side.over {
            // The bytes cannot decide anything, but a parser may need them.
            return match blocks.append(&mut side.kept, whose.shard.0, bytes) {
                Some(taken) => {
                    side.cut |= taken < bytes.len();
                    Step::Undecided
                }
                None => Step::GaveUp(GaveUp::Memory),
            };
        }
        let was = side.kept.len();
        let Some(taken) = blocks.append(&mut side.kept, whose.shard.0, bytes) else {
            return Step::GaveUp(GaveUp::Memory);
        };
        let seen = Seen {
            all: blocks.bytes(side.kept),
            fresh: bytes.get(..taken).unwrap_or(bytes),
            other: blocks.bytes(other.kept),
            other_is_over: other.over || whose.again.is_some(),
        };
        let now = was.saturating_add(taken);
        let ended = now >= STREAM_BYTES_MAX;
        if !ended && now < worth_asking(side.asked) {
            return feed(compiled, side, whose, seen.fresh);
        }
        side.asked = low(now);
        let step = advance(compiled, side, likely, whose, &seen, ended);
        side.cut |= step == Step::Undecided && taken < bytes.len();
        step
    }

    pub(super) fn end_side(&mut self, compiled: &Compiled, handle: u32, whose: Whose<'_>) -> Step {
        let Self { slab, blocks, .. } = self;
        let Some(progress) = slab.get_mut(handle) else {
            return Step::Undecided;
        };
        let (side, other, likely) = progress.both(side_of(whose.to_server));
        let seen = Seen {
            all: blocks.bytes(side.kept),
            fresh: &[],
            other: blocks.bytes(other.kept),
            other_is_over: other.over,
        };
        let mut step = catch_up(compiled, side, likely, whose, &seen);
        if step == Step::Undecided && !side.over {
            step = advance(compiled, side, likely, whose, &seen, true);
        }
        side.over = true;
        step
    }
}

/// Whether a direction that cannot decide anything has sent too much to wait any longer for the
/// other one. Counted in bytes of the stream, independent of segmentation.
fn goes_on_in_vain(side: &Side, whose: Whose<'_>, len: usize) -> bool {
    let end = whose
        .offset
        .saturating_add(u64::try_from(len).unwrap_or(u64::MAX));
    let waited = match whose.again {
        None => WAITED_BYTES,
        // A verdict is unlikely here: wait no longer than bytes are kept.
        Some(_) => KEPT_BYTES,
    };
    end.saturating_sub(side.start) > waited
}

const KEPT_BYTES: u64 = STREAM_BYTES_MAX as u64;

/// Bytes that one direction may send while the search waits for the other one.
// PERF: most connections without a known protocol are decided within eight packets.
const WAITED_BYTES: u64 = 8 << 10;

/// The number of bytes at which the checks run again after they ran at `asked` bytes: an eighth
/// more, so that bytes that arrive one by one are not all examined again for each. The next turn
/// and the end of the stream catch up, as if the bytes had arrived in fewer segments.
fn worth_asking(asked: u16) -> usize {
    let asked = usize::from(asked);
    asked.saturating_add(asked >> 3)
}

/// Runs the checks on the last bytes, if they have not run on them.
fn catch_up(
    compiled: &Compiled,
    side: &mut Side,
    before: &mut Likely,
    whose: Whose<'_>,
    seen: &Seen<'_>,
) -> Step {
    if side.over || !side.begun || usize::from(side.asked) >= seen.all.len() {
        return Step::Undecided;
    }
    side.asked = low(seen.all.len());
    advance(compiled, side, before, whose, seen, false)
}

pub(super) fn low(len: usize) -> u16 {
    u16::try_from(len).unwrap_or(u16::MAX)
}

/// Ends the turn of the other direction, and examines its bytes once more.
fn turn_over(
    blocks: &Blocks,
    compiled: &Compiled,
    progress: &mut Progress,
    whose: Whose<'_>,
) -> Step {
    let (side, reply, likely) = progress.both(side_of(!whose.to_server));
    let whose = Whose {
        to_server: !whose.to_server,
        ..whose
    };
    let seen = Seen {
        all: blocks.bytes(side.kept),
        fresh: &[],
        other: blocks.bytes(reply.kept),
        other_is_over: reply.over,
    };
    let step = catch_up(compiled, side, likely, whose, &seen);
    if step != Step::Undecided || side.over || !side.begun {
        return step;
    }
    let at_end = compiled.automaton.at_end(side.state);
    if let Some(rule) = at_end.and_then(|pattern| compiled.allowed_rule(pattern, whose)) {
        return sure(compiled, rule, whose.to_server);
    }
    // A match held back by a rule of better rank that never decided counts now; checks that may
    // match in a later turn stay alive.
    let mut alive = side.alive;
    let look = look(whose, seen.all, seen.other, true);
    let asked = compiled.candidates.ask(&mut alive, &look, true, false);
    match asked.yes {
        Some(rule) => sure(compiled, rule, whose.to_server),
        None => Step::Undecided,
    }
}

/// The bytes available for a decision.
pub(super) struct Seen<'a> {
    pub(super) all: &'a [u8],
    /// The part of `all` that is new.
    pub(super) fresh: &'a [u8],
    pub(super) other: &'a [u8],
    pub(super) other_is_over: bool,
}

/// Feeds new bytes of one direction to the patterns.
fn feed(compiled: &Compiled, side: &mut Side, whose: Whose<'_>, fresh: &[u8]) -> Step {
    if !side.begun {
        side.begun = true;
        side.state = compiled.automaton.start();
        side.alive = compiled.allowed_checks(whose);
    }
    match compiled.automaton.feed(&mut side.state, fresh) {
        Fed::Match(pattern, _) => match compiled.allowed_rule(pattern, whose) {
            Some(rule) => sure(compiled, rule, whose.to_server),
            None => {
                side.state = State::DEAD;
                Step::Undecided
            }
        },
        Fed::Dead | Fed::More => Step::Undecided,
    }
}

/// Runs patterns and checks on one direction; `ended`: no more of its bytes will be examined.
pub(super) fn advance(
    compiled: &Compiled,
    side: &mut Side,
    before: &mut Likely,
    whose: Whose<'_>,
    seen: &Seen<'_>,
    ended: bool,
) -> Step {
    let own = side_of(whose.to_server);
    let step = feed(compiled, side, whose, seen.fresh);
    if step != Step::Undecided {
        return step;
    }
    if ended {
        let at_end = compiled.automaton.at_end(side.state);
        if let Some(rule) = at_end.and_then(|pattern| compiled.allowed_rule(pattern, whose)) {
            return sure(compiled, rule, whose.to_server);
        }
        side.state = State::DEAD;
    }
    let look = look(whose, seen.all, seen.other, ended);
    let held = !side.state.is_dead();
    let candidates = &compiled.candidates;
    let asked = candidates.ask(&mut side.alive, &look, ended, held);
    side.over = ended || (side.alive.is_empty() && side.state.is_dead());
    if let Some(rule) = asked.yes {
        return sure(compiled, rule, whose.to_server);
    }
    if let Some(rule) = asked.likely {
        let mark = rule.0.saturating_add(1);
        if before.rule == mark && before.side != own {
            return likely(compiled, rule, whose.to_server);
        }
        if before.rule == 0 {
            *before = Likely {
                rule: mark,
                side: own,
            };
        }
    }
    if side.over && seen.other_is_over {
        return Step::GaveUp(GaveUp::NothingFits);
    }
    Step::Undecided
}

fn look<'a>(whose: Whose<'_>, bytes: &'a [u8], reply: &'a [u8], ended: bool) -> Look<'a> {
    Look {
        bytes,
        len: bytes.len(),
        reply,
        earlier: &[],
        ports: whose.ports,
        to_server: whose.to_server,
        on: whose.on,
        ended,
    }
}
