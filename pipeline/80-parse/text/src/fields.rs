//! The captured fields of one direction or of one question.

use crate::budget::{Budget, Spare};
use crate::options::TextOptions;
use flowpin_lexer::{FieldId, FieldKind, GrammarField};
use flowpin_packet::Timestamp;
use flowpin_record::Value;

/// The captured fields. Empty fields own no memory: most directions are between two messages, and
/// a worker's next message reuses the memory of the last one, which is still in the cache.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fields {
    /// The time of the first field.
    pub(crate) begun: Option<Timestamp>,
    entries: Vec<Entry>,
    bytes: Vec<u8>,
}

/// A field's value, or one member of its list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    field: FieldId,
    what: What,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum What {
    Count(u64),
    /// Start and end in the bytes.
    Text(u32, u32),
}

impl Fields {
    pub(crate) fn count(&self, field: FieldId) -> Option<u64> {
        let mut found = self.entries.iter().filter(|entry| entry.field == field);
        found.find_map(|entry| match entry.what {
            What::Count(count) => Some(count),
            What::Text(..) => None,
        })
    }

    pub(crate) fn set_count(
        &mut self,
        field: FieldId,
        count: u64,
        at: Timestamp,
        budget: &mut Budget,
    ) {
        self.begun.get_or_insert(at);
        self.take_memory(budget);
        let what = What::Count(count);
        match self.entries.iter_mut().find(|entry| entry.field == field) {
            Some(entry) => entry.what = what,
            None => self.entries.push(Entry { field, what }),
        }
    }

    /// Sets a field to this text; with `is_more`, appends the text to a list.
    pub(crate) fn set_text(
        &mut self,
        field: FieldId,
        text: &[u8],
        is_more: bool,
        context: &mut CaptureContext<'_>,
    ) {
        self.begun.get_or_insert(context.at);
        self.take_memory(context.budget);
        if !is_more {
            self.clear_field(field);
        } else {
            let len = self
                .entries
                .iter()
                .filter(|entry| entry.field == field)
                .count();
            if len >= context.options.list_len_max {
                context.budget.lost = context.budget.lost.saturating_add(1);
                return;
            }
        }
        let from = self.bytes.len();
        if self.add_bytes(text, 0, context)
            && let (Ok(from), Ok(to)) = (u32::try_from(from), u32::try_from(self.bytes.len()))
        {
            let what = What::Text(from, to);
            self.entries.push(Entry { field, what });
        }
    }

    /// Extends the text of a field, after a `separator`.
    pub(crate) fn extend_text(
        &mut self,
        field: FieldId,
        separator: &[u8],
        text: &[u8],
        context: &mut CaptureContext<'_>,
    ) {
        let last = self.entries.iter().rposition(|entry| entry.field == field);
        let Some((index, What::Text(from, to))) =
            last.and_then(|index| Some((index, self.entries.get(index)?.what)))
        else {
            return self.set_text(field, text, false, context);
        };
        // A text can only grow at the end of the bytes.
        let mut from = from as usize;
        let to = to as usize;
        if to != self.bytes.len() {
            let len = to.saturating_sub(from);
            if self.bytes.len() > BYTES_MAX || !context.budget.take(context.shard, len) {
                context.budget.lost = context.budget.lost.saturating_add(1);
                return;
            }
            let begin = self.bytes.len();
            self.bytes.extend_from_within(from..to);
            from = begin;
        }
        let so_far = self.bytes.len().saturating_sub(from);
        self.add_bytes(separator, so_far, context);
        let so_far = self.bytes.len().saturating_sub(from);
        self.add_bytes(text, so_far, context);
        if let (Some(entry), Ok(from), Ok(to)) = (
            self.entries.get_mut(index),
            u32::try_from(from),
            u32::try_from(self.bytes.len()),
        ) {
            entry.what = What::Text(from, to);
        }
    }

