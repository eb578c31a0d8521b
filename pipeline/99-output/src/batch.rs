//! What a worker hands over: finished text of records, and the typed records for Parquet.
//!
//! ```text
//!  entries  │ key, type, lengths, ─┐ │ …            sorted by key
//!  text     │ EVE │ Zeek │ CSV │ ◄─┘ EVE │ …        one record's texts lie together
//!  rows     │ ConnRow │ …                           only for Parquet
//! ```

use crate::messages::Messages;
use crate::text::TextBuffer;
use core::cmp::Ordering;
use flowpin_packet::Timestamp;
use flowpin_record::{
    AnomalyRecord, ConnRow, FloodRecord, HostPairRecord, RecordKey, RecordType, ScanRecord,
    TunnelRecord,
};

/// A format whose records are text, by its place in a record's texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum TextFormat {
    /// EVE JSON.
    Eve,
    /// Zeek, separated by tabs.
    ZeekTsv,
    /// Zeek, JSON lines.
    ZeekJson,
    /// Comma-separated values.
    Csv,
}

impl TextFormat {
    /// How many there are.
    pub(crate) const COUNT: usize = 4;

    /// How its files' names end.
    pub(crate) const fn extension(self) -> &'static str {
        match self {
            Self::Eve | Self::ZeekJson => "json",
            Self::ZeekTsv => "log",
            Self::Csv => "csv",
        }
    }
}

/// How long a record's texts are, 16 bits for each format.
// PERF: one number. Of an array, each length is stored by itself and all are copied to the entry's
// place in one; such a load waits for all stores before it, those of the record's text: 113 cycles
// a record (EPYC).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TextLens(u64);

impl TextLens {
    /// With the length of one text more. A line's is far below `u16::MAX`.
    #[inline]
    pub(crate) fn with(self, format: TextFormat, len: usize) -> Self {
        const { assert!(crate::text::LINE_LEN_MAX <= u16::MAX as usize) };
        let len = u16::try_from(len).unwrap_or(u16::MAX);
        Self(self.0 | u64::from(len) << (16 * format as u32))
    }

    /// One text's.
    #[inline]
    pub(crate) fn of(self, format: TextFormat) -> usize {
        usize::from((self.0 >> (16 * format as u32)) as u16)
    }

    /// That of all texts before a format's.
    #[inline]
    fn before(self, format: TextFormat) -> usize {
        let rest = 64 - 16 * format as u32;
        Self(self.0.checked_shl(rest).unwrap_or(0)).sum()
    }

    /// All together.
    #[inline]
    pub(crate) fn sum(self) -> usize {
        let halves = (self.0 & 0xffff_0000_ffff) + (self.0 >> 16 & 0xffff_0000_ffff);
        ((halves + (halves >> 32)) & 0xffff_ffff) as usize
    }
}

/// Records of one worker, complete up to a watermark and sorted by key.
///
/// Send it back to its formatter once it is merged ([`crate::Formatter::recycle`]): its memory is
/// used again.
#[derive(Debug, Default)]
pub struct RecordBatch {
    pub(crate) entries: Vec<Entry>,
    pub(crate) text: TextBuffer,
    pub(crate) rows: Rows,
    pub(crate) watermark: RecordKey,
    pub(crate) built: [u64; RecordType::COUNT],
    /// Messages among these, by their schema's number; empty if there are none.
    pub(crate) built_messages: Vec<u64>,
    /// Memory of what travels with it.
    pub(crate) companion_bytes: usize,
}

/// A record as it is written.
#[derive(Clone, Copy, Debug)]
pub struct RecordLine<'a> {
    /// Its place in the output.
    pub key: RecordKey,
    /// What it is of.
    pub record_type: RecordType,
    /// Its connection, tunnel or scan; of an anomaly the number of its packet.
    pub uid: u64,
    /// Of a message: its schema's number among those of the formatter.
    pub schema: Option<usize>,
    /// By the name of each format: its text, with the end of the line; empty if it has none.
    pub texts: [(&'static str, &'a [u8]); TextFormat::COUNT],
}

/// The formats that are text, as `--format` calls them.
const TEXTS: [(&str, TextFormat); TextFormat::COUNT] = [
    ("eve", TextFormat::Eve),
    ("zeek", TextFormat::ZeekTsv),
    ("zeek-json", TextFormat::ZeekJson),
    ("csv", TextFormat::Csv),
];

impl RecordBatch {
    /// How many records are in it.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether no record is in it.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Up to where the worker has delivered everything.
    pub fn watermark(&self) -> RecordKey {
        self.watermark
    }

