//! The captured fields of one direction or of one question.

use crate::memory::Memory;
use crate::options::TextOptions;
use flowpin_lexer::{FieldId, FieldKind, GrammarField};
use flowpin_memory::Buffer;
use flowpin_packet::Timestamp;
use flowpin_record::Value;

/// The captured fields. Empty fields take no memory: most directions are between two messages.
///
/// A plain value: who copies it must not forget both.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fields {
    /// The time of the first field.
    pub(crate) begun: Option<Timestamp>,
    entries: Buffer,
    bytes: Buffer,
}

/// A field's value, or one member of its list.
#[derive(Clone, Copy, Debug)]
struct Entry {
    field: FieldId,
    what: What,
}

#[derive(Clone, Copy, Debug)]
enum What {
    Count(u64),
    /// Start and end in the bytes.
    Text(u32, u32),
}

impl Entry {
    /// As two words: the field, and whether it is a text; then its value.
    #[inline]
    const fn pack(self) -> [u64; 2] {
        let field = (self.field as u64) << 1;
        match self.what {
            What::Count(count) => [field, count],
            What::Text(from, to) => [field | 1, (to as u64) << 32 | from as u64],
        }
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "what was packed")]
    const fn unpack([field, value]: [u64; 2]) -> Self {
        Self {
            field: (field >> 1) as FieldId,
            what: match field & 1 {
                0 => What::Count(value),
                _ => What::Text(value as u32, (value >> 32) as u32),
            },
        }
    }
}

/// The values of captured fields.
#[derive(Clone, Copy)]
pub(crate) struct Values<'a> {
    entries: &'a [[u64; 2]],
    bytes: &'a [u8],
}

impl<'a> Values<'a> {
    #[inline]
    fn entries(self, field: FieldId) -> impl Iterator<Item = What> + use<'a> {
        let entries = self.entries.iter().copied().map(Entry::unpack);
        entries
            .filter(move |entry| entry.field == field)
            .map(|entry| entry.what)
    }

    pub(crate) fn has(self, field: FieldId) -> bool {
        self.entries(field).next().is_some()
    }

    pub(crate) fn count(self, field: FieldId) -> Option<u64> {
        self.entries(field).find_map(|what| match what {
            What::Count(count) => Some(count),
            What::Text(..) => None,
        })
    }

    /// The texts of a field, in order.
    pub(crate) fn texts(self, field: FieldId) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        self.entries(field).filter_map(move |what| match what {
            What::Text(from, to) => self.bytes.get(from as usize..to as usize),
            What::Count(_) => None,
        })
    }

    /// The field's value; `None` for a list, which has [`texts`](Self::texts) instead.
    pub(crate) fn value(self, field: FieldId, kind: FieldKind) -> Option<Value<'a>> {
        match kind {
            FieldKind::Count => self.count(field).map(Value::Count),
            FieldKind::Text => self.texts(field).next().map(Value::Bytes),
            FieldKind::List => None,
        }
    }
}

