//! Splits a message into its fields.
//!
//! ```text
//!  8=FIX.4.4␁9=65␁35=A␁34=1␁95=3␁96=a␁b␁10=123␁      ␁ is SOH, byte 1
//!  └── tag, start, end of each; data (96) by the length before it (95), whatever bytes it has
//! ```

use crate::Dictionary;
use crate::message::digits::{number, tag_of, word_at};
use crate::message::slots::{SLOTS, Slot};
use core::ops::Range;
use flowpin_cpu::bytes::{PLACES, places};
use std::sync::Arc;

/// One field: its tag, and the range of its value in the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// The tag; 0 if there is none (the bytes between two SOH do not begin with `digits=`).
    pub tag: u32,
    /// Start of the value.
    pub start: u32,
    /// End of the value, before the SOH.
    pub end: u32,
}

impl Field {
    /// Returns the value, given the message that the field was split from.
    #[inline]
    pub fn value<'m>(&self, message: &'m [u8]) -> &'m [u8] {
        message
            .get(self.start as usize..self.end as usize)
            .unwrap_or_default()
    }
}

/// Errors in the fields of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flaws {
    /// Some bytes between two SOH are not `digits=value`.
    pub bad_field: bool,
    /// A data field does not have the length that the field before it gives.
    pub bad_data_length: bool,
    /// The message has more fields than the limit.
    pub too_many: bool,
}

/// The fields of one message; allocated once and reused for every message.
#[derive(Debug)]
pub struct Fields {
    list: Box<[Field]>,
    count: usize,
    slots: [u16; SLOTS],
    ends: Box<[u32; PLACES]>,
    kinds: Box<[u8; KINDS]>,
    followed: Box<[Followed; 256]>,
    dictionary: Arc<Dictionary>,
    flaws: Flaws,
}

impl Fields {
    /// Allocates room for `limit` fields, at most 65,535.
    pub fn new(dictionary: Arc<Dictionary>, limit: usize) -> Self {
        let mut kinds = Box::new([0; KINDS]);
        for &(tag, slot) in Slot::TAGS {
            if let Some(kind) = kinds.get_mut(usize::from(tag)) {
                *kind = slot as u8;
            }
        }
        for tag in dictionary.lengths() {
            if let Some(kind) = kinds.get_mut(tag as usize) {
                *kind |= LENGTH;
            }
        }
        let none = Field {
            tag: 0,
            start: 0,
            end: 0,
        };
        Self {
            list: vec![none; limit.min(FIELDS_MAX)].into(),
            count: 0,
            slots: [0; SLOTS],
            ends: Box::new([0; PLACES]),
            kinds,
            followed: Box::new([Followed::NONE; 256]),
            dictionary,
            flaws: Flaws::default(),
        }
    }

    /// Splits a message. It should end in SOH: bytes after the last SOH are ignored.
    pub fn split(&mut self, message: &[u8]) {
        self.slots = [0; SLOTS];
        self.flaws = Flaws::default();
        self.count = 0;
        let mut cut = Cut::default();
        let mut looked = 0;
        while looked < message.len() {
            let (found, next) = places(message, SOH, looked, &mut self.ends);
            cut = self.fields_of(message, found, cut);
            looked = next;
        }
    }

    /// Adds the fields that end at the first `found` recorded positions.
    fn fields_of(&mut self, message: &[u8], found: usize, mut cut: Cut) -> Cut {
        let mut at = 0usize;
        loop {
            at = self.fast_path(message, at..found, &mut cut);
            if at >= found || !self.slow_path(message, at, &mut cut) {
                return cut;
            }
            at = at.wrapping_add(1);
        }
    }

    /// Adds fields as long as each is the one that followed the field before it last time, is no
    /// length, and is not the message's last; returns where it stopped.
    // PERF: the order of fields repeats from message to message. Without a call, the loop keeps all
    // that it needs in registers: 52 instructions a field were 34. Bench `fix_bench split`.
    #[inline]
    fn fast_path(&mut self, message: &[u8], ends: Range<usize>, cut: &mut Cut) -> usize {
        let first = ends.start;
        if cut.data_end > cut.start {
            return first;
        }
        let ends = self.ends.get(ends).unwrap_or_default();
        let Cut {
            mut start,
            mut before,
            data_end,
        } = *cut;
        let mut count = self.count;
        let mut taken = 0usize;
        for &end in ends {
            let after = start.wrapping_add(size_of::<u64>());
            let (Some(known), Some(&[a, b, c, d, e, f, g, h]), Some(place)) = (
                self.followed.get(usize::from(before)),
                message.get(start..after),
                self.list.get_mut(count),
            ) else {
                break;
            };
            let word = u64::from_le_bytes([a, b, c, d, e, f, g, h]);
            if word & known.mask != known.word || known.kind & LENGTH != 0 {
                break;
            }
            *place = Field {
                tag: known.tag,
                start: low(start).wrapping_add(known.skip.into()),
                end,
            };
            note(&mut self.slots, known.kind, count);
            [before, ..] = known.tag.to_le_bytes();
            start = (end as usize).wrapping_add(1);
            count = count.wrapping_add(1);
            taken = taken.wrapping_add(1);
        }
        self.count = count;
        *cut = Cut {
            start,
            data_end,
            before,
        };
        first.wrapping_add(taken)
    }

