//! Pending requests: a queue per connection, oldest first.

use crate::wire::message::{Header, Parsed, Question};
use flowpin_memory::{Budget, Pool, Slab};
use flowpin_packet::Timestamp;
use flowpin_parser::slot_bytes;
use std::io;

/// A pending request: the parts that the record of its transaction needs. Its name is stored
/// separately, see [`Requests::name`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pending {
    pub(crate) at: Timestamp,
    pub(crate) header: Header,
    pub(crate) kind: u16,
    pub(crate) class: u16,
    next: u32,
    name: u32,
    name_len: u16,
}

impl Pending {
    /// Whether a response may answer this request: it has the same identifier and, if it repeats
    /// the question, the same type and class. Names are compared separately.
    fn may_be_answered_by(&self, header: Header, question: Option<&Question>) -> bool {
        let same = |question: &Question| question.kind == self.kind && question.class == self.class;
        self.header.id == header.id
            && self.header.opcode() == header.opcode()
            && question.is_none_or(same)
    }
}

/// The queue of a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Queue {
    first: u32,
    last: u32,
    pub(crate) len: u32,
    /// Number of messages of the connection so far.
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

/// The pending requests of all connections.
#[derive(Debug)]
pub(crate) struct Requests {
    slab: Slab<Pending>,
    /// Names of the first questions, in wire format without pointers.
    names: Slab<[u8; NAME_MAX]>,
    /// The name of a response, without pointers.
    flat: Vec<u8>,
    budget: Budget,
}

/// What a pending request takes of its shard's memory.
const REQUEST_BYTES: u64 = slot_bytes::<Pending>() as u64 + slot_bytes::<[u8; NAME_MAX]>() as u64;

impl Requests {
    pub(crate) fn pools(&mut self, visit: &mut dyn FnMut(&mut dyn Pool)) {
        visit(&mut self.slab);
        visit(&mut self.names);
    }

    pub(crate) fn new(budget: &Budget) -> io::Result<Self> {
        let all = budget.capacity_of(REQUEST_BYTES, 256);
        Ok(Self {
            slab: Slab::with_capacity(all)?,
            names: Slab::with_capacity(all)?,
            flat: Vec::with_capacity(NAME_MAX),
            budget: budget.clone(),
        })
    }

    /// Adds a request; returns false if its shard has no memory left.
    pub(crate) fn push(
        &mut self,
        shard: u8,
        queue: &mut Queue,
        (parsed, message): (&Parsed, &[u8]),
        at: Timestamp,
    ) -> bool {
        if !self.budget.take(shard, REQUEST_BYTES) {
            return false;
        }
        let question = parsed.questions.first();
        flatten(question, message, &mut self.flat);
        let Some(name) = self.names.take() else {
            self.budget.give_back(shard, REQUEST_BYTES);
            return false;
        };
        let mut name_len = 0;
        if let Some(place) = self.names.get_mut(name)
            && let Some(place) = place.get_mut(..self.flat.len())
        {
            place.copy_from_slice(&self.flat);
            name_len = u16::try_from(self.flat.len()).unwrap_or(0);
        }
        let Some(handle) = self.slab.insert(Pending {
            at,
            header: parsed.header,
            kind: question.map_or(0, |question| question.kind),
            class: question.map_or(0, |question| question.class),
            next: NONE,
            name,
            name_len,
        }) else {
            self.names.remove(name);
            self.budget.give_back(shard, REQUEST_BYTES);
            return false;
        };
        match self.slab.get_mut(queue.last) {
            Some(last) if queue.last != NONE => last.next = handle,
            _ => queue.first = handle,
        }
        queue.last = handle;
        queue.len = queue.len.saturating_add(1);
        true
    }

    /// Removes the oldest request; with `before`, only if it is older than that. Its name stays
    /// available until the next request is added.
    #[inline]
    pub(crate) fn pop(
        &mut self,
        shard: u8,
        queue: &mut Queue,
        before: Option<Timestamp>,
    ) -> Option<Pending> {
        if queue.len == 0 {
            return None;
        }
        let request = self.slab.get(queue.first)?;
        if before.is_some_and(|before| request.at >= before) {
            return None;
        }
        let request = *request;
        self.remove(shard, queue, NONE, queue.first);
        Some(request)
    }

    /// Removes the oldest request that a response answers. Its name stays available as in
    /// [`Requests::pop`].
    pub(crate) fn answered(
        &mut self,
        shard: u8,
        queue: &mut Queue,
        parsed: &Parsed,
        message: &[u8],
    ) -> Option<Pending> {
        let question = parsed.questions.first();
        let mut is_flat = false;
        let mut before = NONE;
        let mut at = queue.first;
        for _ in 0..queue.len {
            let request = *self.slab.get(at)?;
            if request.may_be_answered_by(parsed.header, question) {
                if !is_flat {
                    flatten(question, message, &mut self.flat);
                    is_flat = true;
                }
                // Names are compared without regard to case (RFC 4343); the lengths of labels are
                // below all letters.
                if question.is_none() || self.flat.eq_ignore_ascii_case(self.name(&request)) {
                    self.remove(shard, queue, before, at);
                    return Some(request);
                }
            }
            before = at;
            at = request.next;
        }
        None
    }

    /// Returns the name that a request asks for, in wire format without pointers.
    pub(crate) fn name(&self, request: &Pending) -> &[u8] {
        let name = self.names.get(request.name);
        name.and_then(|name| name.get(..usize::from(request.name_len)))
            .unwrap_or_default()
    }

    fn remove(&mut self, shard: u8, queue: &mut Queue, before: u32, at: u32) {
        let Some(&Pending { next, name, .. }) = self.slab.get(at) else {
            return;
        };
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
        self.names.remove(name);
        self.budget.give_back(shard, REQUEST_BYTES);
    }
}

/// Writes the name of a question without pointers; without a question, that of the root.
fn flatten(question: Option<&Question>, message: &[u8], flat: &mut Vec<u8>) {
    flat.clear();
    match question {
        Some(question) => question.name.put_flat(message, flat),
        None => flat.push(0),
    }
}

const NONE: u32 = u32::MAX;
/// RFC 1035 §2.3.4 allows 255.
const NAME_MAX: usize = 256;
