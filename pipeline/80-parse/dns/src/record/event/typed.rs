//! What the records of mDNS and LLMNR hold, in columns named by the records' types.

use super::contents::{SRV, contents, special_values};
use super::layout::SPECIAL_MAX;
use crate::wire::cursor::Cursor;
use crate::wire::message::{Parsed, Record};
use core::ops::Range;
use flowpin_record::Value;

/// Columns of a section: those of [`TYPES`], and four of SRV.
const WIDTH: usize = TYPES.len() + 4;
/// Columns of all sections.
pub(super) const TYPED: usize = 3 * WIDTH;

/// A, AAAA, CNAME, MX, NS, PTR, TXT.
const TYPES: [u16; 7] = [1, 28, 5, 15, 2, 12, TXT];
const TXT: u16 = 16;

/// Returns the first column of a record's type, and how many it has.
fn columns_of(record: &Record) -> Option<Range<usize>> {
    if record.rdata.is_bad {
        return None;
    }
    let first = match record.kind {
        SRV => TYPES.len(),
        kind => TYPES.iter().position(|&one| one == kind)?,
    };
    let count = if record.kind == SRV { 4 } else { 1 };
    let from = (record.section as usize).saturating_mul(WIDTH);
    let first = first.saturating_add(from);
    Some(first..first.saturating_add(count))
}

/// Whether a record's contents are in a column of its type.
pub(super) fn is_typed(record: &Record) -> bool {
    columns_of(record).is_some()
}

/// Appends the strings of all texts, record by record.
pub(super) fn put_strings<'a>(parsed: &Parsed, message: &'a [u8], out: &mut Vec<Value<'a>>) {
    for record in parsed.records.iter().filter(|one| one.kind == TXT) {
        let raw = record.rdata.raw.range();
        let mut strings = Cursor::new(message, raw.start, raw.end);
        // A string is one byte of the message at least, so the message limits them.
        while let Ok(string) = strings.string() {
            out.push(Value::Bytes(string));
        }
    }
}

/// Where each column's list is among all values.
pub(super) struct Lists([Range<usize>; TYPED]);

impl Lists {
    pub(super) fn get<'l, 'v>(&self, column: usize, all: &'l [Value<'v>]) -> &'l [Value<'v>] {
        let list = self.0.get(column).cloned().unwrap_or_default();
        all.get(list).unwrap_or_default()
    }
}

/// Appends the lists of the columns that records need: a place for each record of the section.
/// `strings`: those of [`put_strings`].
pub(super) fn put_lists<'a>(
    parsed: &'a Parsed,
    message: &[u8],
    mut strings: &'a [Value<'a>],
    all: &mut Vec<Value<'a>>,
) -> Lists {
    let mut lists = Lists([const { 0..0 }; TYPED]);
    let mut counts = [0usize; 3];
    for record in &parsed.records {
        if let Some(count) = counts.get_mut(record.section as usize) {
            *count = count.saturating_add(1);
        }
    }
    let mut rows = [0usize; 3];
    for record in &parsed.records {
        let section = record.section as usize;
        let (Some(row), Some(&count)) = (rows.get_mut(section), counts.get(section)) else {
            continue;
        };
        let at = *row;
        *row = row.saturating_add(1);
        let text = if record.kind == TXT {
            take_strings(record, message, &mut strings)
        } else {
            &[]
        };
        let Some(columns) = columns_of(record) else {
            continue;
        };
        let values = match record.kind {
            SRV => special_values(parsed, record, message),
            TXT => [Value::List(text); SPECIAL_MAX],
            _ => [contents(parsed, record, message); SPECIAL_MAX],
        };
        for (column, value) in columns.zip(values) {
            let Some(list) = lists.0.get_mut(column) else {
                continue;
            };
            if list.start == list.end {
                *list = all.len()..all.len().saturating_add(count);
                all.resize(list.end, Value::Unset);
            }
            let place = all.get_mut(list.start.saturating_add(at));
            place.into_iter().for_each(|place| *place = value);
        }
    }
    lists
}

/// The strings of the next text.
fn take_strings<'a>(
    record: &Record,
    message: &[u8],
    strings: &mut &'a [Value<'a>],
) -> &'a [Value<'a>] {
    let raw = record.rdata.raw.range();
    let mut cursor = Cursor::new(message, raw.start, raw.end);
    let mut count = 0usize;
    while cursor.string().is_ok() {
        count = count.saturating_add(1);
    }
    let (own, rest) = strings.split_at(count.min(strings.len()));
    *strings = rest;
    own
}
