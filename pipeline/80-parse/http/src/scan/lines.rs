//! An iterator over lines.

use super::masks::{BLOCK, Masks, masks};

/// A line within the scanned bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    /// Where it begins.
    pub(crate) start: usize,
    /// Where its line feed stands.
    pub(crate) feed: usize,
    /// Where its first colon, space or control byte stands: its line feed, if nothing before.
    pub(crate) stop: usize,
    /// It holds a control byte besides the carriage return before its line feed, or has no such
    /// carriage return. May be set without reason, never missing.
    pub(crate) odd: bool,
}

impl Line {
    /// The text before its line end.
    #[inline]
    pub(crate) fn text<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        let line = bytes.get(self.start..self.feed).unwrap_or_default();
        line.strip_suffix(b"\r").unwrap_or(line)
    }
}

/// The lines of some bytes.
///
/// Bytes after the last line feed are an incomplete line, which starts at [`Lines::start`].
#[derive(Debug)]
pub(crate) struct Lines<'a> {
    bytes: &'a [u8],
    /// Where the current line begins.
    start: usize,
    /// Where the current block begins, and the next.
    base: usize,
    next: usize,
    /// The rest of the block's masks.
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
        const NONE: usize = usize::MAX;
        const LAST: u64 = 1 << 63;
        let mut stop = NONE;
        let mut odd = false;
        // A control byte ended the block before: it may belong to the line end.
        let mut is_last_low = false;
        loop {
            let left = self.left;
            if stop == NONE && left.stops != 0 {
                stop = self.base.wrapping_add(left.stops.trailing_zeros() as usize);
            }
            if left.feeds != 0 {
                let nth = left.feeds.trailing_zeros();
                // The one control that belongs there: a carriage return just before.
                let expected = 1u64.wrapping_shl(nth) >> 1;
                let before = left.feeds.wrapping_sub(1) & !left.feeds;
                odd |= left.low & before != expected || (is_last_low && nth > 0);
                let feed = self.base.wrapping_add(nth as usize);
                odd |= self.bytes.get(feed.wrapping_sub(1)) != Some(&b'\r');
                self.left = left.behind_line();
                let start = self.start;
                self.start = feed.wrapping_add(1);
                return Some(Line {
                    start,
                    feed,
                    stop,
                    odd,
                });
            }
            odd |= is_last_low || left.low & !LAST != 0;
            is_last_low = left.low & LAST != 0;
            if !self.load() {
                return None;
            }
        }
    }

    /// Scans the next block; false if there is none.
    #[inline]
    fn load(&mut self) -> bool {
        let rest = self.bytes.get(self.next..).unwrap_or_default();
        self.base = self.next;
        if let Some(block) = rest.first_chunk::<BLOCK>() {
            self.left = masks(block);
            self.next = self.next.wrapping_add(BLOCK);
            return true;
        }
        self.next = self.bytes.len();
        self.left = self.last(rest.len());
        !rest.is_empty()
    }

    /// The last bytes, fewer than a block.
    fn last(&self, count: usize) -> Masks {
        if count == 0 {
            return Masks::default();
        }
        if let Some(block) = self.bytes.last_chunk::<BLOCK>() {
            // The last block of all, without its lines so far.
            let told = u32::try_from(BLOCK.wrapping_sub(count)).unwrap_or(0);
            return masks(block).behind(told);
        }
        let mut block = [b'x'; BLOCK];
        for (to, from) in block.iter_mut().zip(self.bytes) {
            *to = *from;
        }
        masks(&block)
    }
}

#[cfg(test)]
mod tests {
    use super::{Line, Lines};
    use proptest::prelude::*;

    /// A simple implementation for comparison.
    fn slow(bytes: &[u8]) -> (Vec<Line>, usize) {
        let mut lines = Vec::new();
        let mut start = 0;
        while let Some(len) = bytes[start..].iter().position(|&byte| byte == b'\n') {
            let line = &bytes[start..start + len];
            let stop = line.iter().position(|&byte| byte == b':' || byte <= b' ');
            let text = line.strip_suffix(b"\r");
            let odd = text.is_none_or(|text| text.iter().any(|&b| b < b' ' && b != b'\t'));
            lines.push(Line {
                start,
                feed: start + len,
                stop: start + stop.unwrap_or(len),
                odd,
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
                prop_assert_eq!(Line { odd: line.odd, ..found }, line);
            }
            prop_assert_eq!(lines.next(), None);
            prop_assert_eq!(lines.start(), rest);
        }
    }
}
