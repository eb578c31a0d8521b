//! From records to text, on the worker.
//!
//! ```text
//!  flow ──conn(key, record)──► Formatter ──┬─ EVE text ──┐
//!                                          ├─ Zeek text ─┼─► held, until the watermark passes
//!                                          └─ typed row ─┘        │ take_batch: sorted by key
//!                                                                 ▼
//!                              merger ◄────────────────────── RecordBatch
//! ```
//!
//! Owns the buffers; they go out with a batch and come home for reuse, so that a worker allocates
//! only while they grow. Guarantees that a batch holds every record up to its watermark and none
//! behind it. Does not merge and does not write files.

mod columns;
mod community_ids;
mod escape;
mod eve;
mod formats;
mod interfaces;
mod message;
mod schemas;
mod sink;
mod sorter;
#[cfg(test)]
mod tests;

pub(crate) use columns::{csv_header, flat_name, zeek_footer, zeek_header, zeek_header_of};
pub(crate) use escape::plain_text;
pub(crate) use eve::{FIELDS as EVE_FIELDS, MESSAGE_FIELDS as MESSAGE_EVE_FIELDS};
pub(crate) use formats::Formats;
pub(crate) use message::comma_parts;
pub use schemas::MessageSchemas;
pub(crate) use schemas::{Field as MessageField, Ready as ReadySchema};

use crate::batch::{Entry, RecordBatch, TextFormat, TextLens};
use crate::text::DateCache;
use community_ids::CommunityIds;
use flowpin_config::OutputPlan;
use flowpin_packet::{InterfaceNames, Timestamp};
use flowpin_record::{MessageSchema, RecordKey, RecordType, Row, Shown};
use interfaces::Interfaces;
use sorter::Sorter;

/// Formats one worker's records and holds them until the watermark has passed them.
#[derive(Debug)]
pub struct Formatter {
    formats: Formats,
    community_seed: Option<u16>,
    dates: DateCache,
    hold: RecordBatch,
    /// The least key in `hold`.
    earliest: RecordKey,
    /// Records since the last batch, by type.
    built: [u64; RecordType::COUNT],
    schemas: MessageSchemas,
    interfaces: Interfaces,
    /// Messages since the last batch, by schema.
    built_messages: Vec<u64>,
    /// The kind of message that came last: often the next one's too.
    last_schema: usize,
    ids: CommunityIds,
    sorter: Sorter,
    spare: Vec<RecordBatch>,
}

impl Formatter {
    /// A formatter for the formats of `plan`.
    pub fn new(plan: &OutputPlan) -> Self {
        Self {
            formats: Formats::of(plan),
            community_seed: plan.community_id.then_some(plan.community_seed),
            dates: DateCache::default(),
            hold: RecordBatch::default(),
            earliest: RecordKey::LAST,
            built: [0; RecordType::COUNT],
            schemas: MessageSchemas::default(),
            interfaces: Interfaces::default(),
            built_messages: Vec::new(),
            last_schema: 0,
            ids: CommunityIds::new(plan.community_id.then_some(plan.community_seed)),
            sorter: Sorter::default(),
            spare: Vec::new(),
        }
    }

    /// A formatter that takes messages of these kinds, too; others are not written.
    pub fn with_messages(plan: &OutputPlan, schemas: &MessageSchemas) -> Self {
        Self {
            schemas: schemas.clone(),
            ..Self::new(plan)
        }
    }

    /// From here on it takes messages of these kinds, too.
    pub fn take_messages(&mut self, schemas: &MessageSchemas) {
        self.schemas = schemas.clone();
    }

    /// Records that follow carry numbers of interfaces with these names.
    pub fn name_interfaces(&mut self, names: &InterfaceNames) {
        self.interfaces = Interfaces::new(names.clone());
    }

    /// Hands over all records with a time up to and including `watermark`, sorted by key.
    ///
    /// The caller guarantees that none of them will come any more. Time 0 promises nothing: who
    /// has delivered what lies before the first moment has delivered no record.
    pub fn take_batch(&mut self, watermark: Timestamp) -> RecordBatch {
        self.take_batch_up_to(RecordKey::last_at(watermark))
    }

    /// Hands over all records up to and including `watermark`, sorted by key.
    ///
    /// A finer watermark than [`Formatter::take_batch`]'s, for a stream whose time stands still.
    pub fn take_batch_up_to(&mut self, watermark: RecordKey) -> RecordBatch {
        let mut batch = RecordBatch::default();
        if self.earliest <= watermark && !self.hold.is_empty() {
            batch = self.spare.pop().unwrap_or_default();
            self.sorter.sort(&mut self.hold.entries);
            let count = self
                .hold
                .entries
                .partition_point(|entry| entry.key <= watermark);
            self.hold.move_tail(count, &mut batch);
            core::mem::swap(&mut self.hold, &mut batch);
            self.earliest = self
                .hold
                .entries
                .first()
                .map_or(RecordKey::LAST, |entry| entry.key);
        }
        batch.built = core::mem::take(&mut self.built);
        batch.built_messages = core::mem::take(&mut self.built_messages);
        batch.watermark = watermark;
        batch
    }

