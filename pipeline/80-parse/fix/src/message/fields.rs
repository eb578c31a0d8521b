//! A message cut into its fields.
//!
//! ```text
//!  8=FIX.4.4␁9=65␁35=A␁34=1␁95=3␁96=a␁b␁10=123␁      ␁ is SOH, byte 1
//!  └── tag, start, end of each; data (96) by the length before it (95), whatever is in it
//! ```

use crate::Dictionary;
use crate::message::slots::{SLOTS, Slot};
use flowpin_cpu::bytes::equal;
use std::sync::Arc;

/// One field: its tag, and where its value stands in the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// The tag; 0 where there is none (what stands between two SOH is not `digits=`).
    pub tag: u32,
    /// Where the value begins.
    pub start: u32,
    /// Where it ends, before the SOH.
    pub end: u32,
}

impl Field {
    /// The value, in the message it was cut from.
    #[inline]
    pub fn value<'m>(&self, message: &'m [u8]) -> &'m [u8] {
        message
            .get(self.start as usize..self.end as usize)
            .unwrap_or_default()
    }
}

/// What is wrong with a message's fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flaws {
    /// Something between two SOH is not `digits=value`.
    pub bad_field: bool,
    /// Data is not as long as the field before says.
    pub bad_data_length: bool,
    /// There are more fields than are kept.
    pub too_many: bool,
}

/// The fields of one message; made once, used for every message.
#[derive(Debug)]
pub struct Fields {
    list: Box<[Field]>,
    count: usize,
    slots: [u16; SLOTS],
    ends: Box<[u32; ENDS + 64]>,
    kinds: Box<[u8; KINDS]>,
    dictionary: Arc<Dictionary>,
    flaws: Flaws,
}

impl Fields {
    /// Room for `limit` fields, 65 535 at most.
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
            ends: Box::new([0; ENDS + 64]),
            kinds,
            dictionary,
            flaws: Flaws::default(),
        }
    }

    /// Cuts a message up. It should end in SOH: what stands behind the last one is left out.
    // PERF: 64 bytes a step find every SOH of a usual message in three, and their places are
    // written down eight at a time whether there are eight or not: one loop over fields, whose
    // end is mispredicted once a message and not once a step. Bench `fix_bench`.
    pub fn split(&mut self, message: &[u8]) {
        self.slots = [0; SLOTS];
        self.flaws = Flaws::default();
        self.count = 0;
        let mut cut = Cut::default();
        let mut found = 0usize;
        let mut base = 0usize;
        let (chunks, rest) = message.as_chunks::<64>();
        for chunk in chunks {
            found = self.write_down(base, equal(chunk, SOH), found);
            base = base.wrapping_add(64);
            if found >= ENDS {
                cut = self.fields_of(message, found, cut);
                found = 0;
            }
        }
        if !rest.is_empty() {
            // What is left ends the last 64 bytes; those before were looked at.
            let mask = match message.last_chunk::<64>() {
                Some(last) => equal(last, SOH).wrapping_shr(low(64usize.wrapping_sub(rest.len()))),
                None => equal(&filled_up(rest), SOH),
            };
            found = self.write_down(base, mask, found);
        }
        self.fields_of(message, found, cut);
    }

    /// Writes down where the SOHs of `mask` are, behind those `found`; gives how many there are.
    #[inline]
    fn write_down(&mut self, base: usize, mut mask: u64, found: usize) -> usize {
        let count = mask.count_ones() as usize;
        let mut at = found;
        let end = found.wrapping_add(count);
        loop {
            let Some(places) = self
                .ends
                .get_mut(at..)
                .and_then(<[u32]>::first_chunk_mut::<8>)
            else {
                return end;
            };
            for place in places {
                *place = low(base).wrapping_add(mask.trailing_zeros());
                mask &= mask.wrapping_sub(1);
            }
            at = at.wrapping_add(8);
            if at >= end {
                return end;
            }
        }
    }

    /// The fields that end at the first so many places written down.
    #[inline]
    fn fields_of(&mut self, message: &[u8], found: usize, cut: Cut) -> Cut {
        let Cut {
            mut start,
            mut data_end,
        } = cut;
        let ends = self.ends.get(..found).unwrap_or(&*self.ends);
        let mut count = self.count;
        for &end in ends {
            let end = end as usize;
            if end < data_end {
                continue;
            }
            let (tag, digits) = tag_at(message, start);
            // Behind the digits stands `=`: one before the value.
            let mut value = start.wrapping_add(digits).wrapping_add(1);
            let mut tag = tag;
            if tag == 0 || value > end {
                (tag, value) = (0, start);
                self.flaws.bad_field = true;
            }
            start = end.wrapping_add(1);
            let Some(place) = self.list.get_mut(count) else {
                self.flaws.too_many = true;
                break;
            };
            *place = Field {
                tag,
                start: low(value),
                end: low(end),
            };
            let kind = self.kinds.get(tag as usize).copied().unwrap_or(0);
            if let Some(slot) = self.slots.get_mut(usize::from(kind & SLOT)) {
                // Field 0 is BeginString, so 0 means none yet: the first of several counts.
                *slot = if *slot == 0 { low16(count) } else { *slot };
            }
            count = count.wrapping_add(1);
            if kind & LENGTH != 0 {
                match self::data_end(&self.dictionary, message, tag, value..end) {
                    Ok(end) => data_end = end,
                    Err(WrongLength) => self.flaws.bad_data_length = true,
                }
            }
        }
        self.count = count;
        Cut { start, data_end }
    }

    /// All fields, in order.
    #[inline]
    pub fn list(&self) -> &[Field] {
        self.list.get(..self.count).unwrap_or_default()
    }

    /// What was wrong with them.
    #[inline]
    pub fn flaws(&self) -> Flaws {
        self.flaws
    }

    /// The value of the first field of a kind; none if there is none.
    #[inline]
    pub fn value<'m>(&self, message: &'m [u8], slot: Slot) -> Option<&'m [u8]> {
        let at = usize::from(*self.slots.get(slot as usize)?);
        if at == 0 {
            return None;
        }
        Some(self.list.get(at)?.value(message))
    }

    /// The number that the first field of a kind is; none if there is none, or it is no number.
    #[inline]
    pub fn count(&self, message: &[u8], slot: Slot) -> Option<u64> {
        self.value(message, slot).and_then(number)
    }
}

