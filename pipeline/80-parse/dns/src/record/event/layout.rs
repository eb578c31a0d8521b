//! The lists of an event in one array of values.

use super::columns::{ADDITIONALS, ANSWERS, AUTHORITIES, GROUPS, LISTS, QUERIES};
use super::contents::{SOA, SRV, SSHFP, common_of, kind, lower, special_values};
use super::typed::is_typed;
use crate::wire::cursor::Cursor;
use crate::wire::message::{Parsed, Record, Section};
use core::ops::Range;
use flowpin_record::Value;

/// Position of each list in the array of all values: EDNS options, queries, answers, authorities,
/// additionals, groups.
// PERF: the lists share one allocation, and lists without values take none of it: most messages use
// few of the 50.
pub(super) struct Layout {
    pub(super) lists: [List; LISTS],
    pub(super) total: usize,
}

#[derive(Clone, Copy, Default)]
pub(super) struct List {
    from: u32,
    pub(super) len: u32,
}

impl List {
    pub(super) fn of<'v, 'a>(&self, all: &'v [Value<'a>]) -> &'v [Value<'a>] {
        let from = self.from as usize;
        all.get(from..from.saturating_add(self.len as usize))
            .unwrap_or_default()
    }
}

/// Indices of the lists.
const OPTIONS_AT: usize = 0;
const QUERIES_AT: usize = 1;
const SECTIONS_AT: [usize; 3] = [
    QUERIES_AT + QUERIES,
    QUERIES_AT + QUERIES + ANSWERS,
    QUERIES_AT + QUERIES + ANSWERS + AUTHORITIES,
];
const SECTIONS: [usize; 3] = [ANSWERS, AUTHORITIES, ADDITIONALS];
const GROUPS_AT: usize = QUERIES_AT + QUERIES + ANSWERS + AUTHORITIES + ADDITIONALS;

/// What differs between protocols, and between messages.
#[derive(Clone, Copy)]
pub(super) struct Form {
    /// A protocol of the link: what [`super::typed`] tells is not told again.
    pub(super) is_typed: bool,
    /// Each string of a text is a record of its own.
    pub(super) divides: bool,
}

impl Layout {
    pub(super) fn of(parsed: &Parsed, message: &[u8], form: Form) -> Self {
        let mut layout = Self {
            lists: [List::default(); LISTS],
            total: 0,
        };
        layout.add(OPTIONS_AT, 0..1, parsed.options.len());
        layout.add(QUERIES_AT, 0..QUERIES, parsed.questions.len());
        let mut counts = [0usize; 3];
        let mut special = [[false; 3]; 3];
        let mut grouped = [0usize; GROUPS];
        for record in &parsed.records {
            let section = record.section as usize;
            if let (Some(count), Some(special)) =
                (counts.get_mut(section), special.get_mut(section))
            {
                *count = count.saturating_add(parts_of(record, message, form.divides));
                let at = special_of(record, form);
                if let Some(special) = at.and_then(|at| special.get_mut(at)) {
                    *special = true;
                }
            }
            if let Some(count) = group_of(record, form).and_then(|at| grouped.get_mut(at)) {
                *count = count.saturating_add(parts_of(record, message, form.divides));
            }
        }
        // PERF: by reference, because a copy of the counts stalls on the partial writes just before
        // it.
        for (((&at, &width), &count), special) in
            SECTIONS_AT.iter().zip(&SECTIONS).zip(&counts).zip(&special)
        {
            if count == 0 {
                continue;
            }
            layout.add(at, 0..COMMON, count);
            for (columns, _) in SPECIAL.into_iter().zip(special).filter(|(_, is)| **is) {
                if columns.end <= width {
                    layout.add(at, columns, count);
                }
            }
        }
        for (at, &count) in grouped.iter().enumerate() {
            layout.add(GROUPS_AT, at..at.saturating_add(1), count);
        }
        layout
    }

    /// Reserves `len` values in each of the lists `lists`, relative to `at`.
    #[inline]
    fn add(&mut self, at: usize, lists: Range<usize>, len: usize) {
        if len == 0 {
            return;
        }
        let lists = at.saturating_add(lists.start)..at.saturating_add(lists.end);
        for list in self.lists.get_mut(lists).unwrap_or_default() {
            *list = List {
                from: u32::try_from(self.total).unwrap_or(u32::MAX),
                len: u32::try_from(len).unwrap_or(0),
            };
            self.total = self.total.saturating_add(len);
        }
    }