    /// Adds bytes to a text that has `so_far` bytes; false if none fit.
    fn add_bytes(&mut self, bytes: &[u8], so_far: usize, context: &mut CaptureContext<'_>) -> bool {
        let room = context.options.text_len_max.saturating_sub(so_far);
        let room = room.min(BYTES_MAX.saturating_sub(self.bytes.len()));
        let kept = bytes.get(..room).unwrap_or(bytes);
        let fits = context.budget.take(context.shard, kept.len());
        if fits {
            self.bytes.extend_from_slice(kept);
        }
        if !fits || kept.len() < bytes.len() {
            context.budget.lost = context.budget.lost.saturating_add(1);
        }
        fits && (!kept.is_empty() || bytes.is_empty())
    }

    pub(crate) fn clear_field(&mut self, field: FieldId) {
        if self.has(field) {
            self.entries.retain(|entry| entry.field != field);
        }
    }

    /// Clears all fields except those that the grammar keeps.
    pub(crate) fn clear(&mut self, known: &[GrammarField], shard: u8, budget: &mut Budget) {
        let is_kept = |field: FieldId| {
            let field = known.get(usize::from(field));
            field.is_some_and(|field| field.is_kept)
        };
        self.begun = None;
        self.entries.retain(|entry| is_kept(entry.field));
        if self.entries.is_empty() {
            return self.forget(shard, budget);
        }
        // In the order of their bytes, texts only move towards the front.
        self.entries.sort_by_key(|entry| match entry.what {
            What::Count(_) => 0,
            What::Text(from, _) => from,
        });
        let before = self.bytes.len();
        let mut end = 0usize;
        for entry in &mut self.entries {
            if let What::Text(from, to) = entry.what {
                let len = to.saturating_sub(from) as usize;
                self.bytes.copy_within(from as usize..to as usize, end);
                let begin = u32::try_from(end).unwrap_or(u32::MAX);
                end = end.saturating_add(len);
                entry.what = What::Text(begin, u32::try_from(end).unwrap_or(u32::MAX));
            }
        }
        self.bytes.truncate(end);
        budget.give_back(shard, before.saturating_sub(end));
        self.shrink();
    }

    /// Frees memory beyond the usual: the budget counts used bytes, not capacity.
    fn shrink(&mut self) {
        if self.bytes.capacity() > CAPACITY_KEPT_MAX {
            self.bytes.shrink_to(CAPACITY_KEPT_MAX);
        }
        if self.entries.capacity() > ENTRIES_KEPT_MAX {
            self.entries.shrink_to(ENTRIES_KEPT_MAX);
        }
    }

    /// Clears all fields and releases their memory.
    pub(crate) fn forget(&mut self, shard: u8, budget: &mut Budget) {
        budget.give_back(shard, self.bytes.len());
        self.begun = None;
        self.entries.clear();
        self.bytes.clear();
        self.give_memory(budget);
    }

    /// Takes spare or new memory, if the fields own none.
    #[inline]
    fn take_memory(&mut self, budget: &mut Budget) {
        if self.entries.capacity() > 0 {
            return;
        }
        let spare = budget.spares.pop().unwrap_or_else(|| Spare {
            entries: Vec::with_capacity(FRESH_ENTRIES),
            bytes: Vec::with_capacity(FRESH_BYTES),
        });
        self.entries = spare.entries;
        self.bytes = spare.bytes;
    }

    /// Returns the memory of empty fields to the spares.
    fn give_memory(&mut self, budget: &mut Budget) {
        if self.entries.capacity() == 0 {
            return;
        }
        self.shrink();
        let spare = Spare {
            entries: core::mem::take(&mut self.entries),
            bytes: core::mem::take(&mut self.bytes),
        };
        if budget.spares.len() < SPARES_MAX {
            budget.spares.push(spare);
        }
    }

    /// Copies the fields of another; false without room.
    pub(crate) fn copy_from(&mut self, other: &Self, shard: u8, budget: &mut Budget) -> bool {
        if other.entries.is_empty() {
            self.begun = other.begun;
            return true;
        }
        if !budget.take(shard, other.bytes.len()) {
            budget.lost = budget.lost.saturating_add(1);
            return false;
        }
        self.take_memory(budget);
        self.begun = other.begun;
        self.entries.clear();
        self.entries.extend_from_slice(&other.entries);
        self.bytes.clear();
        self.bytes.extend_from_slice(&other.bytes);
        true
    }

