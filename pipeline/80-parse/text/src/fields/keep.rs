//! What is left of fields after a message, and what goes over from one message to another.

use super::entry::{Entry, Values, What};
use super::{CaptureContext, Fields};
use crate::memory::Memory;
use flowpin_lexer::{FieldId, FieldKind, GrammarField};

impl Fields {
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
                let is_list = !matches!(entry.what, What::Count(_));
                copy.add_entry(entry, self, is_list, context);
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
        self.take_from(other, known, context, |entry, own, _| !own.has(entry.field));
    }

    /// The same, but texts and counts of the other replace those of the same name.
    pub(crate) fn replace_from(
        &mut self,
        other: &Self,
        known: &[GrammarField],
        context: &mut CaptureContext<'_>,
    ) {
        self.take_from(other, known, context, |entry, own, new| {
            // A text that is replaced by itself would take its bytes twice.
            let is_same = || own.texts(entry.field).eq(new.texts(entry.field));
            matches!(entry.what, What::Count(_)) || !is_same()
        });
    }

    /// Adds the other's fields, all of lists, and of the rest what is wanted, which is asked with
    /// the values of both.
    fn take_from(
        &mut self,
        other: &Self,
        known: &[GrammarField],
        context: &mut CaptureContext<'_>,
        is_wanted: impl Fn(&Entry, Values<'_>, Values<'_>) -> bool,
    ) {
        for index in 0..other.entries.len() {
            let Some(entry) = other.entry(index, context.memory) else {
                break;
            };
            let field = known.get(usize::from(entry.field));
            // PERF: not asked for members of lists, which may be many.
            let is_list =
                field.is_some_and(|field| matches!(field.kind, FieldKind::List | FieldKind::Files));
            let [own, new] = [&*self, other].map(|one| one.values(context.memory));
            if is_list || is_wanted(&entry, own, new) {
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
            What::Count(count) if is_list => self.add_count(entry.field, count, context),
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
