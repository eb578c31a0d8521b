//! Streams: segment by segment, with the bytes before kept as long as they may matter.

use super::progress::{Likely, Order, Progress, Side};
use super::{Memory, Search, Whose, likely, side_of, sure};
use crate::Look;
use crate::identifier::Compiled;
use crate::kept::{Blocks, STREAM_BYTES_MAX};
use crate::table::ProtocolId;
use crate::verdict::{GaveUp, Step};
use flowpin_pattern::{Fed, State};

impl Memory {
    /// The first segment: decided where it lies, if it can be.
    pub(super) fn first_segment(
        &mut self,
        compiled: &Compiled,
        search: &mut Search,
        whose: Whose,
        bytes: &[u8],
    ) -> Step {
        let own = side_of(whose.to_server);
        // PERF: most searches end here, so that no `Progress` is made.
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
        if self.blocks.append(&mut side.kept, shard, all).is_none() {
            return Step::GaveUp(GaveUp::Memory);
        }
        let mut kept = side.kept;
        let mut progress = Progress::new(whose.shard);
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
        whose: Whose,
        bytes: &[u8],
    ) -> Step {
        let own = side_of(whose.to_server);
        let Self { slab, blocks, .. } = self;
        let Some(progress) = slab.get_mut(handle) else {
            return Step::GaveUp(GaveUp::Memory);
        };
        if progress.turn != own {
            // The other direction's turn is over.
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
            // Nothing can be learnt from them; a parser may want them.
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

    /// As [`Searches::keep`](super::Searches::keep).
    pub(super) fn keep(&mut self, search: &mut Search, whose: Whose, bytes: &[u8]) -> bool {
        let own = side_of(whose.to_server);
        let shard = whose.shard.0;
        let has_room = self.has_room_for_later(shard);
        let Self { slab, blocks, .. } = self;
        if let Some(progress) = search.handle().and_then(|one| slab.get_mut(one)) {
            if progress.turn != own {
                progress.turn = own;
                let kept = progress.sides.iter().map(|side| side.kept.len());
                progress.order.turn_over(kept.sum());
            }
            let side = progress.side(own);
            if side.kept.len() == 0 {
                side.start = whose.offset;
            }
            let taken = blocks.append(&mut side.kept, shard, bytes);
            side.cut |= taken != Some(bytes.len());
            side.over = true;
            return taken.is_some();
        }
        if !has_room {
            return false;
        }
        let mut progress = Progress::new(whose.shard);
        progress.turn = own;
        progress.order = Order::begun_by(own);
        let side = progress.side(own);
        side.start = whose.offset;
        let taken = blocks.append(&mut side.kept, shard, bytes);
        side.cut = taken != Some(bytes.len());
        side.over = true;
        let mut kept = side.kept;
        let is_kept = taken.is_some() && self.begin(search, &progress) == Step::Undecided;
        if !is_kept {
            self.blocks.free(&mut kept, shard);
        }
        is_kept
    }

    /// As [`Searches::look_again`](super::Searches::look_again).
    pub(super) fn look_again(&mut self, compiled: &Compiled, handle: u32, whose: Whose) -> Step {
        let Self { slab, blocks, .. } = self;
        let Some(progress) = slab.get_mut(handle) else {
            return Step::Undecided;
        };
        let (side, other, likely) = progress.both(side_of(whose.to_server));
        let all = blocks.bytes(side.kept);
        (side.begun, side.over) = (false, false);
        let seen = Seen {
            all,
            fresh: all,
            other: blocks.bytes(other.kept),
            other_is_over: true,
        };
        side.asked = low(all.len());
        let ended = all.len() >= STREAM_BYTES_MAX;
        advance(compiled, side, likely, whose, &seen, ended)
    }

    /// As [`Searches::begins_at`](super::Searches::begins_at).
    pub(super) fn begins_at(
        &self,
        compiled: &Compiled,
        handle: u32,
        whose: Whose,
        is_it: impl Fn(ProtocolId) -> bool,
    ) -> Option<usize> {
        let progress = self.slab.get(handle)?;
        let [client, server] = &progress.sides;
        let (side, other) = if whose.to_server {
            (client, server)
        } else {
            (server, client)
        };
        let all = self.blocks.bytes(side.kept);
        let other = self.blocks.bytes(other.kept);
        let begins = |&at: &usize| {
            let all = all.get(at..).unwrap_or_default();
            let (mut side, mut likely) = (Side::NEW, Likely::default());
            let seen = Seen {
                all,
                fresh: all,
                other,
                other_is_over: true,
            };
            let step = advance(compiled, &mut side, &mut likely, whose, &seen, true);
            matches!(step, Step::Verdict(verdict) if is_it(verdict.protocol))
        };
        let lines = memchr::memchr_iter(b'\n', all).map(|at| at.saturating_add(1));
        let lines = core::iter::once(0).chain(lines).take(LINES_MAX);
        lines.chain(amid(all)).find(begins)
    }

    pub(super) fn end_side(&mut self, compiled: &Compiled, handle: u32, whose: Whose) -> Step {
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

/// Whether a direction that can tell nothing more has sent so much that the other one, which could,
/// is not waited for any longer. Bytes of the stream, so that segments do not matter.
fn goes_on_in_vain(side: &Side, whose: Whose, len: usize) -> bool {
    let end = whose
        .offset
        .saturating_add(u64::try_from(len).unwrap_or(u64::MAX));
    let waited = match whose.again {
        None => WAITED_BYTES,
        // What is kept is for a verdict that hardly ever comes.
        Some(_) => KEPT_BYTES,
    };
    end.saturating_sub(side.start) > waited
}

const KEPT_BYTES: u64 = STREAM_BYTES_MAX as u64;

/// So much one direction may send while the other one is waited for.
const WAITED_BYTES: u64 = 64 << 10;

/// From how many bytes on checks are asked again that were asked at so many: an eighth more, so
/// that bytes that come one by one are not all looked at for each. The next turn and the stream's
/// end catch up: as if the bytes had come in fewer segments.
fn worth_asking(asked: u16) -> usize {
    let asked = usize::from(asked);
    asked.saturating_add(asked >> 3)
}

/// Places where something may begin amid other bytes.
pub(super) fn amid(all: &[u8]) -> impl Iterator<Item = usize> {
    (1..all.len().min(AMID_MAX)).filter(|&at| !splits_word(all, at))
}

/// Whether letters stand on both sides of a place.
pub(super) fn splits_word(bytes: &[u8], at: usize) -> bool {
    let pair = at.checked_sub(1).and_then(|before| bytes.get(before..=at));
    pair.is_some_and(|pair| pair.iter().all(u8::is_ascii_alphanumeric))
}

/// So many lines are tried for the beginning of what comes behind others.
const LINES_MAX: usize = 256;

/// And so many bytes, each.
pub(super) const AMID_MAX: usize = 640;

/// Asks the checks that were not asked about the last bytes.
fn catch_up(
    compiled: &Compiled,
    side: &mut Side,
    before: &mut Likely,
    whose: Whose,
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

/// The other direction begins to speak: what its turn came to.
fn turn_over(blocks: &Blocks, compiled: &Compiled, progress: &mut Progress, whose: Whose) -> Step {
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
    if let Some(rule) = at_end.and_then(|pattern| compiled.told(pattern, whose)) {
        return sure(compiled, rule, whose.to_server);
    }
    // What was held back by a better rank that never decided is good enough now; what may
    // still grow in a later turn stays alive.
    let mut alive = side.alive;
    let look = look(whose, seen.all, seen.other, true);
    let asked = compiled.candidates.ask(&mut alive, &look, true, false);
    match asked.yes {
        Some(rule) => sure(compiled, rule, whose.to_server),
        None => Step::Undecided,
    }
}

/// What a direction has shown.
pub(super) struct Seen<'a> {
    pub(super) all: &'a [u8],
    /// The part of `all` that is new.
    pub(super) fresh: &'a [u8],
    pub(super) other: &'a [u8],
    pub(super) other_is_over: bool,
}

/// Shows new bytes of one direction to the patterns.
fn feed(compiled: &Compiled, side: &mut Side, whose: Whose, fresh: &[u8]) -> Step {
    if !side.begun {
        side.begun = true;
        side.state = compiled.automaton.start();
        side.alive = compiled.askable(whose);
    }
    match compiled.automaton.feed(&mut side.state, fresh) {
        Fed::Match(pattern, _) => match compiled.told(pattern, whose) {
            Some(rule) => sure(compiled, rule, whose.to_server),
            None => {
                side.state = State::DEAD;
                Step::Undecided
            }
        },
        Fed::Dead | Fed::More => Step::Undecided,
    }
}

/// Goes on in one direction; `ended`: no more bytes of it will be looked at.
pub(super) fn advance(
    compiled: &Compiled,
    side: &mut Side,
    before: &mut Likely,
    whose: Whose,
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
        if let Some(rule) = at_end.and_then(|pattern| compiled.told(pattern, whose)) {
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

fn look<'a>(whose: Whose, bytes: &'a [u8], reply: &'a [u8], ended: bool) -> Look<'a> {
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