/// Where the next field begins, and how far data reaches.
#[derive(Clone, Copy, Debug, Default)]
struct Cut {
    start: usize,
    data_end: usize,
}

/// The length of data does not lead to a SOH.
struct WrongLength;

/// The field at hand is a length: where the data behind it ends; 0 if there is none.
#[cold]
fn data_end(
    dictionary: &Dictionary,
    message: &[u8],
    tag: u32,
    value: core::ops::Range<usize>,
) -> Result<usize, WrongLength> {
    let start = value.end.saturating_add(1);
    let length = message.get(value).and_then(number);
    let (next, digits) = tag_at(message, start);
    if dictionary.data_of(tag) != Some(next) {
        return Ok(0);
    }
    length
        .and_then(|length| usize::try_from(length).ok())
        .and_then(|length| {
            start
                .checked_add(digits)?
                .checked_add(1)?
                .checked_add(length)
        })
        .filter(|&end| message.get(end) == Some(&SOH))
        .ok_or(WrongLength)
}

/// The byte between fields.
pub(crate) const SOH: u8 = 1;

const KINDS: usize = 1 << 16;
/// In a kind: the field is the length of the next.
const LENGTH: u8 = 0x80;
/// In a kind: its slot.
const SLOT: u8 = 0x3f;
const _: () = assert!(SLOTS == SLOT as usize + 1);

/// Places of SOH that are written down before fields are made of them.
const ENDS: usize = 192;
const FIELDS_MAX: usize = 65_535;

/// Messages are below 4 GiB.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the framer refuses longer messages"
)]
const fn low(position: usize) -> u32 {
    position as u32
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "there are at most `FIELDS_MAX` fields"
)]
const fn low16(count: usize) -> u16 {
    count as u16
}

/// A decimal number without sign; none if it is anything else, or does not fit.
pub(crate) fn number(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    let mut value = 0u64;
    for &byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value.checked_mul(10)?.checked_add(u64::from(digit))?;
    }
    Some(value)
}

