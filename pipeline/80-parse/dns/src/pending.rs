//! Requests that wait for their responses: a queue for each connection, oldest first.

use crate::wire::message::{Header, Parsed, Question};
use flowpin_memory::Slab;
use flowpin_packet::{SHARD_COUNT, Timestamp};
use std::io;

/// A request, as far as its transaction's record needs it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pending {
    pub(crate) at: Timestamp,
    pub(crate) header: Header,
    pub(crate) kind: u16,
    pub(crate) class: u16,
    next: u32,
    name_len: u16,
    /// The first question's name: 255 bytes on the wire, more if labels have dots.
    name: [u8; NAME_MAX],
}

impl Pending {
    pub(crate) fn new(parsed: &Parsed, at: Timestamp) -> Self {
        let mut name = [0; NAME_MAX];
        let question = parsed.questions.first();
        let text = question.map_or(&[][..], |question| parsed.text(&question.name));
        let mut name_len = 0u16;
        for (to, from) in name.iter_mut().zip(text) {
            *to = *from;
            name_len = name_len.saturating_add(1);
        }
        Self {
            at,
            header: parsed.header,
            kind: question.map_or(0, |question| question.kind),
            class: question.map_or(0, |question| question.class),
            next: NONE,
            name_len,
            name,
        }
    }

    pub(crate) fn name(&self) -> &[u8] {
        self.name
            .get(..usize::from(self.name_len))
            .unwrap_or_default()
    }

    /// Whether a response answers this: the same identifier, and the same question if it repeats
    /// it. Names are the same in any case (RFC 4343).
    fn is_answered_by(&self, parsed: &Parsed) -> bool {
        let same = |question: &Question| {
            let name = parsed.text(&question.name);
            let name = name.get(..NAME_MAX).unwrap_or(name);
            question.kind == self.kind
                && question.class == self.class
                && name.eq_ignore_ascii_case(self.name())
        };
        self.header.id == parsed.header.id
            && self.header.opcode() == parsed.header.opcode()
            && parsed.questions.first().is_none_or(same)
    }
}

/// A connection's queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Queue {
    first: u32,
    last: u32,
    pub(crate) len: u32,
    /// How many messages the connection had so far.
    pub(crate) messages: u32,
}

impl Default for Queue {
    fn default() -> Self {
        Self {
            first: NONE,
            last: NONE,
            len: 0,
            messages: 0,
        }
    }
}

/// The requests of all connections.
#[derive(Debug)]
pub(crate) struct Requests {
    slab: Slab<Pending>,
    used: Box<[u32; SHARD_COUNT]>,
    quota: u32,
}

impl Requests {
    pub(crate) fn new(quota: u32) -> io::Result<Self> {
        let shards = u32::try_from(SHARD_COUNT).unwrap_or(u32::MAX);
        Ok(Self {
            slab: Slab::with_capacity(quota.saturating_mul(shards))?,
            used: Box::new([0; SHARD_COUNT]),
            quota,
        })
    }

    /// Adds a request; false if its shard has its most.
    pub(crate) fn push(&mut self, shard: u8, queue: &mut Queue, request: &Pending) -> bool {
        let Some(used) = self.used.get_mut(usize::from(shard)) else {
            return false;
        };
        if *used >= self.quota {
            return false;
        }
        let Some(handle) = self.slab.insert(*request) else {
            return false;
        };
        *used = used.saturating_add(1);
        match self.slab.get_mut(queue.last) {
            Some(last) if queue.last != NONE => last.next = handle,
            _ => queue.first = handle,
        }
        queue.last = handle;
        queue.len = queue.len.saturating_add(1);
        true
    }

    /// The oldest request, if it is older than `before`, or whatever its age.
    pub(crate) fn pop(
        &mut self,
        shard: u8,
        queue: &mut Queue,
        before: Option<Timestamp>,
    ) -> Option<Pending> {
        let request = *self.slab.get(queue.first).filter(|_| queue.len > 0)?;
        if before.is_some_and(|before| request.at >= before) {
            return None;
        }
        self.remove(shard, queue, NONE, queue.first);
        Some(request)
    }

    /// The oldest request that a response answers.
    pub(crate) fn answered(
        &mut self,
        shard: u8,
        queue: &mut Queue,
        parsed: &Parsed,
    ) -> Option<Pending> {
        let mut before = NONE;
        let mut at = queue.first;
        for _ in 0..queue.len {
            let request = self.slab.get(at)?;
            if request.is_answered_by(parsed) {
                let request = *request;
                self.remove(shard, queue, before, at);
                return Some(request);
            }
            before = at;
            at = request.next;
        }
        None
    }

    fn remove(&mut self, shard: u8, queue: &mut Queue, before: u32, at: u32) {
        let next = self.slab.get(at).map_or(NONE, |request| request.next);
        if before == NONE {
            queue.first = next;
        } else if let Some(before) = self.slab.get_mut(before) {
            before.next = next;
        }
        if queue.last == at {
            queue.last = before;
        }
        queue.len = queue.len.saturating_sub(1);
        self.slab.remove(at);
        if let Some(used) = self.used.get_mut(usize::from(shard)) {
            *used = used.saturating_sub(1);
        }
    }

    pub(crate) fn len(&self) -> u32 {
        self.slab.len()
    }
}

const NONE: u32 = u32::MAX;
const NAME_MAX: usize = 256;
