//! Streams: segment by segment, with the bytes before kept as long as they may matter.

use super::progress::{Order, Progress};
use super::{Memory, Search, Whose, likely, side_of, sure};
use crate::Look;
use crate::identifier::{Compiled, ask};
use crate::kept::{Kept, STREAM_BYTES_MAX};
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
        let mut progress = Progress::new(whose.shard);
        progress.turn = own;
        progress.order = Order::begun_by(own);
        progress.side(own).start = whose.offset;
        let all = bytes.get(..STREAM_BYTES_MAX).unwrap_or(bytes);
        let seen = Seen {
            all,
            fresh: all,
            other: &[],
        };
        let ended = all.len() >= STREAM_BYTES_MAX;
        let step = advance(compiled, &mut progress, whose, &seen, ended);
        if step != Step::Undecided {
            return step;
        }
        let mut kept = Kept::default();
        if self.blocks.append(&mut kept, progress.shard, all).is_none() {
            return Step::GaveUp(GaveUp::Memory);
        }
        progress.side(own).kept = kept;
        let step = self.begin(search, progress);
        if step != Step::Undecided {
            self.blocks.free(&mut kept, progress.shard);
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
        let Some(mut progress) = self.slab.get(handle).copied() else {
            return Step::GaveUp(GaveUp::Memory);
        };
        if progress.turn != own {
            // The other direction's turn is over.
            let step = self.turn_over(compiled, &mut progress, whose);
            progress.turn = own;
            let kept = progress.sides.iter().map(|side| side.kept.len());
            progress.order.turn_over(kept.sum());
            if step != Step::Undecided {
                self.store(handle, progress);
                return step;
            }
        }
        let mut step = Step::Undecided;
        let side = progress.side(own);
        if side.kept.len() == 0 {
            side.start = whose.offset;
        }
        if side.over {
            // Nothing can be learnt from them; a parser may want them.
            self.blocks.append(&mut side.kept, whose.shard.0, bytes);
        } else {
            let mut kept = side.kept;
            let was = self.blocks.bytes(kept).len();
            step = match self.blocks.append(&mut kept, progress.shard, bytes) {
                None => Step::GaveUp(GaveUp::Memory),
                Some(taken) => {
                    progress.side(own).kept = kept;
                    let fresh = bytes.get(..taken).unwrap_or(bytes);
                    let all = self.blocks.bytes(kept);
                    let other = self.blocks.bytes(progress.side(own ^ 1).kept);
                    let ended = was.saturating_add(taken) >= STREAM_BYTES_MAX;
                    let seen = Seen { all, fresh, other };
                    advance(compiled, &mut progress, whose, &seen, ended)
                }
            };
        }
        self.store(handle, progress);
        step
    }

    pub(super) fn end_side(&mut self, compiled: &Compiled, handle: u32, whose: Whose) -> Step {
        let Some(mut progress) = self.slab.get(handle).copied() else {
            return Step::Undecided;
        };
        let own = side_of(whose.to_server);
        let all = self.blocks.bytes(progress.side(own).kept);
        let other = self.blocks.bytes(progress.side(own ^ 1).kept);
        let seen = Seen {
            all,
            fresh: &[],
            other,
        };
        let step = if progress.side(own).over {
            Step::Undecided
        } else {
            advance(compiled, &mut progress, whose, &seen, true)
        };
        progress.side(own).over = true;
        self.store(handle, progress);
        step
    }

    fn turn_over(&self, compiled: &Compiled, progress: &mut Progress, whose: Whose) -> Step {
        let other = side_of(whose.to_server) ^ 1;
        if progress.side(other).over || !progress.side(other).begun {
            return Step::Undecided;
        }
        let whose = Whose {
            to_server: !whose.to_server,
            ..whose
        };
        let all = self.blocks.bytes(progress.side(other).kept);
        let reply = self.blocks.bytes(progress.side(other ^ 1).kept);
        let side = progress.side(other);
        if let Some(pattern) = compiled.automaton.at_end(side.state) {
            return sure(compiled, compiled.rule_of(pattern), whose.to_server);
        }
        // What was held back by a better rank that never decided is good enough now; what may
        // still grow in a later turn stays alive.
        let mut alive = side.alive;
        let look = look(whose, all, reply, true);
        let asked = ask(compiled.candidates(all), &mut alive, &look, true, false);
        match asked.yes {
            Some(rule) => sure(compiled, rule, whose.to_server),
            None => Step::Undecided,
        }
    }
}

/// What a direction has shown.
struct Seen<'a> {
    all: &'a [u8],
    /// The part of `all` that is new.
    fresh: &'a [u8],
    other: &'a [u8],
}

/// Goes on in one direction; `ended`: no more bytes of it will be looked at.
fn advance(
    compiled: &Compiled,
    progress: &mut Progress,
    whose: Whose,
    seen: &Seen<'_>,
    ended: bool,
) -> Step {
    let own = side_of(whose.to_server);
    let side = progress.side(own);
    if !side.begun {
        side.begun = true;
        side.state = compiled.automaton.start();
        side.alive = u128::MAX;
    }
    match compiled.automaton.feed(&mut side.state, seen.fresh) {
        Fed::Match(pattern, _) => {
            return sure(compiled, compiled.rule_of(pattern), whose.to_server);
        }
        Fed::Dead | Fed::More => {}
    }
    if ended {
        if let Some(pattern) = compiled.automaton.at_end(side.state) {
            return sure(compiled, compiled.rule_of(pattern), whose.to_server);
        }
        side.state = State::DEAD;
    }
    let candidates = compiled.candidates(seen.all);
    if candidates.len() < 128 {
        side.alive &= 1u128
            .wrapping_shl(u32::try_from(candidates.len()).unwrap_or(0))
            .wrapping_sub(1);
    }
    let look = look(whose, seen.all, seen.other, ended);
    let held = !side.state.is_dead();
    let asked = ask(candidates, &mut side.alive, &look, ended, held);
    side.over = ended || (side.alive == 0 && side.state.is_dead());
    if let Some(rule) = asked.yes {
        return sure(compiled, rule, whose.to_server);
    }
    if let Some(rule) = asked.likely {
        let mark = rule.0.saturating_add(1);
        if progress.likely == mark && progress.likely_side != own {
            return likely(compiled, rule, whose.to_server);
        }
        if progress.likely == 0 {
            progress.likely = mark;
            progress.likely_side = own;
        }
    }
    if progress.sides.iter().all(|side| side.over) {
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