    /// Adds any field, unless it is part of the data before it; false if there is no room.
    #[inline(never)]
    fn slow_path(&mut self, message: &[u8], at: usize, cut: &mut Cut) -> bool {
        let Some(&end) = self.ends.get(at) else {
            return false;
        };
        if (end as usize) < cut.data_end {
            return true;
        }
        let word = word_at(message, cut.start);
        let Some(known) = self.followed.get_mut(usize::from(cut.before)) else {
            return false;
        };
        if word & known.mask != known.word {
            *known = Followed::of(word, &self.kinds);
            self.flaws.bad_field |= known.tag == 0;
        }
        let Followed {
            tag, skip, kind, ..
        } = *known;
        let Some(place) = self.list.get_mut(self.count) else {
            self.flaws.too_many = true;
            return false;
        };
        let start = low(cut.start).wrapping_add(skip.into());
        *place = Field { tag, start, end };
        note(&mut self.slots, kind, self.count);
        self.count = self.count.wrapping_add(1);
        [cut.before, ..] = tag.to_le_bytes();
        cut.start = (end as usize).wrapping_add(1);
        if kind & LENGTH != 0 {
            match data_end(&self.dictionary, message, tag, start as usize..end as usize) {
                Ok(end) => cut.data_end = end,
                Err(WrongLength) => self.flaws.bad_data_length = true,
            }
        }
        true
    }

    /// Returns all fields, in order.
    #[inline]
    pub fn list(&self) -> &[Field] {
        self.list.get(..self.count).unwrap_or_default()
    }

    /// Returns the errors found while splitting.
    #[inline]
    pub fn flaws(&self) -> Flaws {
        self.flaws
    }

    /// Returns the value of the first field of a kind, if there is one.
    #[inline]
    pub fn value<'m>(&self, message: &'m [u8], slot: Slot) -> Option<&'m [u8]> {
        let at = usize::from(*self.slots.get(slot as usize)?);
        if at == 0 {
            return None;
        }
        Some(self.list.get(at)?.value(message))
    }

    /// Returns the value of the first field of a kind as a number; `None` if the field is absent or
    /// not a number.
    #[inline]
    pub fn count(&self, message: &[u8], slot: Slot) -> Option<u64> {
        self.value(message, slot).and_then(number)
    }
}

/// Notes the place of a field of a kind with a slot.
#[inline]
fn note(slots: &mut [u16; SLOTS], kind: u8, place: usize) {
    if let Some(slot) = slots.get_mut(usize::from(kind & SLOT)) {
        // Field 0 is BeginString, so 0 means none yet: the first of several counts.
        *slot = if *slot == 0 { low16(place) } else { *slot };
    }
}

/// Where the next field begins, and where the current data field ends.
#[derive(Clone, Copy, Debug, Default)]
struct Cut {
    start: usize,
    data_end: usize,
    /// The low byte of the previous tag.
    before: u8,
}

/// The field that last followed a given field, as it appears in messages.
#[derive(Clone, Copy, Debug)]
struct Followed {
    /// Mask of the bits that `digits=` occupies in eight bytes.
    mask: u64,
    word: u64,
    tag: u32,
    /// Distance from the start of the field to its value.
    skip: u8,
    /// As in [`Fields::kinds`].
    kind: u8,
}

impl Followed {
    /// Matches no bytes: a field without a tag, whose value is the whole field.
    const NONE: Self = Self {
        mask: 0,
        word: 1,
        tag: 0,
        skip: 0,
        kind: 0,
    };

    /// Parses the field that eight bytes begin with.
    #[inline(never)]
    fn of(word: u64, kinds: &[u8; KINDS]) -> Self {
        let (tag, digits) = tag_of(word);
        if tag == 0 {
            return Self::NONE;
        }
        let mask = u64::MAX >> 56u32.wrapping_sub(digits.wrapping_mul(8));
        let [digits, ..] = digits.to_le_bytes();
        Self {
            mask,
            word: word & mask,
            tag,
            skip: digits.wrapping_add(1),
            kind: kinds.get(tag as usize).copied().unwrap_or(0),
        }
    }
}

/// The length of a data field does not lead to a SOH.
struct WrongLength;

/// For a length field: returns the end of the data field after it; 0 if there is none.
#[cold]
fn data_end(
    dictionary: &Dictionary,
    message: &[u8],
    tag: u32,
    value: Range<usize>,
) -> Result<usize, WrongLength> {
    let start = value.end.saturating_add(1);
    let length = message.get(value).and_then(number);
    let (next, digits) = tag_of(word_at(message, start));
    if dictionary.data_of(tag) != Some(next) {
        return Ok(0);
    }
    length
        .and_then(|length| usize::try_from(length).ok())
        .and_then(|length| {
            start
                .checked_add(digits as usize)?
                .checked_add(1)?
                .checked_add(length)
        })
        .filter(|&end| message.get(end) == Some(&SOH))
        .ok_or(WrongLength)
}

