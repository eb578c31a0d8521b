//! Content transfer encodings (RFC 2045 §6), undone as the bytes arrive.

/// How a part's content was coded for its way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Encoding {
    /// 7bit, 8bit, binary, and what nobody knows: RFC 2045 §6.4 has it shown as it is.
    #[default]
    Identity,
    Base64,
    QuotedPrintable,
}

impl Encoding {
    pub(super) fn of(name: &[u8]) -> Self {
        // A comment or a parameter may stand behind the name, though RFC 2045 §6.1 has none.
        let word = name.split(|byte| matches!(byte, b' ' | b'\t' | b';' | b'('));
        let word = word.into_iter().find(|word| !word.is_empty());
        let is = |known: &[u8]| word.is_some_and(|word| word.eq_ignore_ascii_case(known));
        if is(b"base64") {
            Self::Base64
        } else if is(b"quoted-printable") {
            Self::QuotedPrintable
        } else {
            Self::Identity
        }
    }

    pub(super) fn decoder(self) -> Decoder {
        match self {
            Self::Identity => Decoder::Identity,
            Self::Base64 => Decoder::Base64(Base64::default()),
            Self::QuotedPrintable => Decoder::Quoted(Quoted::default()),
        }
    }
}

/// The state of one content between two segments.
#[derive(Debug)]
pub(super) enum Decoder {
    Identity,
    Base64(Base64),
    Quoted(Quoted),
}

impl Decoder {
    /// Decodes the next bytes; returns whether they are all of the encoding.
    pub(super) fn push(&mut self, bytes: &[u8], out: &mut impl FnMut(&[u8])) -> bool {
        match self {
            Self::Identity => {
                out(bytes);
                true
            }
            Self::Base64(base64) => base64.push(bytes, out),
            Self::Quoted(quoted) => quoted.push(bytes, out),
        }
    }

    /// The content is over; whether it ended as the encoding wants it.
    pub(super) fn finish(&mut self, out: &mut impl FnMut(&[u8])) -> bool {
        match self {
            Self::Identity => true,
            Self::Base64(base64) => base64.finish(out),
            Self::Quoted(quoted) => quoted.finish(out),
        }
    }

    /// Bytes of the content are missing. Returns how many there are of what they code, about.
    pub(super) fn gap(&mut self, len: u64, out: &mut impl FnMut(&[u8])) -> u64 {
        match self {
            Self::Identity => len,
            Self::Base64(base64) => {
                base64.gap();
                len.saturating_sub(len / 4)
            }
            Self::Quoted(quoted) => {
                quoted.finish(out);
                len
            }
        }
    }
}

/// RFC 2045 §6.8. Bytes that are none of the alphabet are ignored, as it says. Groups may follow a
/// padded one: where several contents were put together, receivers decode them all.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Base64 {
    bits: u32,
    /// Characters of the current group of four.
    count: u8,
    /// A padded group was seen, which should be the last one.
    is_padded: bool,
    /// Ignores everything up to a line end: behind a gap nobody knows where a group begins, but
    /// lines are made of whole groups.
    is_lost: bool,
}

impl Base64 {
    fn push(&mut self, bytes: &[u8], out: &mut impl FnMut(&[u8])) -> bool {
        let mut is_valid = true;
        for piece in bytes.chunks(PIECE) {
            // Two characters may make a byte, and four make three.
            let mut made = [0; PIECE];
            let mut len = 0usize;
            for &byte in piece {
                let (group, count) = self.character(byte, &mut is_valid);
                let group = group.get(..count).unwrap_or_default();
                if let Some(place) = made.get_mut(len..len.saturating_add(count)) {
                    place.copy_from_slice(group);
                    len = len.saturating_add(count);
                }
            }
            out(made.get(..len).unwrap_or_default());
        }
        is_valid
    }

    /// The next character: the bytes of its group, and how many there are, if it completes one.
    #[inline]
    fn character(&mut self, byte: u8, is_valid: &mut bool) -> ([u8; 3], usize) {
        let value = VALUES.get(usize::from(byte)).copied().unwrap_or(OTHER);
        match value {
            BLANK => self.is_lost &= byte != b'\n',
            _ if self.is_lost => {}
            PAD if self.count >= 2 => {
                self.is_padded = true;
                return self.leftover();
            }
            PAD if self.is_padded && self.count == 0 => {}
            PAD | OTHER => *is_valid = false,
            _ => {
                *is_valid &= !self.is_padded;
                self.bits = self.bits << 6 | u32::from(value);
                self.count = self.count.wrapping_add(1);
                if self.count == 4 {
                    let [_, one, two, three] = self.bits.to_be_bytes();
                    (self.count, self.bits) = (0, 0);
                    return ([one, two, three], 3);
                }
            }
        }
        ([0; 3], 0)
    }

    /// The bytes of an incomplete group.
    fn leftover(&mut self) -> ([u8; 3], usize) {
        let missing = 24u32.saturating_sub(u32::from(self.count).saturating_mul(6));
        let [_, one, two, _] = self.bits.wrapping_shl(missing).to_be_bytes();
        let count = usize::from(self.count).saturating_sub(1);
        (self.count, self.bits) = (0, 0);
        ([one, two, 0], count)
    }

    fn finish(&mut self, out: &mut impl FnMut(&[u8])) -> bool {
        let is_whole = self.count == 0;
        let (group, count) = self.leftover();
        let made = group.get(..count).unwrap_or_default();
        if !made.is_empty() {
            out(made);
        }
        is_whole
    }

    fn gap(&mut self) {
        (self.count, self.bits, self.is_lost) = (0, 0, true);
    }
}