    /// A batch of no records: all up to `watermark` are delivered.
    pub fn none_up_to(watermark: RecordKey) -> Self {
        Self {
            watermark,
            ..Self::default()
        }
    }

    /// How much memory it has, and what travels with it.
    pub fn bytes(&self) -> usize {
        let entries = self.entries.capacity() * size_of::<Entry>();
        let texts_and_rows = self.text.capacity() + self.rows.bytes();
        entries + texts_and_rows + self.companion_bytes
    }

    /// How much memory its records need.
    #[inline]
    pub(crate) fn len_bytes(&self) -> usize {
        self.text.len() + size_of_val(self.entries.as_slice()) + self.rows.bytes()
    }

    /// Leaves out the records before `from`, and those from `until` on.
    pub fn keep_between(&mut self, from: Timestamp, until: Timestamp) {
        let is_kept = |entry: &Entry| from <= entry.key.time && entry.key.time < until;
        self.entries.retain(is_kept);
    }

    /// Something of this size travels with the batch, and is needed until all sources have
    /// delivered as much: so long the batch stays in the merger.
    pub const fn set_companion_bytes(&mut self, bytes: usize) {
        self.companion_bytes = bytes;
    }

    /// How many records of each type the worker built since its last batch, written or not.
    pub fn built(&self) -> [u64; RecordType::COUNT] {
        self.built
    }

    /// Its connections take the place of others, which were counted when they were built.
    pub fn forget_built_connections(&mut self) {
        for record_type in [RecordType::Conn, RecordType::ConnLong] {
            if let Some(built) = self.built.get_mut(record_type as usize) {
                *built = 0;
            }
        }
    }

    /// The records as text, in order: for showing what is written, and why.
    pub fn lines(&self) -> impl Iterator<Item = RecordLine<'_>> {
        (0..self.entries.len()).filter_map(|index| {
            let record = self.record(index)?;
            Some(RecordLine {
                key: record.entry.key,
                record_type: record.entry.record_type,
                uid: record.entry.tie,
                schema: (record.entry.record_type == RecordType::Message)
                    .then(|| usize::from(self.rows.messages.row(record.entry.row).schema)),
                texts: TEXTS.map(|(name, format)| (name, record.text(format))),
            })
        })
    }

    pub(crate) fn clear(&mut self) {
        self.entries.clear();
        self.text.clear();
        self.rows.clear();
        self.watermark = RecordKey::default();
        self.built = [0; RecordType::COUNT];
        self.built_messages.clear();
        self.companion_bytes = 0;
    }

    /// Moves the entries from `first` on to the end of `to`, with their text and rows.
    pub(crate) fn move_tail(&mut self, first: usize, to: &mut Self) {
        for entry in self.entries.drain(first..) {
            let offset = to.text.len();
            to.text.extend(entry.text_in(&self.text, &self.rows));
            let row = to.rows.adopt(&self.rows, &entry);
            to.entries.push(Entry {
                offset,
                row,
                ..entry
            });
        }
    }

    /// One record, to be written.
    #[inline]
    pub(crate) fn record(&self, index: usize) -> Option<RecordRef<'_>> {
        let entry = self.entries.get(index)?;
        Some(RecordRef {
            entry,
            text: entry.text_in(&self.text, &self.rows),
            rows: &self.rows,
        })
    }
}

/// One record of a batch: its place in the output, and where its texts are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) key: RecordKey,
    /// Orders records of one key and type, should there ever be such: their identifier.
    pub(crate) tie: u64,
    pub(crate) offset: usize,
    /// How long its texts are; of a message see its row.
    pub(crate) lens: TextLens,
    pub(crate) row: u32,
    pub(crate) record_type: RecordType,
}

impl Entry {
    /// The order of the output: by key; ties, which should not be, by type and identifier.
    #[inline]
    pub(crate) fn order(&self, other: &Self) -> Ordering {
        let rank = |entry: &Self| (entry.record_type, entry.tie);
        self.key
            .cmp(&other.key)
            .then_with(|| rank(self).cmp(&rank(other)))
    }

    fn text_in<'a>(&self, text: &'a TextBuffer, rows: &Rows) -> &'a [u8] {
        let len: usize = if self.record_type == RecordType::Message {
            let lens = rows.messages.lens(self.row);
            lens.iter().map(|&len| len as usize).sum()
        } else {
            self.lens.sum()
        };
        text.as_slice()
            .get(self.offset..self.offset + len)
            .unwrap_or_default()
    }
}

