//! One line after the other.

use super::masks::{BLOCK, Masks, masks};

/// A line within the bytes that are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    /// Where it begins.
    pub(crate) start: usize,
    /// Where its line feed stands.
    pub(crate) feed: usize,
    /// Where its first colon stands; [`Line::NONE`]: it has none.
    pub(crate) colon: usize,
    /// It holds a control byte besides the carriage return before its line feed, or has no such
    /// carriage return. May be set without reason, never missing.
    pub(crate) odd: bool,
    /// Before its colon stands white space or a control byte.
    pub(crate) blank_in_name: bool,
}

impl Line {
    /// No colon.
    pub(crate) const NONE: usize = usize::MAX;

    /// What stands before its line end.
    #[inline]
    pub(crate) fn text<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        without_return(bytes.get(self.start..self.feed).unwrap_or_default())
    }
}

/// Without the carriage return at its end.
#[inline]
pub(crate) fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// The lines of some bytes.
///
/// Bytes behind the last line feed are no line yet: they begin at [`Lines::start`].
#[derive(Debug)]
pub(crate) struct Lines<'a> {
    bytes: &'a [u8],
    /// Where the line at hand begins.
    start: usize,
    /// Where the block at hand begins, and the next.
    base: usize,
    next: usize,
    /// What of the block is not yet told.
    left: Masks,
}

impl<'a> Lines<'a> {
    #[inline]
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            start: 0,
            base: 0,
            next: 0,
            left: Masks::default(),
        }
    }

    /// Where the next line begins.
    #[inline]
    pub(crate) const fn start(&self) -> usize {
        self.start
    }

    /// The next whole line.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<Line> {
        let mut colon = Line::NONE;
        let mut odd = false;
        let mut blank_in_name = false;
        loop {
            if self.left.feeds != 0 {
                let feed = self.left.feeds.trailing_zeros();
                // The bits below the line feed's.
                let below = before(self.left.feeds);
                let colons = self.left.colons & below;
                if colons != 0 && colon == Line::NONE {
                    colon = self.base.wrapping_add(colons.trailing_zeros() as usize);
                    blank_in_name |= self.left.blanks & before(colons) != 0;
                }
                // The one control that belongs there: a carriage return just before.
                let expected = 1u64.wrapping_shl(feed) >> 1;
                let controls = self.left.controls & below;
                odd |= controls != expected || expected == 0;
                let feed = self.base.wrapping_add(feed as usize);
                odd |= self.bytes.get(feed.wrapping_sub(1)) != Some(&b'\r');
                self.left.blanks &= !(below | self.left.feeds & self.left.feeds.wrapping_neg());
                self.left.feeds &= self.left.feeds.wrapping_sub(1);
                self.left.colons &= !below;
                self.left.controls &= !below;
                let start = self.start;
                self.start = feed.wrapping_add(1);
                return Some(Line {
                    start,
                    feed,
                    colon,
                    odd,
                    blank_in_name,
                });
            }
            if colon == Line::NONE {
                let name = before(self.left.colons);
                blank_in_name |= self.left.blanks & name != 0;
                if self.left.colons != 0 {
                    let at = self.left.colons.trailing_zeros();
                    colon = self.base.wrapping_add(at as usize);
                }
            }
            odd |= self.left.controls != 0;
            if !self.load() {
                return None;
            }
        }
    }

    /// Looks at the next block; whether there is one.
    #[inline]
    fn load(&mut self) -> bool {
        let rest = self.bytes.get(self.next..).unwrap_or_default();
        if let Some(block) = rest.first_chunk::<BLOCK>() {
            self.left = masks(block);
            self.base = self.next;
            self.next = self.next.wrapping_add(BLOCK);
            return true;
        }
        if rest.is_empty() {
            self.left = Masks::default();
            return false;
        }
        self.load_last(rest.len());
        true
    }

    /// Looks at the last bytes, fewer than a block.
    #[inline]
    fn load_last(&mut self, count: usize) {
        self.base = self.next;
        self.next = self.bytes.len();
        if let Some(block) = self.bytes.last_chunk::<BLOCK>() {
            // The last block of all, without what was told of it.
            let told = BLOCK.wrapping_sub(count);
            let found = masks(block);
            self.left = Masks {
                feeds: found.feeds >> told,
                colons: found.colons >> told,
                controls: found.controls >> told,
                blanks: found.blanks >> told,
            };
            return;
        }
        let mut block = [b' '; BLOCK];
        let rest = self.bytes.get(self.base..).unwrap_or_default();
        for (to, from) in block.iter_mut().zip(rest) {
            *to = *from;
        }
        self.left = masks(&block);
    }
}

/// The bits below the lowest one that is set; all, if none is.
#[inline]
const fn before(mask: u64) -> u64 {
    mask.wrapping_sub(1) & !mask
}

#[cfg(test)]
mod tests {
    use super::{Line, Lines};
    use proptest::prelude::*;

    /// The obvious way.
    fn slow(bytes: &[u8]) -> (Vec<Line>, usize) {
        let mut lines = Vec::new();
        let mut start = 0;
        while let Some(len) = bytes[start..].iter().position(|&byte| byte == b'\n') {
            let line = &bytes[start..start + len];
            let colon = line.iter().position(|&byte| byte == b':');
            let text = line.strip_suffix(b"\r");
            let odd = text.is_none_or(|text| text.iter().any(|&b| b < b' ' && b != b'\t'));
            let name = colon.map_or(&[] as &[u8], |at| &line[..at]);
            lines.push(Line {
                start,
                feed: start + len,
                colon: colon.map_or(Line::NONE, |at| start + at),
                odd,
                blank_in_name: name.iter().any(|&byte| byte <= b' '),
            });
            start += len + 1;
        }
        (lines, start)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        /// Wherever blocks begin: the lines of the obvious way, and no oddity missed.
        #[test]
        fn lines_are_those_found_byte_by_byte(bytes in prop::collection::vec(
            prop_oneof![
                8 => Just(b'x'),
                1 => Just(b':'),
                1 => Just(b'\n'),
                1 => Just(b'\r'),
                1 => any::<u8>(),
            ],
            0..300,
        )) {
            let (expected, rest) = slow(&bytes);
            let mut lines = Lines::new(&bytes);
            for line in expected {
                let found = lines.next().unwrap();
                prop_assert!(found.odd || !line.odd);
                let blank_in_name = found.blank_in_name && found.colon != Line::NONE;
                prop_assert_eq!(Line { odd: line.odd, blank_in_name, ..found }, line);
            }
            prop_assert_eq!(lines.next(), None);
            prop_assert_eq!(lines.start(), rest);
        }
    }
}