/// RFC 2045 §6.7.
#[derive(Debug, Default)]
pub(super) struct Quoted {
    /// What stands behind an equals sign so far, with it.
    escape: Vec<u8>,
    /// Blanks that are left out if they end a line (rule 3).
    blanks: Vec<u8>,
}

impl Quoted {
    fn push(&mut self, bytes: &[u8], out: &mut impl FnMut(&[u8])) -> bool {
        let mut is_valid = true;
        let mut rest = bytes;
        while let Some((&first, tail)) = rest.split_first() {
            if !self.escape.is_empty() {
                is_valid &= self.escaped(first, out);
                rest = tail;
                continue;
            }
            let len = rest.iter().position(|byte| SPECIAL.contains(byte));
            let (plain, behind) = rest
                .split_at_checked(len.unwrap_or(rest.len()))
                .unwrap_or((rest, &[]));
            if !plain.is_empty() {
                self.flush(out);
                out(plain);
                rest = behind;
                continue;
            }
            match first {
                b'=' => {
                    self.flush(out);
                    self.escape.push(b'=');
                }
                // A carriage return may begin a line end.
                b' ' | b'\t' | b'\r' => {
                    if self.blanks.len() >= BLANKS_MAX {
                        self.flush(out);
                    }
                    self.blanks.push(first);
                }
                // A line end: without the blanks before it.
                _ => {
                    let end: &[u8] = match self.blanks.last() {
                        Some(b'\r') => b"\r\n",
                        _ => b"\n",
                    };
                    self.blanks.clear();
                    out(end);
                }
            }
            rest = tail;
        }
        is_valid
    }

    /// A byte behind an equals sign.
    fn escaped(&mut self, byte: u8, out: &mut impl FnMut(&[u8])) -> bool {
        let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r');
        let behind = self.escape.get(1..).unwrap_or_default();
        match (behind, byte) {
            // A soft line break; blanks may have been added behind the equals sign.
            (blanks, b'\n') if blanks.iter().all(is_blank) => {
                self.escape.clear();
                true
            }
            (blanks, byte)
                if is_blank(&byte) && blanks.iter().all(is_blank) && blanks.len() < BLANKS_MAX =>
            {
                self.escape.push(byte);
                true
            }
            ([], byte) if byte.is_ascii_hexdigit() => {
                self.escape.push(byte);
                true
            }
            ([high], byte) if high.is_ascii_hexdigit() && byte.is_ascii_hexdigit() => {
                out(&[digit(*high) << 4 | digit(byte)]);
                self.escape.clear();
                true
            }
            // What quotes nothing stands for itself.
            _ => {
                let escape = core::mem::take(&mut self.escape);
                out(&escape);
                let _ = self.push(&[byte], out);
                false
            }
        }
    }

    /// The blanks end no line.
    fn flush(&mut self, out: &mut impl FnMut(&[u8])) {
        if !self.blanks.is_empty() {
            out(&self.blanks);
            self.blanks.clear();
        }
    }

    fn finish(&mut self, out: &mut impl FnMut(&[u8])) -> bool {
        let behind = self.escape.get(1..).unwrap_or_default();
        // A soft line break whose line end belongs to a delimiter.
        let is_break = behind.iter().all(u8::is_ascii_whitespace);
        if !is_break {
            out(&self.escape);
        }
        self.escape.clear();
        self.blanks.clear();
        is_break
    }
}

fn digit(byte: u8) -> u8 {
    let value = char::from(byte).to_digit(16).unwrap_or(0);
    u8::try_from(value).unwrap_or(0)
}

/// Bytes that are decoded at once: what they make fits into as many.
const PIECE: usize = 1024;
/// Blanks that may wait for the end of their line. RFC 2045 §6.7: a line has 76 bytes.
const BLANKS_MAX: usize = 128;
/// Bytes that quoted-printable has another meaning for.
const SPECIAL: [u8; 5] = *b"= \t\r\n";

const PAD: u8 = 64;
const BLANK: u8 = 65;
const OTHER: u8 = 66;

/// The value of each byte, or what else it is.
static VALUES: [u8; 256] = values();

#[expect(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    reason = "evaluated by the compiler"
)]
const fn values() -> [u8; 256] {
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut values = [OTHER; 256];
    let mut at = 0;
    while at < alphabet.len() {
        values[alphabet[at] as usize] = at as u8;
        at += 1;
    }
    values[b'=' as usize] = PAD;
    values[b'\r' as usize] = BLANK;
    values[b'\n' as usize] = BLANK;
    values[b' ' as usize] = BLANK;
    values[b'\t' as usize] = BLANK;
    values
}

#[cfg(test)]
mod tests {
    use super::{BLANKS_MAX, Decoder, Encoding, Quoted};

    /// Of bytes that may belong to a line end few wait, however many there are.
    #[test]
    fn blanks_do_not_pile_up() {
        for blank in [b' ', b'\t', b'\r'] {
            let mut quoted = Quoted::default();
            let mut made = Vec::new();
            let mut out = |bytes: &[u8]| made.extend_from_slice(bytes);
            for _ in 0..1000 {
                assert!(quoted.push(&[blank; 100], &mut out));
                assert!(quoted.blanks.len() <= BLANKS_MAX);
            }
            assert!(quoted.push(b"x", &mut out));
            assert_eq!(made, [vec![blank; 100_000], b"x".to_vec()].concat());
        }
    }

    /// Nor behind an equals sign.
    #[test]
    fn escapes_do_not_pile_up() {
        let Decoder::Quoted(mut quoted) = Encoding::of(b"quoted-printable").decoder() else {
            panic!()
        };
        quoted.push(b"=", &mut |_| {});
        for _ in 0..1000 {
            quoted.push(b" \r\t", &mut |_| {});
            assert!(quoted.escape.len() <= BLANKS_MAX + 1);
        }
    }
}
