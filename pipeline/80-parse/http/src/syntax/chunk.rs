//! The line before a chunk's bytes: `1a2b;name=value` (RFC 9112 §7.1), byte by byte, because it is
//! short and may be cut anywhere.

use crate::anomaly::Anomaly;
use memchr::memchr2;

/// How far a chunk's line was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ChunkLine {
    size: u64,
    digits: u8,
    place: Place,
    extension_len: u16,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Size,
    /// Spaces after the digits.
    Spaces,
    Extension,
    /// Behind a carriage return.
    Return,
}

/// The result of the next bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChunkStep {
    /// The line goes on.
    More,
    /// The line is over: this many bytes follow.
    Size(u64),
    /// There is no size. The byte at hand is not used.
    Invalid,
}

/// No chunk of this size is sent; more digits than that are zeros.
const DIGITS_MAX: u8 = 16;
/// Extensions are hardly ever used, and never long.
const EXTENSION_MAX: u16 = 4096;

impl ChunkLine {
    /// Reads the next bytes, and returns how many were used and the result.
    pub(crate) fn read(
        &mut self,
        bytes: &[u8],
        tell: &mut impl FnMut(Anomaly),
    ) -> (usize, ChunkStep) {
        let mut at = 0usize;
        while let Some(&byte) = bytes.get(at) {
            if self.place == Place::Extension {
                let rest = bytes.get(at..).unwrap_or_default();
                let skipped = memchr2(b'\r', b'\n', rest).unwrap_or(rest.len());
                if skipped > 0 {
                    self.extension(skipped, tell);
                    at = at.wrapping_add(skipped);
                    continue;
                }
            }
            match self.step(byte, tell) {
                ChunkStep::More => at = at.wrapping_add(1),
                ChunkStep::Invalid => return (at, ChunkStep::Invalid),
                done => return (at.wrapping_add(1), done),
            }
        }
        (at, ChunkStep::More)
    }

    #[inline]
    fn step(&mut self, byte: u8, tell: &mut impl FnMut(Anomaly)) -> ChunkStep {
        match (self.place, byte) {
            (Place::Size, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
                return self.digit(byte, tell);
            }
            (Place::Return, b'\n') => return ChunkStep::Size(self.size),
            (Place::Return, _) => {
                tell(Anomaly::ChunkReturn);
                self.place = Place::Extension;
                return self.step(byte, tell);
            }
            (Place::Size, _) if self.digits == 0 => {
                // Empty lines, too: libhtp and some clients pass over them.
                if !matches!(byte, b' ' | b'+' | b'\t'..=b'\r') {
                    return ChunkStep::Invalid;
                }
                tell(Anomaly::ChunkSizeOdd);
            }
            (_, b'\r') => self.place = Place::Return,
            (_, b'\n') => {
                tell(Anomaly::ChunkLineFeed);
                return ChunkStep::Size(self.size);
            }
            (Place::Size, b'x' | b'X') if self.size == 0 && self.digits == 1 => {
                tell(Anomaly::ChunkSizeOdd);
            }
            (Place::Size | Place::Spaces, b' ' | b'\t') => {
                tell(Anomaly::ChunkSizeOdd);
                self.place = Place::Spaces;
            }
            (Place::Size | Place::Spaces, b';') => self.place = Place::Extension,
            (Place::Size | Place::Spaces, _) => {
                tell(Anomaly::ChunkSizeOdd);
                self.place = Place::Extension;
            }
            (Place::Extension, _) => self.extension(1, tell),
        }
        ChunkStep::More
    }

    #[inline]
    fn digit(&mut self, byte: u8, tell: &mut impl FnMut(Anomaly)) -> ChunkStep {
        let value = match byte {
            b'0'..=b'9' => byte.wrapping_sub(b'0'),
            _ => (byte | 0x20).wrapping_sub(b'a').wrapping_add(10),
        };
        let Some(shifted) = self.size.checked_mul(16) else {
            return ChunkStep::Invalid;
        };
        self.size = shifted | u64::from(value);
        self.digits = self.digits.saturating_add(1);
        if self.digits == DIGITS_MAX.wrapping_add(1) {
            tell(Anomaly::ChunkSizeOdd);
        }
        ChunkStep::More
    }

    fn extension(&mut self, count: usize, tell: &mut impl FnMut(Anomaly)) {
        let before = self.extension_len;
        let count = u16::try_from(count).unwrap_or(u16::MAX);
        self.extension_len = before.saturating_add(count);
        if before <= EXTENSION_MAX && self.extension_len > EXTENSION_MAX {
            tell(Anomaly::ExtensionTooLong);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ChunkLine, ChunkStep};
    use crate::anomaly::Anomaly;

    fn read(line: &[u8], piece: usize) -> (usize, ChunkStep, Vec<Anomaly>) {
        let mut told = Vec::new();
        let mut state = ChunkLine::default();
        let mut used = 0;
        for part in line.chunks(piece) {
            let (count, step) = state.read(part, &mut |anomaly| told.push(anomaly));
            used += count;
            if step != ChunkStep::More {
                return (used, step, told);
            }
        }
        (used, ChunkStep::More, told)
    }

    /// RFC 9112 §7.1: hexadecimal digits of either case, an extension that means nothing to us.
    #[test]
    fn sizes_are_read_and_oddities_told_however_the_line_is_cut() {
        use Anomaly::{ChunkLineFeed, ChunkReturn, ChunkSizeOdd};
        for (line, size, told) in [
            ("0\r\n", Some(0), vec![]),
            ("1aF\r\n", Some(0x1af), vec![]),
            ("5;a=b;c=\"d\"\r\n", Some(5), vec![]),
            ("ffffffffffffffff\r\n", Some(u64::MAX), vec![]),
            ("10000000000000000\r\n", None, vec![]),
            ("00000000000000005\r\n", Some(5), vec![ChunkSizeOdd]),
            ("5\n", Some(5), vec![ChunkLineFeed]),
            ("5 \r\n", Some(5), vec![ChunkSizeOdd]),
            (" 5\r\n", Some(5), vec![ChunkSizeOdd]),
            ("0x5\r\n", Some(5), vec![ChunkSizeOdd]),
            ("5\rX\r\n", Some(5), vec![ChunkReturn]),
            ("5;\rX\n", Some(5), vec![ChunkReturn, ChunkLineFeed]),
            ("5zz\r\n", Some(5), vec![ChunkSizeOdd]),
            ("\r\n5\r\n", Some(5), vec![ChunkSizeOdd, ChunkSizeOdd]),
            ("\x0b5\r\n", Some(5), vec![ChunkSizeOdd]),
            ("-5\r\n", None, vec![]),
            ("zz\r\n", None, vec![]),
        ] {
            let whole = read(line.as_bytes(), 100);
            let expected = size.map_or(ChunkStep::Invalid, ChunkStep::Size);
            assert_eq!((whole.1, &whole.2), (expected, &told), "{line:?}");
            for piece in 1..4 {
                assert_eq!(read(line.as_bytes(), piece), whole, "{line:?} by {piece}");
            }
        }
    }

    /// An extension costs nothing but its bytes.
    #[test]
    fn long_extensions_are_skipped_and_told_once() {
        let mut line = b"a;".to_vec();
        line.resize(100_000, b'x');
        line.extend(b"\r\n");
        let (used, step, told) = read(&line, 7);
        assert_eq!((used, step), (line.len(), ChunkStep::Size(10)));
        assert_eq!(told, [Anomaly::ExtensionTooLong]);
    }
}
