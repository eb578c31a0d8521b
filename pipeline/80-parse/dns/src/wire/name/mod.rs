//! Domain names, with or without compression.
//!
//! RFC 1035 §4.1.4: a name is a sequence of labels, or labels and a pointer to the rest. Following
//! pointers is bounded: a name has at most 255 bytes and few pointers, wherever they lead. So
//! neither a loop nor a message full of pointers to one long name costs more than its text, which
//! has a cap of its own.
//!
//! ```text
//!  at 12   3www 7example 3org 0        a name, and its two suffixes
//!  at 29   c00c                        the same name: known, not followed
//!  at 45   4mail c010                  a label, and the suffix known from byte 16
//! ```

mod labels;
#[cfg(test)]
mod tests;
mod walk;

use super::text::ByteRange;
use core::num::NonZeroU32;
use labels::put_run;
pub(super) use walk::walk;

/// An error in a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BadName {
    /// The name reaches beyond the message.
    Truncated,
    /// The name has more pointers than any name needs: they form a loop or are costly on purpose.
    PointerLoop,
    /// The name is longer than 255 bytes.
    TooLong,
    /// The length of a label is above 63, and it is not a pointer.
    LabelType,
}

impl BadName {
    pub(crate) const fn event(self) -> &'static str {
        match self {
            Self::Truncated => "dns_truncated_name",
            Self::PointerLoop => "dns_pointer_loop",
            Self::TooLong => "dns_name_too_long",
            Self::LabelType => "dns_label_too_long",
        }
    }
}

/// A parsed name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Name {
    /// The text, if texts are wanted: the labels as spelled, separated by dots, without a final
    /// dot; a dot or backslash within a label gets a backslash (RFC 4343 §2.1). The text of the
    /// root is empty.
    pub(crate) text: ByteRange,
    wire: Wire,
}

// PERF: a name or its error is passed in two registers.
const _: () = assert!(size_of::<Result<Name, BadName>>() == 16);

/// Start of a name in the message; its length on the wire without pointers, including the length
/// byte of each label and the root; the number of pointers followed.
// PERF: one word, like `ByteRange`. Never 0: a name has at least one byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Wire(NonZeroU32);

impl Wire {
    const fn new(at: u16, len: u8, hops: u8) -> Self {
        let [low, high] = at.to_le_bytes();
        let word = u32::from_le_bytes([low, high, len, hops]);
        Self(match NonZeroU32::new(word) {
            Some(word) => word,
            None => NonZeroU32::MIN,
        })
    }

    const fn at(self) -> u16 {
        let [low, high, ..] = self.0.get().to_le_bytes();
        u16::from_le_bytes([low, high])
    }

    const fn len(self) -> u8 {
        let [_, _, len, _] = self.0.get().to_le_bytes();
        len
    }

    const fn hops(self) -> u8 {
        let [.., hops] = self.0.get().to_le_bytes();
        hops
    }
}

impl Name {
    /// Returns the length on the wire without pointers.
    pub(crate) fn wire_len(&self) -> usize {
        self.wire.len().into()
    }

    /// Returns the maximum length of the text: each byte may be escaped.
    pub(crate) fn text_len_max(&self) -> usize {
        self.wire_len().saturating_mul(2)
    }

    /// Returns the same name as seen through a pointer at `at`.
    #[inline]
    pub(super) fn pointed_at_from(&self, at: u16) -> Option<Self> {
        let hops = self.wire.hops().saturating_add(1);
        (hops <= HOPS_MAX).then(|| Self {
            text: self.text,
            wire: Wire::new(at, self.wire.len(), hops),
        })
    }

    /// Returns the suffix of the name that starts with the label at `at`, `before` bytes after its
    /// first label.
    #[inline]
    pub(super) fn suffix_at(&self, at: usize, before: u8) -> Option<Self> {
        let text = self.text.range();
        let from = text.start.saturating_add(before.into()).min(text.end);
        let len = self.wire.len().checked_sub(before)?;
        Some(Self {
            text: ByteRange::new(from, text.end),
            wire: Wire::new(u16::try_from(at).ok()?, len, self.wire.hops()),
        })
    }

    /// Returns length and pointers of a longer name that ends with this one; `None` if either is
    /// too large.
    fn as_suffix(&self, wire_len: usize, hops: u8) -> Option<(usize, u8)> {
        let all = wire_len.saturating_add(self.wire_len()).saturating_sub(1);
        let hops = hops.saturating_add(self.wire.hops());
        (all <= NAME_MAX && hops <= HOPS_MAX).then_some((all, hops))
    }

    /// Returns the bytes without pointers, if the name has no pointers.
    pub(crate) fn flat<'m>(&self, message: &'m [u8]) -> Option<&'m [u8]> {
        let at = usize::from(self.wire.at());
        let bytes = message.get(at..at.saturating_add(self.wire_len()));
        bytes.filter(|_| self.wire.hops() == 0)
    }

    /// Appends the bytes without pointers.
    pub(crate) fn put_flat(&self, message: &[u8], out: &mut Vec<u8>) {
        if let Some(flat) = self.flat(message) {
            return out.extend_from_slice(flat);
        }
        let mut at = usize::from(self.wire.at());
        let end = out.len().saturating_add(self.wire_len());
        while out.len() < end {
            match message.get(at..).unwrap_or_default() {
                [high @ 0xc0..=0xff, low, ..] => {
                    at = usize::from(u16::from_be_bytes([high & 0x3f, *low]));
                }
                [len, rest @ ..] => {
                    out.push(*len);
                    out.extend_from_slice(rest.get(..usize::from(*len)).unwrap_or(rest));
                    at = at.saturating_add(usize::from(*len)).saturating_add(1);
                }
                [] => return,
            }
        }
    }
}

/// Appends the text of a name without pointers.
pub(crate) fn put_flat_text(flat: &[u8], out: &mut Vec<u8>) {
    let begin = out.len();
    put_run(out, begin, flat, 0, flat.len().saturating_sub(1));
}

/// RFC 1035 §2.3.4.
const NAME_MAX: usize = 255;
/// No name in ordinary use has more than a few.
const HOPS_MAX: u8 = 32;
