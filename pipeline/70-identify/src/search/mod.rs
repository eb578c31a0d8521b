//! One worker's searches: where each stands, and the bytes that it may still need.

mod datagram;
mod junk;
mod loaded;
mod progress;
mod stream;
mod view;

use crate::Datagram;
use crate::On;
use crate::candidates::Set;
use crate::identifier::{Compiled, Identifier, Loaded};
use crate::kept::{Blocks, STREAM_BYTES_MAX};
use crate::table::{ProtocolId, RuleId};
use crate::verdict::{Confidence, GaveUp, Step, Verdict};
use flowpin_memory::Slab;
use flowpin_packet::Shard;
use progress::Progress;
use std::io;
use std::sync::Arc;

/// A connection's search: nothing as long as nothing has to be remembered.
///
/// Once a [`Step`] other than undecided was returned, [`Searches::release`] it.
///
/// Three bytes: connections by the million have one each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Search([u8; 3]);

impl Search {
    const NONE: Self = Self([0; 3]);
    /// The most of one worker.
    const COUNT_MAX: u32 = (1 << 24) - 2;

    #[inline]
    fn handle(self) -> Option<u32> {
        let Self([a, b, c]) = self;
        u32::from_le_bytes([a, b, c, 0]).checked_sub(1)
    }

    fn of(handle: u32) -> Option<Self> {
        let [a, b, c, 0] = handle.checked_add(1)?.to_le_bytes() else {
            return None;
        };
        Some(Self([a, b, c]))
    }
}

/// Whose bytes they are.
#[derive(Clone, Copy, Debug)]
pub struct Whose {
    /// The connection's shard: memory is capped in each.
    pub shard: Shard,
    /// The ports of client and server.
    pub ports: (u16, u16),
    /// Over what.
    pub on: On,
    /// Whether the client sent them.
    pub to_server: bool,
    /// Streams: where in it they begin; only told back, by [`Searches::replay`].
    pub offset: u64,
    /// The connection has a verdict, which is doubted: what else it could be.
    pub again: Option<Again>,
}

/// A look at what has a verdict: by the project's own rules alone, and at a direction by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Again {
    /// Not this protocol.
    pub but: Option<ProtocolId>,
}

/// How much the searches of one worker may keep.
#[derive(Clone, Copy, Debug)]
pub struct SearchOptions {
    /// Searches that go on at the same time in one shard.
    pub shard_searches_max: u32,
    /// Bytes before verdicts in one shard.
    pub shard_bytes_max: u32,
    /// Datagrams before verdicts are kept as well: somebody wants them replayed.
    pub keeps_datagrams: bool,
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self {
            shard_searches_max: 4096,
            shard_bytes_max: 1 << 20,
            keeps_datagrams: true,
        }
    }
}

/// Both directions of one search.
const SHARD_BYTES_MIN: u64 = 8192;
const _: () = assert!(SHARD_BYTES_MIN >= 2 * STREAM_BYTES_MAX as u64);

impl SearchOptions {
    /// Half of `bytes` for searches, half for first bytes, in equal parts for all shards. Each
    /// gets room for one search of either kind at least.
    pub fn within(bytes: u64) -> Self {
        let half = bytes.checked_div(2 * 256).unwrap_or(0);
        let one = u64::try_from(size_of::<Progress>()).unwrap_or(u64::MAX);
        let searches = half.checked_div(one).unwrap_or(0).clamp(2, 1 << 16);
        let bytes = half.clamp(SHARD_BYTES_MIN, 1 << 28);
        Self {
            shard_searches_max: u32::try_from(searches).unwrap_or(u32::MAX),
            shard_bytes_max: u32::try_from(bytes).unwrap_or(u32::MAX),
            keeps_datagrams: true,
        }
    }
}

/// The searches of one worker.
#[derive(Debug)]
pub struct Searches {
    identifier: Arc<Identifier>,
    memory: Memory,
}

/// What they remember.
#[derive(Debug)]
struct Memory {
    slab: Slab<Progress>,
    /// By shard: searches that go on.
    counts: Box<[u32; 256]>,
    blocks: Blocks,
    options: SearchOptions,
}

