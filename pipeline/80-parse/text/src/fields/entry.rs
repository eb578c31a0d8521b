//! Captured values as words in memory, and how they are read.

use flowpin_lexer::{FieldId, FieldKind};
use flowpin_record::Value;

/// A field's value, or one member of its list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) field: FieldId,
    pub(super) what: What,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    Count(u64),
    /// Start and end in the bytes.
    Text(u32, u32),
}

impl Entry {
    /// As two words: the field, and whether it is a text; then its value.
    #[inline]
    pub(super) const fn pack(self) -> [u64; 2] {
        let field = (self.field as u64) << 1;
        match self.what {
            What::Count(count) => [field, count],
            What::Text(from, to) => [field | 1, (to as u64) << 32 | from as u64],
        }
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "what was packed")]
    pub(super) const fn unpack([field, value]: [u64; 2]) -> Self {
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
    pub(super) entries: &'a [[u64; 2]],
    pub(super) bytes: &'a [u8],
}

impl<'a> Values<'a> {
    #[inline]
    pub(super) fn entries(self, field: FieldId) -> impl Iterator<Item = What> + use<'a> {
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

    /// The counts of a field, in order.
    pub(crate) fn counts(self, field: FieldId) -> impl Iterator<Item = u64> + use<'a> {
        self.entries(field).filter_map(|what| match what {
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

    /// The field's value; `None` for a list, which has [`texts`](Self::texts) or
    /// [`counts`](Self::counts) instead.
    pub(crate) fn value(self, field: FieldId, kind: FieldKind) -> Option<Value<'a>> {
        match kind {
            FieldKind::Count => self.count(field).map(Value::Count),
            FieldKind::Flag => self.count(field).map(|count| Value::Bool(count > 0)),
            FieldKind::Text => self.texts(field).next().map(Value::Bytes),
            FieldKind::List | FieldKind::Files => None,
        }
    }
}
