//! Texts and fields of heads that are kept for records.

use crate::parser::turn::Turn;
use crate::state::{Part, Text};
use crate::syntax::trimmed;
use flowpin_counters::Loss;
use flowpin_record::MessageSink;

impl<S: MessageSink> Turn<'_, S> {
    /// Keeps a text for the record, if records are read; the first of a kind counts.
    #[inline]
    pub(crate) fn keep(&mut self, text: Text, value: &[u8]) {
        if self.sink.reads(self.pools.schema) {
            self.keep_always(text, value);
        }
    }

    /// Keeps a text, whether records are read or not.
    pub(crate) fn keep_always(&mut self, text: Text, value: &[u8]) {
        let Some(transaction) = self.pools.transactions.get_mut(self.mine.transaction) else {
            return;
        };
        if value.is_empty() || !transaction.part(text).is_empty() {
            return;
        }
        let kept = value
            .get(..usize::from(self.options.value_bytes_max))
            .unwrap_or(value);
        let start = transaction.texts.len();
        let room = usize::from(u16::MAX).saturating_sub(start as usize);
        let kept = kept.get(..room).unwrap_or(kept);
        let count = self
            .pools
            .texts
            .append(&mut transaction.texts, self.queue.shard, kept);
        if let (Some(part), Some(place)) = (
            Part::new(start, count),
            transaction.parts.get_mut(text as usize),
        ) {
            *place = part;
        }
        if count < value.len() {
            self.pools.losses.count(Loss::HttpTexts, 1);
        }
    }

    /// Adds a field that a proxy added.
    pub(super) fn keep_proxied(&mut self, name: &[u8], value: &[u8]) {
        if !self.sink.reads(self.pools.schema) {
            return;
        }
        let shard = self.queue.shard;
        if let Some(transaction) = self.pools.transactions.get_mut(self.mine.transaction) {
            let parts = [name, b" -> ", value];
            if !self
                .pools
                .texts
                .append_item(&mut transaction.proxied, shard, &parts)
            {
                self.pools.losses.count(Loss::HttpTexts, 1);
            }
        }
    }

    /// Adds a field to the list of all fields.
    pub(super) fn keep_field(&mut self, name: &[u8], value: &[u8]) {
        let shard = self.queue.shard;
        if let Some(transaction) = self.pools.transactions.get_mut(self.mine.transaction) {
            let [request, response] = &mut transaction.fields;
            let list = if self.to_server { request } else { response };
            for part in [name, trimmed(value)] {
                if !self.pools.texts.append_item(list, shard, &[part]) {
                    self.pools.losses.count(Loss::HttpTexts, 1);
                }
            }
        }
    }
}