impl Searches {
    /// No searches yet.
    ///
    /// # Errors
    /// Where the system refuses address space.
    pub fn new(identifier: Arc<Identifier>, options: SearchOptions) -> io::Result<Self> {
        let searches = options.shard_searches_max.saturating_mul(256);
        let memory = Memory {
            slab: Slab::with_capacity(searches.min(Search::COUNT_MAX))?,
            counts: Box::new([0; 256]),
            blocks: Blocks::new(options.shard_bytes_max)?,
            options,
        };
        Ok(Self { identifier, memory })
    }

    /// What is known.
    pub fn identifier(&self) -> &Identifier {
        &self.identifier
    }

    /// The next bytes of one direction of a stream, in order.
    ///
    /// After a verdict the bytes before it are in [`Searches::kept`], with as many of `bytes` as
    /// the limit allows; if the first segment decided there are none: go on with `bytes`.
    pub fn stream_bytes(&mut self, search: &mut Search, whose: Whose, bytes: &[u8]) -> Step {
        if bytes.is_empty() {
            return Step::Undecided;
        }
        let compiled = self.identifier.on(On::Tcp);
        let of_user = brought(&self.identifier, whose);
        let before = match of_user {
            Some(_) => self.kept(*search, whose.to_server).len(),
            None => 0,
        };
        let step = match search.handle() {
            None => self.memory.first_segment(compiled, search, whose, bytes),
            Some(handle) if self.memory.is_own_over(handle) => Step::GaveUp(GaveUp::NothingFits),
            Some(handle) => self.memory.next_segment(compiled, handle, whose, bytes),
        };
        self.note_junk(*search, whose, step);
        match brought(&self.identifier, whose) {
            None => step,
            Some(loaded) => {
                let is_kept = self.kept(*search, whose.to_server).len() > before;
                let bytes = (bytes, is_kept);
                self.memory.loaded_bytes(loaded, search, whose, bytes, step)
            }
        }
    }

    /// The stream ends, or a gap that will not be filled: nothing more comes from this direction.
    pub fn stream_ended(&mut self, search: &mut Search, whose: Whose) -> Step {
        let compiled = self.identifier.on(On::Tcp);
        match search.handle() {
            None => Step::Undecided,
            Some(handle) => {
                let step = self.memory.end_side(compiled, handle, whose);
                self.note_junk(*search, whose, step);
                match brought(&self.identifier, whose) {
                    None => step,
                    Some(loaded) => self
                        .memory
                        .loaded_end(loaded, handle, whose.to_server, step),
                }
            }
        }
    }

    fn note_junk(&mut self, search: Search, whose: Whose, step: Step) {
        if let (Step::Verdict(verdict), Some(handle), None) = (step, search.handle(), whose.again) {
            let compiled = self.identifier.on(On::Tcp);
            self.memory.find_junk(compiled, handle, whose, verdict);
        }
    }

    /// A datagram. `wire_len`: its length on the wire, where the capture may have cut it.
    pub fn datagram(
        &mut self,
        search: &mut Search,
        whose: Whose,
        bytes: &[u8],
        wire_len: usize,
    ) -> Step {
        if bytes.is_empty() {
            return Step::Undecided;
        }
        let compiled = self.identifier.on(whose.on);
        let is_own_over = search
            .handle()
            .is_some_and(|one| self.memory.is_own_over(one));
        let step = if is_own_over {
            Step::GaveUp(GaveUp::NothingFits)
        } else {
            self.memory
                .datagram(compiled, search, whose, bytes, wire_len)
        };
        match brought(&self.identifier, whose) {
            None => step,
            Some(loaded) => {
                let bytes = (bytes, false);
                self.memory.loaded_bytes(loaded, search, whose, bytes, step)
            }
        }
    }

    /// After a verdict: keeps what one direction of a stream has said, as far as the limit allows,
    /// so that it can be replayed if the verdict is taken back. `bytes` are those that decided, or
    /// that came since. False if there is no memory for them.
    pub fn keep(&mut self, search: &mut Search, whose: Whose, bytes: &[u8]) -> bool {
        self.memory.keep(search, whose, bytes)
    }

    /// After a verdict: the direction that decided need not be looked at any more.
    pub fn close_side(&mut self, search: Search, to_server: bool) {
        let handle = search.handle();
        let progress = handle.and_then(|handle| self.memory.slab.get_mut(handle));
        if let Some(progress) = progress {
            progress.side(side_of(to_server)).over = true;
        }
    }