/// The tag at `start` and how many digits it has; (0, 0) if there is no `digits=` there.
#[inline]
fn tag_at(message: &[u8], start: usize) -> (u32, usize) {
    let word = match message.get(start..).and_then(<[u8]>::first_chunk::<8>) {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => last_word(message, start),
    };
    let equals = word ^ EQUALS;
    let found = equals.wrapping_sub(ONES) & !equals & HIGH;
    // The first byte that is `=`: 8 × digits + 7, or 64.
    let digits = found.trailing_zeros() >> 3;
    if digits == 0 || digits == 8 {
        return (0, 0);
    }
    // The digits as numbers, the last in the highest byte, zeros below the first.
    let shift = 64u32.wrapping_sub(digits.wrapping_mul(8));
    let numbers = (word ^ ZEROS).wrapping_shl(shift);
    let not_digits = (numbers.wrapping_add(BELOW_TEN) | numbers) & HIGH;
    if not_digits != 0 {
        return (0, 0);
    }
    let tag = if digits <= 4 {
        four_digits(numbers)
    } else {
        eight_digits(numbers)
    };
    (tag, digits as usize)
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;
const EQUALS: u64 = u64::from_le_bytes([b'='; 8]);
const ZEROS: u64 = u64::from_le_bytes([b'0'; 8]);
/// Added to a digit, it leaves the highest bit alone; to ten and more, it sets it.
const BELOW_TEN: u64 = 0x7676_7676_7676_7676;

/// The last bytes, fewer than eight, filled up with zeros.
#[inline]
fn last_word(message: &[u8], start: usize) -> u64 {
    let rest = message.len().saturating_sub(start);
    match message.last_chunk::<8>() {
        Some(last) if rest > 0 => {
            let before = 8usize.wrapping_sub(rest).wrapping_mul(8);
            u64::from_le_bytes(*last).wrapping_shr(low(before))
        }
        _ => {
            let mut word = [0; 8];
            for (to, from) in word
                .iter_mut()
                .zip(message.get(start..).unwrap_or_default())
            {
                *to = *from;
            }
            u64::from_le_bytes(word)
        }
    }
}

/// Fewer than 64 bytes, filled up with zeros.
#[cold]
fn filled_up(bytes: &[u8]) -> [u8; 64] {
    let mut all = [0; 64];
    for (to, from) in all.iter_mut().zip(bytes) {
        *to = *from;
    }
    all
}

/// The last four of eight digits, the first in the lowest byte.
#[inline]
const fn four_digits(digits: u64) -> u32 {
    let digits = (digits >> 32) as u32;
    let pairs = (digits.wrapping_mul(10 << 8 | 1) >> 8) & 0x00ff_00ff;
    pairs.wrapping_mul(100 << 16 | 1) >> 16
}

/// Eight digits, the first in the lowest byte, by three multiplications.
#[cold]
const fn eight_digits(digits: u64) -> u32 {
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    let low = (pairs & 0x0000_00ff_0000_00ff).wrapping_mul(0x000f_4240_0000_0064);
    let high = ((pairs >> 16) & 0x0000_00ff_0000_00ff).wrapping_mul(0x0000_2710_0000_0001);
    (low.wrapping_add(high) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::{Fields, Flaws, number, tag_at};
    use crate::{Dictionary, Slot};
    use std::sync::Arc;

    fn split(message: &[u8]) -> (Vec<(u32, Vec<u8>)>, Flaws) {
        let mut fields = Fields::new(Arc::new(Dictionary::bundled()), 100);
        fields.split(message);
        let list = fields.list().iter();
        let list = list.map(|field| (field.tag, field.value(message).to_vec()));
        (list.collect(), fields.flaws())
    }

    /// Tags are one to seven digits before `=`.
    #[test]
    fn a_tag_is_its_digits() {
        for tag in [
            1u32, 9, 10, 35, 100, 1_402, 12_345, 50_002, 999_999, 9_999_999,
        ] {
            let digits = tag.to_string().len();
            for tail in ["=x\u{1}", "=abcdefgh\u{1}10=000\u{1}"] {
                assert_eq!(tag_at(format!("{tag}{tail}").as_bytes(), 0), (tag, digits));
            }
        }
        for bad in [
            "=x",
            "a=x",
            "1a=x",
            "12345678=x",
            "123",
            "",
            "-1=x",
            "1 =x",
            "\u{ff}=x",
        ] {
            assert_eq!(tag_at(bad.as_bytes(), 0), (0, 0), "{bad}");
        }
    }

    /// Data may hold SOH: its length says where it ends.
    #[test]
    fn data_is_taken_by_its_length() {
        let message = b"8=FIX.4.4\x019=1\x0135=A\x0195=7\x0196=a\x01b\x0110=\x0198=0\x0110=000\x01";
        let (list, flaws) = split(message);
        assert_eq!(flaws, Flaws::default());
        assert_eq!(list[4], (96, b"a\x01b\x0110=".to_vec()));
        assert_eq!(list[5], (98, b"0".to_vec()));
        assert_eq!(list.len(), 7);
    }

    /// A length that does not lead to a SOH, or has no data behind it, is told and not believed.
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

    /// What is not `tag=value` is a field without a tag.
    #[test]
    fn what_is_no_field_is_told() {
        let (list, flaws) = split(b"8=F\x01abc\x0112\x0135\x01=7\x0155=\x0110=000\x01");
        assert!(flaws.bad_field);
        let tags: Vec<u32> = list.iter().map(|(tag, _)| *tag).collect();
        assert_eq!(tags, [8, 0, 0, 0, 0, 55, 10]);
        assert_eq!(list[1].1, b"abc");
        assert_eq!(list[5].1, b"");
    }

    /// Fields wherever they lie towards the steps of 64 bytes are the same as cut at each SOH.
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

    /// The first field of a kind counts, as in a repeating group's surroundings.
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