/// The typed records of a batch.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    pub(crate) conns: Vec<ConnRow>,
    pub(crate) anomalies: Vec<AnomalyRecord>,
    pub(crate) tunnels: Vec<TunnelRecord>,
    pub(crate) scans: Vec<ScanRecord>,
    pub(crate) floods: Vec<FloodRecord>,
    pub(crate) host_pairs: Vec<HostPairRecord>,
    pub(crate) messages: Messages,
}

impl Rows {
    #[inline]
    fn bytes(&self) -> usize {
        self.messages.bytes()
            + size_of_val(self.conns.as_slice())
            + size_of_val(self.anomalies.as_slice())
            + size_of_val(self.tunnels.as_slice())
            + size_of_val(self.scans.as_slice())
            + size_of_val(self.floods.as_slice())
            + size_of_val(self.host_pairs.as_slice())
    }

    fn clear(&mut self) {
        self.conns.clear();
        self.anomalies.clear();
        self.tunnels.clear();
        self.scans.clear();
        self.floods.clear();
        self.host_pairs.clear();
        self.messages.clear();
    }

    /// Copies the row of `entry`, if there is one, and returns its new place.
    fn adopt(&mut self, from: &Self, entry: &Entry) -> u32 {
        let index = entry.row as usize;
        match entry.record_type {
            RecordType::Conn | RecordType::ConnLong => adopt(&mut self.conns, &from.conns, index),
            RecordType::Anomaly => adopt(&mut self.anomalies, &from.anomalies, index),
            RecordType::Tunnel => adopt(&mut self.tunnels, &from.tunnels, index),
            RecordType::Scan => adopt(&mut self.scans, &from.scans, index),
            RecordType::Flood => adopt(&mut self.floods, &from.floods, index),
            RecordType::HostPair => adopt(&mut self.host_pairs, &from.host_pairs, index),
            RecordType::Message => self.messages.adopt(&from.messages, entry.row),
        }
    }
}

fn adopt<R: Clone>(to: &mut Vec<R>, from: &[R], index: usize) -> u32 {
    push_row(to, from.get(index).cloned())
}

/// The place of a record that Parquet does not have.
pub(crate) const NO_ROW: u32 = u32::MAX;

/// Appends a row, if there is one, and returns its place.
pub(crate) fn push_row<R>(rows: &mut Vec<R>, row: Option<R>) -> u32 {
    let Some(row) = row else {
        return NO_ROW;
    };
    let index = u32::try_from(rows.len()).unwrap_or(NO_ROW);
    rows.push(row);
    index
}

/// A record on its way to the files.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordRef<'a> {
    pub(crate) entry: &'a Entry,
    text: &'a [u8],
    pub(crate) rows: &'a Rows,
}

impl<'a> RecordRef<'a> {
    /// The record's stream time.
    pub(crate) fn time(&self) -> Timestamp {
        self.entry.key.time
    }

    /// Its text in one format.
    #[inline]
    pub(crate) fn text(&self, format: TextFormat) -> &'a [u8] {
        if self.entry.record_type == RecordType::Message {
            let lens = self.rows.messages.lens(self.entry.row);
            return part(self.text, &lens, format as usize);
        }
        let lens = self.entry.lens;
        let (start, len) = (lens.before(format), lens.of(format));
        self.text.get(start..start + len).unwrap_or_default()
    }

    /// How many bytes its texts have in all formats.
    #[inline]
    pub(crate) fn text_len(&self) -> usize {
        self.text.len()
    }
}

/// One of several texts that lie together.
fn part<'a>(text: &'a [u8], lens: &[u32], index: usize) -> &'a [u8] {
    let (before, rest) = lens.split_at_checked(index).unwrap_or_default();
    let start: usize = before.iter().map(|&len| len as usize).sum();
    let len = rest.first().map_or(0, |&len| len as usize);
    text.get(start..start + len).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{TextFormat, TextLens};

    /// Each format's text lies behind those before it, the longest ones too.
    #[test]
    fn lengths_come_back() {
        let formats = [
            (TextFormat::Eve, 4096),
            (TextFormat::ZeekTsv, 0),
            (TextFormat::ZeekJson, 65_535),
            (TextFormat::Csv, 65_535),
        ];
        let mut lens = TextLens::default();
        for (format, len) in formats {
            lens = lens.with(format, len);
        }
        let mut before = 0;
        for (format, len) in formats {
            assert_eq!((lens.before(format), lens.of(format)), (before, len));
            before += len;
        }
        assert_eq!(lens.sum(), before);
    }
}