    /// Looks at what is kept of one direction: what else it may be.
    pub fn look_again(&mut self, search: Search, whose: Whose) -> Step {
        let compiled = self.identifier.on(On::Tcp);
        match search.handle() {
            Some(handle) => self.memory.look_again(compiled, handle, whose),
            None => Step::Undecided,
        }
    }

    /// Whether nothing that comes in one direction of a stream can matter any more.
    pub fn is_side_over(&self, search: Search, to_server: bool) -> bool {
        let handle = search.handle();
        let progress = handle.and_then(|handle| self.memory.slab.get(handle));
        let side = progress.and_then(|one| one.sides.get(usize::from(side_of(to_server))));
        side.is_some_and(|side| side.over)
    }

    /// The bytes of one direction before the verdict, as far as they are kept.
    pub fn kept(&self, search: Search, to_server: bool) -> &[u8] {
        let progress = search
            .handle()
            .and_then(|handle| self.memory.slab.get(handle));
        progress
            .and_then(|progress| progress.sides.get(usize::from(side_of(to_server))))
            .map_or(&[], |side| self.memory.blocks.bytes(side.kept))
    }

    /// Where in the stream the kept bytes of one direction end; none if none are kept.
    pub fn kept_until(&self, search: Search, to_server: bool) -> Option<u64> {
        let progress = self.memory.slab.get(search.handle()?)?;
        let side = progress.sides.get(usize::from(side_of(to_server)))?;
        let len = u64::try_from(side.kept.len()).unwrap_or(u64::MAX);
        (len > 0).then(|| side.start.saturating_add(len))
    }

    /// Where among the kept bytes of one direction a protocol begins that `is_it`: at the first
    /// line that the rules say to be of it, or anywhere near the beginning.
    pub fn begins_at(
        &self,
        search: Search,
        whose: Whose,
        is_it: impl Fn(ProtocolId) -> bool,
    ) -> Option<usize> {
        let compiled = self.identifier.on(On::Tcp);
        self.memory
            .begins_at(compiled, search.handle()?, whose, is_it)
    }

    /// What a loaded pattern says that waits for the own rules to give up: the verdict, if the
    /// connection ends here.
    pub fn held(&self, search: Search) -> Option<Verdict> {
        let handle = search.handle()?;
        self.memory.loaded_held(self.identifier.brought()?, handle)
    }

    /// Tells the bytes before the verdict, as far as they are kept, in the order in which turns
    /// came: whether the client sent them, where in its stream they begin, and they. What is junk
    /// before the verdict's protocol is left out.
    pub fn replay(&self, search: Search, mut tell: impl FnMut(bool, u64, &[u8])) {
        let handle = search.handle();
        let Some(progress) = handle.and_then(|handle| self.memory.slab.get(handle)) else {
            return;
        };
        if progress.datagrams > 0 {
            return;
        }
        let kept = progress
            .sides
            .map(|side| self.memory.blocks.bytes(side.kept));
        let [mut client, mut server] = progress.sides.map(|side| side.start);
        let mut junk = progress.sides.map(|side| usize::from(side.junk));
        progress.order.tell(kept, |to_server, bytes| {
            let [of_client, of_server] = &mut junk;
            let (at, junk) = if to_server {
                (&mut client, of_client)
            } else {
                (&mut server, of_server)
            };
            let (before, bytes) = bytes.split_at(bytes.len().min(*junk));
            *junk = junk.saturating_sub(before.len());
            *at = at.saturating_add(u64::try_from(before.len()).unwrap_or(0));
            if !bytes.is_empty() {
                tell(to_server, *at, bytes);
            }
            *at = at.saturating_add(u64::try_from(bytes.len()).unwrap_or(0));
        });
    }

    /// How many bytes of the client and of the server [`replay`](Self::replay) leaves out as junk.
    pub fn junk(&self, search: Search) -> [u16; 2] {
        let handle = search.handle();
        let progress = handle.and_then(|handle| self.memory.slab.get(handle));
        progress.map_or([0; 2], |progress| {
            progress.sides.each_ref().map(|side| side.junk)
        })
    }