    /// Converts the types in mDNS questions to lower case, as Suricata does.
    pub(super) fn lower_query_types(&self, all: &mut [Value<'_>]) {
        let Some(list) = self.lists.get(QUERIES_AT.saturating_add(1)) else {
            return;
        };
        let from = list.from as usize;
        let types = all.get_mut(from..from.saturating_add(list.len as usize));
        for value in types.unwrap_or_default() {
            if let Value::Text(name) = value {
                *value = Value::Text(lower(name));
            }
        }
    }

    fn put<'a>(&self, all: &mut [Value<'a>], list: usize, row: usize, value: Value<'a>) {
        let list = self.lists.get(list).filter(|list| row < list.len as usize);
        let place = list.and_then(|list| all.get_mut((list.from as usize).saturating_add(row)));
        if let Some(place) = place {
            *place = value;
        }
    }

    pub(super) fn fill<'a>(
        &self,
        all: &mut [Value<'a>],
        parsed: &'a Parsed,
        message: &'a [u8],
        form: Form,
    ) {
        for (row, option) in parsed.options.iter().enumerate() {
            self.put(all, OPTIONS_AT, row, Value::Bytes(parsed.text(*option)));
        }
        for (row, question) in parsed.questions.iter().enumerate() {
            let name = Value::Bytes(parsed.text(question.name.text));
            self.put(all, QUERIES_AT, row, name);
            let kind = kind(parsed, question.kind, question.kind_text);
            self.put(all, QUERIES_AT + 1, row, kind);
        }
        let mut rows = [0usize; 3];
        let mut grouped = [0usize; GROUPS];
        for record in &parsed.records {
            let section = record.section as usize;
            let (Some(row), Some(&at), Some(&width)) = (
                rows.get_mut(section),
                SECTIONS_AT.get(section),
                SECTIONS.get(section),
            ) else {
                continue;
            };
            let mut common = common_of(parsed, record, message);
            if form.is_typed && is_typed(record) {
                let [.., contents] = &mut common;
                *contents = Value::Unset;
            }
            if parts_of(record, message, form.divides) > 1 {
                let group = group_of(record, form).filter(|_| section == Section::Answer as usize);
                for string in strings_of(record, message) {
                    let [.., contents] = &mut common;
                    *contents = Value::Bytes(string);
                    for (column, value) in common.into_iter().enumerate() {
                        self.put(all, at.saturating_add(column), *row, value);
                    }
                    *row = row.saturating_add(1);
                    if let Some((group, row)) =
                        group.and_then(|group| Some((group, grouped.get_mut(group)?)))
                    {
                        let list = GROUPS_AT.saturating_add(group);
                        self.put(all, list, *row, Value::Bytes(string));
                        *row = row.saturating_add(1);
                    }
                }
                continue;
            }
            for (column, value) in common.into_iter().enumerate() {
                self.put(all, at.saturating_add(column), *row, value);
            }
            if let Some(columns) = special_of(record, form).and_then(|at| SPECIAL.get(at))
                && columns.end <= width
            {
                let values = special_values(parsed, record, message);
                for (column, value) in columns.clone().zip(values) {
                    self.put(all, at.saturating_add(column), *row, value);
                }
            }
            *row = row.saturating_add(1);
            if let Some(group) = group_of(record, form)
                && let Some(row) = grouped.get_mut(group)
            {
                let [.., contents] = common;
                self.put(all, GROUPS_AT.saturating_add(group), *row, contents);
                *row = row.saturating_add(1);
            }
        }
    }
}

/// Columns of every record: name, type, time to live, contents.
pub(super) const COMMON: usize = 4;
/// Columns of SOA, SRV and SSHFP among those of an answer.
const SPECIAL: [Range<usize>; 3] = [4..11, 11..15, 15..18];
/// SOA has the most.
pub(super) const SPECIAL_MAX: usize = 7;

/// Returns the index of a record's type in [`SPECIAL`].
const fn special_of(record: &Record, form: Form) -> Option<usize> {
    match record.kind {
        SOA => Some(0),
        SRV if !form.is_typed => Some(1),
        SSHFP => Some(2),
        _ => None,
    }
}

/// Returns how many records an event has of one: as many as a text has strings, as Suricata.
#[inline]
fn parts_of(record: &Record, message: &[u8], divides: bool) -> usize {
    if record.kind != TXT || !divides || record.rdata.is_bad {
        return 1;
    }
    // Of so many strings, one record has all.
    let count = strings_of(record, message)
        .take(PARTS_MAX.saturating_add(1))
        .count();
    if (2..=PARTS_MAX).contains(&count) {
        count
    } else {
        1
    }
}

const PARTS_MAX: usize = 64;

/// Returns whether a message's texts have so few strings that each may be a record of its own: a
/// message of 64 KiB can have 55,000, and an event of as many answers would be a hundred times its
/// size.
pub(super) fn may_divide(parsed: &Parsed, message: &[u8]) -> bool {
    let texts = parsed.records.iter().filter(|record| record.kind == TXT);
    let strings = texts.flat_map(|record| strings_of(record, message));
    strings.take(STRINGS_MAX.saturating_add(1)).count() <= STRINGS_MAX
}

/// As many as a message's records that are shown.
const STRINGS_MAX: usize = 1024;

/// Returns the strings of a text.
fn strings_of<'m>(record: &Record, message: &'m [u8]) -> impl Iterator<Item = &'m [u8]> {
    let raw = record.rdata.raw.range();
    let mut cursor = Cursor::new(message, raw.start, raw.end);
    core::iter::from_fn(move || cursor.string().ok())
}

const TXT: u16 = 16;

/// Returns the group for the contents of an answer: see [`GROUPS`]. Prerequisites of an update have
/// no contents (RFC 2136 §2.4); they are in no group, nor are contents that violate the rules of
/// their type.
#[inline]
fn group_of(record: &Record, form: Form) -> Option<usize> {
    if form.is_typed {
        return None;
    }
    if record.section != Section::Answer || record.rdata.is_bad || record.rdata.raw.len() == 0 {
        return None;
    }
    Some(match record.kind {
        1 => 0,
        28 => 1,
        5 => 2,
        15 => 3,
        2 => 4,
        12 => 5,
        16 => 6,
        10 => 7,
        _ => return None,
    })
}