    /// Hands over all records, up to the last one's key: where no earlier one can follow.
    pub fn take_all(&mut self) -> RecordBatch {
        let mut batch = self.take_batch_up_to(RecordKey::LAST);
        batch.watermark = batch
            .entries
            .last()
            .map_or(RecordKey::default(), |entry| entry.key);
        batch
    }

    /// Takes a merged batch home, so that its memory is used again.
    pub fn recycle(&mut self, mut batch: RecordBatch) {
        // Ticks without a record are many; their batches never had memory. A flood's have too much.
        let useful = batch.entries.capacity() > 0 && batch.text.capacity() <= SPARE_BYTES_MAX;
        if self.spare.len() < SPARE_MAX && useful {
            batch.clear();
            self.spare.push(batch);
        }
    }

    /// Whether messages of this kind are written.
    pub fn takes(&self, schema: &MessageSchema) -> bool {
        self.formats.with(schema.shown).any() && self.schemas.number(schema, 0).is_some()
    }

    /// How much memory the records take that wait for the watermark.
    #[inline]
    pub fn held_bytes(&self) -> usize {
        self.hold.len_bytes()
    }

    /// Whether no record waits.
    pub fn is_empty(&self) -> bool {
        self.hold.is_empty()
    }

    /// Where the next record's texts will be.
    #[inline]
    fn place(&self) -> Place {
        Place {
            offset: self.hold.text.len(),
            lens: TextLens::default(),
            row: 0,
        }
    }

    /// Puts a record's entry down.
    // PERF: put together here, of values in registers: see [`TextLens`].
    #[inline]
    fn push(&mut self, key: RecordKey, what: (RecordType, u64), place: Place) {
        let (record_type, tie) = what;
        let Place { offset, lens, row } = place;
        self.earliest = self.earliest.min(key);
        self.hold.entries.push(Entry {
            key,
            tie,
            offset,
            lens,
            row,
            record_type,
        });
    }

    /// Writes a record in the formats that go by columns.
    fn put_columns<R: Row>(&mut self, row: &R, lens: TextLens) -> TextLens {
        let mut lens = self.put_zeek(row, lens);
        let (text, dates) = (&mut self.hold.text, &mut self.dates);
        if self.formats.csv {
            let len = text.line(|line| columns::csv(line, dates, row));
            lens = lens.with(TextFormat::Csv, len);
        }
        lens
    }

    /// Writes a record in Zeek's formats.
    fn put_zeek<R: Row>(&mut self, row: &R, mut lens: TextLens) -> TextLens {
        let text = &mut self.hold.text;
        if self.formats.zeek_tsv {
            let len = text.line(|line| columns::zeek_tsv(line, row));
            lens = lens.with(TextFormat::ZeekTsv, len);
        }
        if self.formats.zeek_json {
            let len = text.line(|line| columns::zeek_json(line, row));
            lens = lens.with(TextFormat::ZeekJson, len);
        }
        lens
    }

    /// Counts a message, also where no format shows it; the number of its schema.
    fn count_schema(&mut self, schema: &MessageSchema) -> Option<usize> {
        let Some(number) = self.schemas.number(schema, self.last_schema) else {
            debug_assert!(false, "messages of an unknown kind");
            return None;
        };
        self.last_schema = number;
        // Where there are events and columns of the same, the events are counted.
        if !matches!(schema.shown, Shown::InColumns | Shown::InZeek) {
            self.count_message(number);
        }
        if !self.formats.any() || self.formats.with(schema.shown).any() {
            self.count(RecordType::Message);
        }
        Some(number)
    }

    fn count_message(&mut self, schema: usize) {
        if self.built_messages.len() <= schema {
            self.built_messages.resize(self.schemas.len(), 0);
        }
        if let Some(count) = self.built_messages.get_mut(schema) {
            *count += 1;
        }
    }

    fn count(&mut self, record_type: RecordType) {
        if let Some(count) = self.built.get_mut(record_type as usize) {
            *count += 1;
        }
    }
}

/// Where a record's texts and its row are.
#[derive(Clone, Copy)]
struct Place {
    offset: usize,
    lens: TextLens,
    row: u32,
}

/// Batches kept for reuse: those of a few ticks that are on their way.
const SPARE_MAX: usize = 2;

/// Batches of more text are given back to the system, so that one flood does not cost for ever.
const SPARE_BYTES_MAX: usize = 1 << 20;
