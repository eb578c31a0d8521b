//! The searches of one worker: the state of each, and the bytes that it may still need.

mod datagram;
mod junk;
mod loaded;
mod options;
mod progress;
mod replay;
mod second;
mod stream;
mod view;
mod waiting;

use crate::On;
use crate::candidates::Set;
use crate::identifier::{Compiled, Identifier, Loaded};
use crate::kept::{Blocks, SHARDS};
use crate::table::{ProtocolId, RuleId};
use crate::verdict::{Confidence, GaveUp, Step, Verdict};
use flowpin_memory::{Budget, Pool, Slab};
use loaded::{PATTERN_SEARCH_BYTES, PatternSearch};
pub use options::{Again, Search, SearchOptions, Whose};
use progress::Progress;
use std::io;
use std::sync::Arc;
use waiting::Waiting;

/// The searches of one worker.
#[derive(Debug)]
pub struct Searches {
    identifier: Arc<Identifier>,
    memory: Memory,
}

/// The state of the searches.
#[derive(Debug)]
struct Memory {
    slab: Slab<Progress>,
    /// Of the user's patterns; empty if there are none.
    patterns: Slab<PatternSearch>,
    budget: Budget,
    waiting: Waiting,
    blocks: Blocks,
    options: SearchOptions,
}

impl Searches {
    /// Creates an empty set of searches.
    ///
    /// # Errors
    /// If the system refuses address space.
    pub fn new(identifier: Arc<Identifier>, options: SearchOptions) -> io::Result<Self> {
        let budget = Budget::new(options.shard_bytes_max.saturating_mul(2));
        Self::within(budget, identifier, options)
    }

    /// As [`Searches::new`], with memory that other stages take from as well.
    ///
    /// # Errors
    /// If the system refuses address space.
    pub fn within(
        budget: Budget,
        identifier: Arc<Identifier>,
        options: SearchOptions,
    ) -> io::Result<Self> {
        let searches = |each| budget.capacity_of(each, SHARDS).min(Search::COUNT_MAX);
        let memory = Memory {
            slab: Slab::with_capacity(searches(PROGRESS_BYTES))?,
            patterns: Slab::with_capacity(searches(PATTERN_SEARCH_BYTES))?,
            waiting: Waiting::default(),
            blocks: Blocks::new(&budget, options.shard_bytes_max)?,
            budget,
            options,
        };
        Ok(Self { identifier, memory })
    }

    /// The rules and patterns of the searches.
    pub fn identifier(&self) -> &Identifier {
        &self.identifier
    }