    /// Of how many directions of a stream bytes came before the verdict that were not kept.
    pub fn cut(&self, search: Search) -> u8 {
        let handle = search.handle();
        let progress = handle.and_then(|handle| self.memory.slab.get(handle));
        progress.map_or(0, |progress| {
            progress.sides.map(|side| u8::from(side.cut)).iter().sum()
        })
    }

    /// Tells the datagrams before the verdict in order of arrival, as far as they are kept; returns
    /// how many came behind those and are not.
    pub fn replay_datagrams<'a>(&'a self, search: Search, tell: impl FnMut(Datagram<'a>)) -> u8 {
        let handle = search.handle();
        let Some(progress) = handle.and_then(|handle| self.memory.slab.get(handle)) else {
            return 0;
        };
        if progress.datagrams == 0 {
            return 0;
        }
        let logs = progress
            .sides
            .map(|side| self.memory.blocks.bytes(side.kept));
        progress.earlier.tell(logs, tell)
    }

    /// Forgets a search: after a verdict, or when its connection ends.
    pub fn release(&mut self, search: &mut Search) {
        let Some(handle) = search.handle() else {
            return;
        };
        let Memory {
            slab,
            blocks,
            counts,
            ..
        } = &mut self.memory;
        if let Some(progress) = slab.get_mut(handle) {
            let shard = progress.shard;
            for side in &mut progress.sides {
                blocks.free(&mut side.kept, shard);
            }
            if let Some(count) = counts.get_mut(usize::from(shard)) {
                *count = count.saturating_sub(1);
            }
            slab.remove(handle);
        }
        *search = Search::NONE;
    }

    /// Searches that go on.
    pub fn live(&self) -> u32 {
        self.memory.slab.len()
    }
}

impl Memory {
    /// Whether there is room for what no search needs: those that have no verdict come first.
    fn has_room_for_later(&self, shard: u8) -> bool {
        let count = self.counts.get(usize::from(shard)).copied();
        count.is_some_and(|count| count < self.options.shard_searches_max / 2)
            && self.blocks.is_half_free(shard)
    }

    fn begin(&mut self, search: &mut Search, progress: &Progress) -> Step {
        let Some(count) = self.counts.get_mut(usize::from(progress.shard)) else {
            return Step::GaveUp(GaveUp::Memory);
        };
        if *count >= self.options.shard_searches_max {
            return Step::GaveUp(GaveUp::Memory);
        }
        match self.slab.insert(*progress).and_then(Search::of) {
            Some(begun) => {
                *count = count.saturating_add(1);
                *search = begun;
                Step::Undecided
            }
            None => Step::GaveUp(GaveUp::Memory),
        }
    }
}

/// What the user brought, unless a verdict is doubted: own rules come first.
fn brought(identifier: &Identifier, whose: Whose) -> Option<&Loaded> {
    let brought = identifier.brought();
    brought.filter(|_| whose.again.is_none())
}

fn sure(compiled: &Compiled, rule: RuleId, to_server: bool) -> Step {
    Step::Verdict(Verdict {
        protocol: compiled.protocol_of(rule),
        rule,
        confidence: Confidence::Sure,
        to_server,
    })
}

fn likely(compiled: &Compiled, rule: RuleId, to_server: bool) -> Step {
    Step::Verdict(Verdict {
        protocol: compiled.protocol_of(rule),
        rule,
        confidence: Confidence::Likely,
        to_server,
    })
}

const fn side_of(to_server: bool) -> u8 {
    if to_server { 0 } else { 1 }
}

impl Compiled {
    /// The rule of a pattern that matched, unless it tells what is not asked for.
    fn told(&self, pattern: u16, whose: Whose) -> Option<RuleId> {
        let rule = self.rule_of(pattern);
        let but = whose.again.and_then(|again| again.but);
        (but != Some(self.protocol_of(rule))).then_some(rule)
    }

    /// The checks that may be asked.
    fn askable(&self, whose: Whose) -> Set {
        match whose.again.and_then(|again| again.but) {
            None => Set::ALL,
            Some(but) => self
                .candidates
                .without(|rule| self.protocol_of(rule) == but),
        }
    }

    fn rule_of(&self, pattern: u16) -> RuleId {
        self.pattern_rules
            .get(usize::from(pattern))
            .copied()
            .unwrap_or(RuleId(u16::MAX))
    }
}