/// The byte between two fields.
pub(crate) const SOH: u8 = 1;

const KINDS: usize = 1 << 16;
/// Bit of a kind: the field holds the length of the next one.
const LENGTH: u8 = 0x80;
/// Bits of a kind: the slot of the field.
const SLOT: u8 = 0x3f;
const _: () = assert!(SLOTS == SLOT as usize + 1);

const FIELDS_MAX: usize = 65_535;

/// Messages are shorter than 4 GiB.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the framer refuses longer messages"
)]
pub(super) const fn low(position: usize) -> u32 {
    position as u32
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "there are at most `FIELDS_MAX` fields"
)]
const fn low16(count: usize) -> u16 {
    count as u16
}

#[cfg(test)]
mod tests {
    use super::{Fields, Flaws};
    use crate::message::digits::number;
    use crate::{Dictionary, Slot};
    use std::sync::Arc;

    fn split(message: &[u8]) -> (Vec<(u32, Vec<u8>)>, Flaws) {
        let mut fields = Fields::new(Arc::new(Dictionary::bundled()), 100);
        fields.split(message);
        let list = fields.list().iter();
        let list = list.map(|field| (field.tag, field.value(message).to_vec()));
        (list.collect(), fields.flaws())
    }

    /// Data may contain SOH: its length gives its end.
    #[test]
    fn data_is_taken_by_its_length() {
        let message = b"8=FIX.4.4\x019=1\x0135=A\x0195=7\x0196=a\x01b\x0110=\x0198=0\x0110=000\x01";
        let (list, flaws) = split(message);
        assert_eq!(flaws, Flaws::default());
        assert_eq!(list[4], (96, b"a\x01b\x0110=".to_vec()));
        assert_eq!(list[5], (98, b"0".to_vec()));
        assert_eq!(list.len(), 7);
    }

    /// A length that does not lead to a SOH, or has no data after it, is reported and ignored.
    #[test]
    fn a_wrong_length_of_data_is_not_believed() {
        for length in ["2", "4000000000", "99999999999999999999", "x", ""] {
            let message = format!("8=F\u{1}95={length}\u{1}96=abc\u{1}10=000\u{1}");
            let (list, flaws) = split(message.as_bytes());
            assert!(flaws.bad_data_length, "{length}");
            assert_eq!(list[2], (96, b"abc".to_vec()));
        }
        let (list, flaws) = split(b"8=F\x0195=3\x0158=abc\x0110=000\x01");
        assert_eq!((list.len(), flaws), (4, Flaws::default()));
    }

    /// Bytes that are not `tag=value` become a field without a tag.
    #[test]
    fn bytes_without_a_tag_are_reported() {
        let (list, flaws) = split(b"8=F\x01abc\x0112\x0135\x01=7\x0155=\x0110=000\x01");
        assert!(flaws.bad_field);
        let tags: Vec<u32> = list.iter().map(|(tag, _)| *tag).collect();
        assert_eq!(tags, [8, 0, 0, 0, 0, 55, 10]);
        assert_eq!(list[1].1, b"abc");
        assert_eq!(list[5].1, b"");
    }

    /// At every alignment to the steps of 64 bytes, the fields are those of a split at each SOH.
    #[test]
    fn every_alignment_gives_the_same_fields() {
        for padding in 0..140 {
            let text = "y".repeat(padding);
            let message = format!("8=FIX.4.2\u{1}58={text}\u{1}11=a\u{1}55=IBM\u{1}10=001\u{1}");
            let (list, _) = split(message.as_bytes());
            let plain: Vec<(u32, Vec<u8>)> = message
                .trim_end_matches('\u{1}')
                .split('\u{1}')
                .map(|field| field.split_once('=').unwrap())
                .map(|(tag, value)| (tag.parse().unwrap(), value.into()))
                .collect();
            assert_eq!(list, plain);
        }
    }

    /// Of several fields of one kind, as with repeating groups, the first one counts.
    #[test]
    fn the_first_of_several_is_found() {
        let message = b"8=F\x0155=A\x0155=B\x0134=12\x0134=x\x0110=000\x01";
        let mut fields = Fields::new(Arc::new(Dictionary::bundled()), 4);
        fields.split(message);
        assert_eq!(fields.value(message, Slot::Symbol), Some(&b"A"[..]));
        assert_eq!(fields.count(message, Slot::MsgSeqNum), Some(12));
        assert_eq!(fields.value(message, Slot::ClOrdId), None);
        assert!(fields.flaws().too_many);
        assert_eq!(number(b"18446744073709551616"), None);
    }
}