    /// Examines the next bytes of one direction of a stream, in order.
    ///
    /// After a verdict, [`Searches::kept`] has the bytes before it, with as many of `bytes` as the
    /// limit allows. If the first segment decided, it has none: continue with `bytes`.
    pub fn stream_bytes(&mut self, search: &mut Search, whose: Whose<'_>, bytes: &[u8]) -> Step {
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
            Some(handle) if self.memory.has_forgotten(handle) => {
                return self.memory.given_up(handle);
            }
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

    /// Ends one direction: the stream ended, or has a gap that will not be filled.
    pub fn stream_ended(&mut self, search: &mut Search, whose: Whose<'_>) -> Step {
        let compiled = self.identifier.on(On::Tcp);
        match search.handle() {
            None => Step::Undecided,
            Some(handle) if self.memory.has_forgotten(handle) => self.memory.given_up(handle),
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

    fn note_junk(&mut self, search: Search, whose: Whose<'_>, step: Step) {
        if let (Step::Verdict(verdict), Some(handle), None) = (step, search.handle(), whose.again) {
            let compiled = self.identifier.on(On::Tcp);
            self.memory.find_junk(compiled, handle, whose, verdict);
        }
    }

    /// Examines a datagram. `wire_len`: its length on the wire, since the capture may have cut it.
    pub fn datagram(
        &mut self,
        search: &mut Search,
        whose: Whose<'_>,
        bytes: &[u8],
        wire_len: usize,
    ) -> Step {
        if bytes.is_empty() {
            return Step::Undecided;
        }
        if let Some(handle) = search.handle()
            && self.memory.has_forgotten(handle)
        {
            return self.memory.given_up(handle);
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

    /// After a verdict: keeps bytes of one direction of a stream, as far as the limit allows, for
    /// replay if the verdict is withdrawn. `bytes` are those that decided, or later ones. False if
    /// there is no memory for them.
    pub fn keep(&mut self, search: &mut Search, whose: Whose<'_>, bytes: &[u8]) -> bool {
        self.memory.keep(search, whose, bytes)
    }

    /// After a verdict: excludes the direction that decided from further examination.
    pub fn close_side(&mut self, search: Search, to_server: bool) {
        let handle = search.handle();
        let progress = handle.and_then(|handle| self.memory.slab.get_mut(handle));
        if let Some(progress) = progress {
            progress.side(side_of(to_server)).over = true;
        }
    }

    /// Searches the kept bytes of one direction for another protocol.
    pub fn look_again(&mut self, search: Search, whose: Whose<'_>) -> Step {
        let compiled = self.identifier.on(On::Tcp);
        match search.handle() {
            Some(handle) => self.memory.look_again(compiled, handle, whose),
            None => Step::Undecided,
        }
    }

    /// Whether later bytes of one direction of a stream cannot decide anything.
    pub fn is_side_over(&self, search: Search, to_server: bool) -> bool {
        let handle = search.handle();
        let progress = handle.and_then(|handle| self.memory.slab.get(handle));
        let side = progress.and_then(|one| one.sides.get(usize::from(side_of(to_server))));
        side.is_some_and(|side| side.over)
    }

    /// The position in the kept bytes of one direction where a protocol accepted by `is_it` begins:
    /// the first line that the rules identify as such, or any position near the beginning.
    pub fn begins_at(
        &self,
        search: Search,
        whose: Whose<'_>,
        is_it: impl Fn(ProtocolId) -> bool,
    ) -> Option<usize> {
        let compiled = self.identifier.on(On::Tcp);
        self.memory
            .begins_at(compiled, search.handle()?, whose, is_it)
    }

    /// The verdict of a loaded pattern, if the connection ends here: held until the built-in rules
    /// give up.
    pub fn held(&self, search: Search) -> Option<Verdict> {
        let handle = search.handle()?;
        self.memory.loaded_held(self.identifier.brought()?, handle)
    }

    /// Releases a search, after a verdict or when its connection ends.
    pub fn release(&mut self, search: &mut Search) {
        let Some(handle) = search.handle() else {
            return;
        };
        self.memory.release(handle);
        *search = Search::NONE;
    }

    /// The pools of everything that searches keep.
    pub fn pools(&mut self, visit: &mut dyn FnMut(&mut dyn Pool)) {
        visit(&mut self.memory.slab);
        visit(&mut self.memory.patterns);
        self.memory.blocks.pools(visit);
    }

    /// The number of searches in progress.
    pub fn live(&self) -> u32 {
        self.memory.slab.len()
    }
}

impl Memory {
    fn begin(&mut self, search: &mut Search, progress: &Progress) -> Step {
        let shard = progress.shard;
        if !self.budget.take(shard, PROGRESS_BYTES) {
            return Step::GaveUp(GaveUp::Memory);
        }
        let Some((handle, begun)) = self
            .slab
            .insert(*progress)
            .and_then(|handle| Some((handle, Search::of(handle)?)))
        else {
            self.budget.give_back(shard, PROGRESS_BYTES);
            return Step::GaveUp(GaveUp::Memory);
        };
        self.waiting.enlist(&mut self.slab, handle);
        *search = begun;
        Step::Undecided
    }

    fn release(&mut self, handle: u32) {
        self.waiting.delist(&mut self.slab, handle);
        if let Some(progress) = self.slab.get_mut(handle) {
            for side in &mut progress.sides {
                self.blocks.free(&mut side.kept, progress.shard);
            }
            let (shard, patterns) = (progress.shard, progress.patterns);
            self.budget.give_back(shard, PROGRESS_BYTES);
            self.slab.remove(handle);
            self.release_patterns(shard, patterns);
        }
    }
}

/// Memory for a search without its bytes: its state, and its place in the list of free ones.
const PROGRESS_BYTES: u64 = size_of::<Progress>() as u64 + 4;

/// The user's patterns; none in a second search, which uses the built-in rules only.
fn brought<'a>(identifier: &'a Identifier, whose: Whose<'_>) -> Option<&'a Loaded> {
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
    /// The rule of a pattern that matched, unless its protocol is excluded.
    fn allowed_rule(&self, pattern: u16, whose: Whose<'_>) -> Option<RuleId> {
        let rule = self.rule_of(pattern);
        let but = whose.again.and_then(|again| again.but);
        (but != Some(self.protocol_of(rule))).then_some(rule)
    }

    /// All checks, except those of an excluded protocol.
    fn allowed_checks(&self, whose: Whose<'_>) -> Set {
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
