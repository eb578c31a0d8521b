//! One worker's searches: where each stands, and the bytes that it may still need.

use crate::identifier::{Compiled, Identifier, ask};
use crate::kept::{Blocks, Kept, STREAM_BYTES_MAX};
use crate::table::{On, RuleId};
use crate::verdict::{Confidence, GaveUp, Step, Verdict};
use crate::{DATAGRAMS_MAX, HEAD_LEN, Look};
use flowpin_memory::Slab;
use flowpin_packet::Shard;
use flowpin_pattern::{Fed, State};
use std::io;
use std::sync::Arc;

/// A connection's search: nothing as long as nothing has to be remembered.
///
/// Once a [`Step`] other than undecided was returned, [`Searches::release`] it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Search(u32);

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
}

/// How much the searches of one worker may keep.
#[derive(Clone, Copy, Debug)]
pub struct SearchOptions {
    /// Searches that go on at the same time in one shard.
    pub shard_searches_max: u32,
    /// Bytes before verdicts in one shard.
    pub shard_bytes_max: u32,
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self {
            shard_searches_max: 4096,
            shard_bytes_max: 1 << 20,
        }
    }
}

/// One direction of a search.
#[derive(Clone, Copy, Debug)]
struct Side {
    /// Checks that have not said no.
    alive: u128,
    state: State,
    kept: Kept,
    /// Bytes (TCP: in `kept`) have come.
    begun: bool,
    /// Nothing that comes can matter any more.
    over: bool,
    head: [u8; HEAD_LEN],
    head_len: u8,
}

#[derive(Clone, Copy, Debug)]
struct Progress {
    sides: [Side; 2],
    shard: u8,
    datagrams: u8,
    /// TCP: the direction that spoke last.
    turn: u8,
    /// The rule that said likely, plus one, and where it did.
    likely: u16,
    likely_side: u8,
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
        let memory = Memory {
            slab: Slab::with_capacity(options.shard_searches_max.saturating_mul(256))?,
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
        match search.0.checked_sub(1) {
            None => self.memory.first_segment(compiled, search, whose, bytes),
            Some(handle) => self.memory.next_segment(compiled, handle, whose, bytes),
        }
    }