impl Fields {
    /// Their values.
    #[inline]
    pub(crate) fn values<'a>(&self, memory: &'a Memory) -> Values<'a> {
        Values {
            entries: memory.entries.get(&self.entries),
            bytes: memory.bytes.get(&self.bytes),
        }
    }

    pub(crate) fn set_count(
        &mut self,
        field: FieldId,
        count: u64,
        context: &mut CaptureContext<'_>,
    ) {
        self.begun.get_or_insert(context.at);
        let entry = Entry {
            field,
            what: What::Count(count),
        };
        let entries = context.memory.entries.get_mut(&self.entries);
        match entries
            .iter_mut()
            .find(|one| Entry::unpack(**one).field == field)
        {
            Some(place) => *place = entry.pack(),
            None => self.push(entry, context),
        }
    }

    fn push(&mut self, entry: Entry, context: &mut CaptureContext<'_>) {
        let (shard, memory) = (context.shard, &mut *context.memory);
        if !memory
            .entries
            .extend(shard, &mut self.entries, &[entry.pack()])
        {
            memory.lose();
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
        if !is_more {
            self.clear_field(field, context.shard, context.memory);
        } else {
            let values = self.values(context.memory);
            if values.entries(field).count() >= context.options.list_len_max {
                return context.memory.lose();
            }
        }
        let from = self.bytes.len();
        if self.add_bytes(text, 0, context)
            && let (Ok(from), Ok(to)) = (u32::try_from(from), u32::try_from(self.bytes.len()))
        {
            let what = What::Text(from, to);
            self.push(Entry { field, what }, context);
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
        let entries = context.memory.entries.get(&self.entries).iter();
        let mut last = entries.copied().map(Entry::unpack).enumerate().rev();
        let last = last.find(|(_, entry)| entry.field == field);
        let Some((index, What::Text(from, to))) = last.map(|(index, entry)| (index, entry.what))
        else {
            return self.set_text(field, text, false, context);
        };
        // A text can only grow at the end of the bytes.
        let mut from = from as usize;
        let to = to as usize;
        if to != self.bytes.len() {
            let (begin, bytes) = (self.bytes.len(), &mut context.memory.bytes);
            if begin > BYTES_MAX || !bytes.repeat(context.shard, &mut self.bytes, from, to) {
                return context.memory.lose();
            }
            from = begin;
        }
        let so_far = self.bytes.len().saturating_sub(from);
        self.add_bytes(separator, so_far, context);
        let so_far = self.bytes.len().saturating_sub(from);
        self.add_bytes(text, so_far, context);
        let entries = context.memory.entries.get_mut(&self.entries);
        if let (Some(entry), Ok(from), Ok(to)) = (
            entries.get_mut(index),
            u32::try_from(from),
            u32::try_from(self.bytes.len()),
        ) {
            let what = What::Text(from, to);
            *entry = Entry { field, what }.pack();
        }
    }

    /// Adds bytes to a text that has `so_far` bytes; false if none fit.
    fn add_bytes(&mut self, bytes: &[u8], so_far: usize, context: &mut CaptureContext<'_>) -> bool {
        let room = context.options.text_len_max.saturating_sub(so_far);
        let room = room.min(BYTES_MAX.saturating_sub(self.bytes.len()));
        let kept = bytes.get(..room).unwrap_or(bytes);
        let memory = &mut *context.memory;
        let fits = memory.bytes.extend(context.shard, &mut self.bytes, kept);
        if !fits || kept.len() < bytes.len() {
            memory.lose();
        }
        fits && (!kept.is_empty() || bytes.is_empty())
    }

    /// Keeps the entries of some fields only.
    fn retain(&mut self, shard: u8, memory: &mut Memory, keeps: impl Fn(FieldId) -> bool) {
        let entries = memory.entries.get_mut(&self.entries);
        let mut kept = 0usize;
        for index in 0..entries.len() {
            let entry = entries.get(index).copied().unwrap_or_default();
            if keeps(Entry::unpack(entry).field) {
                if let Some(place) = entries.get_mut(kept) {
                    *place = entry;
                }
                kept = kept.saturating_add(1);
            }
        }
        memory.entries.truncate(shard, &mut self.entries, kept);
    }

    pub(crate) fn clear_field(&mut self, field: FieldId, shard: u8, memory: &mut Memory) {
        if self.values(memory).has(field) {
            self.retain(shard, memory, |one| one != field);
        }
    }

    /// Clears all fields except those that the grammar keeps.
    pub(crate) fn clear(&mut self, known: &[GrammarField], shard: u8, memory: &mut Memory) {
        self.begun = None;
        if self.entries.is_empty() {
            return self.forget(shard, memory);
        }
        self.retain(shard, memory, |field| is_kept(known, field));
        if self.entries.is_empty() {
            return self.forget(shard, memory);
        }
        // In the order of their bytes, texts only move towards the front.
        let entries = memory.entries.get_mut(&self.entries);
        entries.sort_by_key(|entry| match Entry::unpack(*entry).what {
            What::Count(_) => 0,
            What::Text(from, _) => from,
        });
        let bytes = memory.bytes.get_mut(&self.bytes);
        let mut end = 0usize;
        for packed in entries {
            let Entry { field, what } = Entry::unpack(*packed);
            if let What::Text(from, to) = what {
                let len = to.saturating_sub(from) as usize;
                bytes.copy_within(from as usize..to as usize, end);
                let begin = u32::try_from(end).unwrap_or(u32::MAX);
                end = end.saturating_add(len);
                let what = What::Text(begin, u32::try_from(end).unwrap_or(u32::MAX));
                *packed = Entry { field, what }.pack();
            }
        }
        memory.bytes.truncate(shard, &mut self.bytes, end);
    }

    /// Clears all fields.
    #[inline]
    pub(crate) fn forget(&mut self, shard: u8, memory: &mut Memory) {
        memory.entries.release(shard, &mut self.entries);
        memory.bytes.release(shard, &mut self.bytes);
        self.begun = None;
    }

    /// What they take of their shard's budget.
    pub(crate) fn cost(&self, memory: &Memory) -> u64 {
        let entries = memory.entries.cost(&self.entries);
        entries.saturating_add(memory.bytes.cost(&self.bytes))
    }

    /// A copy of the fields that the grammar keeps; `None` without memory for them.
    pub(crate) fn copy_of_kept(
        &self,
        known: &[GrammarField],
        context: &mut CaptureContext<'_>,
    ) -> Option<Self> {
        let mut copy = Self::default();
        let lost = context.memory.lost;
        for index in 0..self.entries.len() {
            if let Some(entry) = self.entry(index, context.memory)
                && is_kept(known, entry.field)
            {
                copy.add_entry(entry, self, true, context);
            }
        }
        if context.memory.lost > lost {
            copy.forget(context.shard, context.memory);
            return None;
        }
        copy.begun = None;
        Some(copy)
    }

    /// Adds the fields that only the other has, and the members of the other's lists.
    pub(crate) fn add_from(
        &mut self,
        other: &Self,
        known: &[GrammarField],
        context: &mut CaptureContext<'_>,
    ) {
        for index in 0..other.entries.len() {
            let Some(entry) = other.entry(index, context.memory) else {
                break;
            };
            let field = known.get(usize::from(entry.field));
            let is_list = field.is_some_and(|field| field.kind == FieldKind::List);
            if is_list || !self.values(context.memory).has(entry.field) {
                self.add_entry(entry, other, is_list, context);
            }
        }
    }

    fn entry(&self, index: usize, memory: &Memory) -> Option<Entry> {
        let entries = memory.entries.get(&self.entries);
        entries.get(index).copied().map(Entry::unpack)
    }

    /// Adds an entry of other fields.
    fn add_entry(
        &mut self,
        entry: Entry,
        other: &Self,
        is_list: bool,
        context: &mut CaptureContext<'_>,
    ) {
        match entry.what {
            What::Count(count) => self.set_count(entry.field, count, context),
            What::Text(from, to) => {
                let mut moved = core::mem::take(&mut context.memory.moved);
                let bytes = context.memory.bytes.get(&other.bytes);
                let text = bytes.get(from as usize..to as usize);
                moved.clear();
                moved.extend_from_slice(text.unwrap_or_default());
                self.set_text(entry.field, &moved, is_list, context);
                context.memory.moved = moved;
            }
        }
    }
}

fn is_kept(known: &[GrammarField], field: FieldId) -> bool {
    let field = known.get(usize::from(field));
    field.is_some_and(|field| field.is_kept)
}

/// The context of a capture.
pub(crate) struct CaptureContext<'a> {
    pub(crate) at: Timestamp,
    pub(crate) shard: u8,
    pub(crate) options: &'a TextOptions,
    pub(crate) memory: &'a mut Memory,
}

/// Bytes of all texts of one message.
const BYTES_MAX: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use super::{CaptureContext, Fields};
    use crate::memory::Memory;
    use crate::options::TextOptions;
    use flowpin_memory::Budget;
    use flowpin_packet::Timestamp;

    /// However long a message was, no memory is in use after it, and no step takes more than a
    /// packet may.
    #[test]
    fn cleared_memory_is_given_back() {
        let options = TextOptions::default();
        let budget = Budget::new(1 << 20);
        let mut memory = Memory::new(&budget).unwrap();
        let mut fields = Fields::default();
        for field in 0..40 {
            for _ in 0..options.list_len_max {
                let mut context = CaptureContext {
                    at: Timestamp(1),
                    shard: 0,
                    options: &options,
                    memory: &mut memory,
                };
                let left = budget.left(0);
                fields.set_text(field, &[b'x'; 40], true, &mut context);
                assert!(left - budget.left(0) <= 32 << 10);
            }
        }
        assert!(budget.left(0) < (1 << 20) - 40_000);
        fields.clear(&[], 0, &mut memory);
        assert!(budget.is_whole());
    }
}
