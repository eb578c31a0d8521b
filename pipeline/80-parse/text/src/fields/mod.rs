//! The captured fields of one direction or of one question.

mod entry;
mod keep;

pub(crate) use entry::Values;

use crate::memory::Memory;
use crate::options::TextOptions;
use entry::{Entry, What};
use flowpin_lexer::FieldId;
use flowpin_memory::Buffer;
use flowpin_packet::Timestamp;

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

    /// Adds one more count to a field.
    pub(crate) fn add_count(
        &mut self,
        field: FieldId,
        count: u64,
        context: &mut CaptureContext<'_>,
    ) {
        self.begun.get_or_insert(context.at);
        let values = self.values(context.memory);
        if values.entries(field).count() >= context.options.list_len_max {
            return context.memory.lose();
        }
        let what = What::Count(count);
        self.push(Entry { field, what }, context);
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