    /// The stream ends, or a gap that will not be filled: nothing more comes from this direction.
    pub fn stream_ended(&mut self, search: &mut Search, whose: Whose) -> Step {
        let compiled = self.identifier.on(On::Tcp);
        match search.0.checked_sub(1) {
            None => Step::Undecided,
            Some(handle) => self.memory.end_side(compiled, handle, whose),
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
        self.memory
            .datagram(compiled, search, whose, bytes, wire_len)
    }

    /// The bytes of one direction before the verdict, as far as they are kept.
    pub fn kept(&self, search: Search, to_server: bool) -> &[u8] {
        let progress = search
            .0
            .checked_sub(1)
            .and_then(|handle| self.memory.slab.get(handle));
        progress
            .and_then(|progress| progress.sides.get(usize::from(side_of(to_server))))
            .map_or(&[], |side| self.memory.blocks.bytes(side.kept))
    }

    /// Forgets a search: after a verdict, or when its connection ends.
    pub fn release(&mut self, search: &mut Search) {
        let Some(handle) = search.0.checked_sub(1) else {
            return;
        };
        if let Some(progress) = self.memory.slab.get(handle).copied() {
            for side in progress.sides {
                let mut kept = side.kept;
                self.memory.blocks.free(&mut kept, progress.shard);
            }
            if let Some(count) = self.memory.counts.get_mut(usize::from(progress.shard)) {
                *count = count.saturating_sub(1);
            }
            self.memory.slab.remove(handle);
        }
        *search = Search::default();
    }

    /// Searches that go on.
    pub fn live(&self) -> u32 {
        self.memory.slab.len()
    }
}

impl Memory {
    fn next_segment(
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
            if step != Step::Undecided {
                self.store(handle, progress);
                return step;
            }
        }
        let mut step = Step::Undecided;
        let side = progress.side(own);
        if !side.over {
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

    fn end_side(&mut self, compiled: &Compiled, handle: u32, whose: Whose) -> Step {
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

    fn datagram(
        &mut self,
        compiled: &Compiled,
        search: &mut Search,
        whose: Whose,
        bytes: &[u8],
        wire_len: usize,
    ) -> Step {
        let own = side_of(whose.to_server);
        let handle = search.0.checked_sub(1);
        let stored = handle.and_then(|handle| self.slab.get(handle)).copied();
        let mut progress = stored.unwrap_or_else(|| Progress::new(whose.shard));
        progress.datagrams = progress.datagrams.saturating_add(1);
        let look = Look {
            bytes,
            len: wire_len.max(bytes.len()),
            reply: progress.head(own ^ 1),
            earlier: progress.head(own),
            ports: whose.ports,
            to_server: whose.to_server,
            on: whose.on,
            ended: true,
        };
        let mut likely = progress.likely;
        if let Some(verdict) = datagram_verdict(compiled, &look, &mut likely) {
            return Step::Verdict(verdict);
        }
        progress.likely = likely;
        if progress.datagrams >= DATAGRAMS_MAX {
            return Step::GaveUp(GaveUp::NothingFits);
        }
        progress.remember(own, bytes);
        match handle {
            Some(handle) => self.store(handle, progress),
            None => return self.begin(search, progress),
        }
        Step::Undecided
    }

    /// The first segment: decided where it lies, if it can be.
    fn first_segment(
        &mut self,
        compiled: &Compiled,
        search: &mut Search,
        whose: Whose,
        bytes: &[u8],
    ) -> Step {
        let own = side_of(whose.to_server);
        let mut progress = Progress::new(whose.shard);
        progress.turn = own;
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

    fn begin(&mut self, search: &mut Search, progress: Progress) -> Step {
        let Some(count) = self.counts.get_mut(usize::from(progress.shard)) else {
            return Step::GaveUp(GaveUp::Memory);
        };
        if *count >= self.options.shard_searches_max {
            return Step::GaveUp(GaveUp::Memory);
        }
        match self
            .slab
            .insert(progress)
            .and_then(|handle| handle.checked_add(1))
        {
            Some(handle) => {
                *count = count.saturating_add(1);
                *search = Search(handle);
                Step::Undecided
            }
            None => Step::GaveUp(GaveUp::Memory),
        }
    }

    fn store(&mut self, handle: u32, progress: Progress) {
        if let Some(slot) = self.slab.get_mut(handle) {
            *slot = progress;
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

fn datagram_verdict(
    compiled: &Compiled,
    look: &Look<'_>,
    likely_before: &mut u16,
) -> Option<Verdict> {
    let mut state = compiled.automaton.start();
    let pattern = match compiled.automaton.feed(&mut state, look.bytes) {
        Fed::Match(pattern, _) => Some(pattern),
        Fed::Dead => None,
        Fed::More => compiled.automaton.at_end(state),
    };
    let mut alive = u128::MAX;
    let (rule, confidence) = if let Some(pattern) = pattern {
        (compiled.rule_of(pattern), Confidence::Sure)
    } else {
        let asked = ask(
            compiled.candidates(look.bytes),
            &mut alive,
            look,
            true,
            false,
        );
        match (asked.yes, asked.likely) {
            (Some(rule), _) => (rule, Confidence::Sure),
            (None, Some(rule)) if *likely_before == rule.0.saturating_add(1) => {
                (rule, Confidence::Likely)
            }
            (None, Some(rule)) => {
                *likely_before = rule.0.saturating_add(1);
                return None;
            }
            (None, None) => return None,
        }
    };
    Some(Verdict {
        protocol: compiled.protocol_of(rule),
        rule,
        confidence,
        to_server: look.to_server,
    })
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
    fn rule_of(&self, pattern: u16) -> RuleId {
        self.pattern_rules
            .get(usize::from(pattern))
            .copied()
            .unwrap_or(RuleId(u16::MAX))
    }
}

impl Progress {
    fn new(shard: Shard) -> Self {
        let side = Side {
            alive: 0,
            state: State::DEAD,
            kept: Kept::default(),
            begun: false,
            over: false,
            head: [0; HEAD_LEN],
            head_len: 0,
        };
        Self {
            sides: [side; 2],
            shard: shard.0,
            datagrams: 0,
            turn: 0,
            likely: 0,
            likely_side: 0,
        }
    }

    fn side(&mut self, which: u8) -> &mut Side {
        let [client, server] = &mut self.sides;
        if which == 0 { client } else { server }
    }

    fn head(&self, which: u8) -> &[u8] {
        let [client, server] = &self.sides;
        let side = if which == 0 { client } else { server };
        side.head
            .get(..usize::from(side.head_len))
            .unwrap_or_default()
    }

    fn remember(&mut self, which: u8, bytes: &[u8]) {
        let side = self.side(which);
        let mut len = 0u8;
        for (to, from) in side.head.iter_mut().zip(bytes) {
            *to = *from;
            len = len.saturating_add(1);
        }
        side.head_len = len;
    }
}