    /// Adds the fields that only the other has, and the members of the other's lists.
    pub(crate) fn add_from(
        &mut self,
        other: &Self,
        known: &[GrammarField],
        context: &mut CaptureContext<'_>,
    ) {
        for entry in &other.entries {
            let field = known.get(usize::from(entry.field));
            let is_list = field.is_some_and(|field| field.kind == FieldKind::List);
            match entry.what {
                _ if self.has(entry.field) && !is_list => {}
                What::Count(count) => {
                    self.set_count(entry.field, count, context.at, context.budget)
                }
                What::Text(from, to) => {
                    let text = other.bytes.get(from as usize..to as usize);
                    self.set_text(entry.field, text.unwrap_or_default(), is_list, context);
                }
            }
        }
    }

    pub(crate) fn has(&self, field: FieldId) -> bool {
        self.entries.iter().any(|entry| entry.field == field)
    }

    /// The field's value; `None` for a list, which has [`texts`](Self::texts) instead.
    pub(crate) fn value<'a>(&'a self, field: FieldId, kind: FieldKind) -> Option<Value<'a>> {
        match kind {
            FieldKind::Count => self.count(field).map(Value::Count),
            FieldKind::Text => self.texts(field).next().map(Value::Bytes),
            FieldKind::List => None,
        }
    }

    /// The texts of a field, in order.
    pub(crate) fn texts(&self, field: FieldId) -> impl Iterator<Item = &[u8]> {
        let entries = self
            .entries
            .iter()
            .filter(move |entry| entry.field == field);
        entries.filter_map(|entry| match entry.what {
            What::Text(from, to) => self.bytes.get(from as usize..to as usize),
            What::Count(_) => None,
        })
    }
}

/// The context of a capture.
pub(crate) struct CaptureContext<'a> {
    pub(crate) at: Timestamp,
    pub(crate) shard: u8,
    pub(crate) options: &'a TextOptions,
    pub(crate) budget: &'a mut Budget,
}

/// Bytes of all texts of one message.
const BYTES_MAX: usize = 1 << 16;
const CAPACITY_KEPT_MAX: usize = 2048;
const ENTRIES_KEPT_MAX: usize = 64;
/// Initial capacity if no memory is spare: small, since every connection may be inside a message,
/// and only the lengths of texts are counted. It grows as needed and keeps its size for the next
/// message.
const FRESH_ENTRIES: usize = 4;
const FRESH_BYTES: usize = 64;
/// Messages whose memory is kept for later ones.
const SPARES_MAX: usize = 64;

#[cfg(test)]
mod tests {
    use super::{Budget, CAPACITY_KEPT_MAX, CaptureContext, ENTRIES_KEPT_MAX, Fields};
    use crate::options::TextOptions;
    use flowpin_packet::Timestamp;

    /// A connection that once had a long message holds no more memory afterwards than its budget
    /// counts.
    #[test]
    fn cleared_memory_is_released() {
        let options = TextOptions::default();
        let mut budget = Budget::new(1 << 20);
        let mut fields = Fields::default();
        for field in 0..40 {
            for _ in 0..options.list_len_max {
                let mut context = CaptureContext {
                    at: Timestamp(1),
                    shard: 0,
                    options: &options,
                    budget: &mut budget,
                };
                fields.set_text(field, &[b'x'; 40], true, &mut context);
            }
        }
        assert!(budget.used_bytes() > 40_000);
        fields.clear(&[], 0, &mut budget);
        assert_eq!(budget.used_bytes(), 0);
        assert_eq!(fields.entries.capacity() + fields.bytes.capacity(), 0);
        let [spare] = &*budget.spares else {
            panic!("one message's memory is spare");
        };
        assert!(spare.bytes.capacity() <= CAPACITY_KEPT_MAX);
        assert!(spare.entries.capacity() <= ENTRIES_KEPT_MAX);
    }
}
