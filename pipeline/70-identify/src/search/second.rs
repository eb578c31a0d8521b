//! Second searches after a verdict: keeps bytes for them, and searches what is kept again.

use super::progress::{Likely, Order, Progress, Side};
use super::stream::{Seen, advance, low};
use super::{Memory, Search, Whose, side_of};
use crate::identifier::Compiled;
use crate::kept::STREAM_BYTES_MAX;
use crate::table::ProtocolId;
use crate::verdict::Step;

impl Memory {
    /// As [`Searches::keep`](super::Searches::keep).
    pub(super) fn keep(&mut self, search: &mut Search, whose: Whose<'_>, bytes: &[u8]) -> bool {
        let own = side_of(whose.to_server);
        let shard = whose.shard.0;
        // Searches without a verdict come first.
        let has_room = self.blocks.is_half_free(shard);
        if let Some(handle) = search.handle() {
            self.make_room(whose, Some(handle));
            self.waiting.delist(&mut self.slab, handle);
        }
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
        let mut progress = Progress::new(whose);
        progress.turn = own;
        progress.order = Order::begun_by(own);
        let side = progress.side(own);
        side.start = whose.offset;
        let taken = blocks.append(&mut side.kept, shard, bytes);
        side.cut = taken != Some(bytes.len());
        side.over = true;
        let mut kept = side.kept;
        let is_kept = taken.is_some() && self.begin(search, &progress) == Step::Undecided;
        match search.handle() {
            Some(handle) if is_kept => self.waiting.delist(&mut self.slab, handle),
            _ => self.blocks.free(&mut kept, shard),
        }
        is_kept
    }

    /// As [`Searches::look_again`](super::Searches::look_again).
    pub(super) fn look_again(
        &mut self,
        compiled: &Compiled,
        handle: u32,
        whose: Whose<'_>,
    ) -> Step {
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
        whose: Whose<'_>,
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
}

/// Positions where a protocol may begin amid other bytes.
pub(super) fn amid(all: &[u8]) -> impl Iterator<Item = usize> {
    (1..all.len().min(AMID_MAX)).filter(|&at| !splits_word(all, at))
}

/// Whether a position has letters or digits on both sides.
pub(super) fn splits_word(bytes: &[u8], at: usize) -> bool {
    let pair = at.checked_sub(1).and_then(|before| bytes.get(before..=at));
    pair.is_some_and(|pair| pair.iter().all(u8::is_ascii_alphanumeric))
}

/// Maximum number of lines at which a beginning is tried.
const LINES_MAX: usize = 256;

/// Maximum number of bytes at which a beginning is tried.
pub(super) const AMID_MAX: usize = 640;
