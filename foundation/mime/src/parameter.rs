//! Parameters of a field: `attachment; filename="a.b"`.

use std::borrow::Cow;

/// The values that a field gives one parameter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameter<'a> {
    /// `name=value` (RFC 2045 §5.1).
    pub plain: Option<Cow<'a, [u8]>>,
    /// `name*=charset'language'value`, or `name*0=…; name*1=…` put together (RFC 2231 §3, §4). Of
    /// ISO 8859-1 it is made UTF-8; of other character sets it is as it was sent.
    pub extended: Option<Cow<'a, [u8]>>,
}

impl<'a> Parameter<'a> {
    /// The plain value if there is one. RFC 7578 §4.2: forms have no other.
    pub fn plain_first(self) -> Option<Cow<'a, [u8]>> {
        self.plain.or(self.extended)
    }

    /// The extended value if there is one, as receivers that know both take it (RFC 6266 §4.3).
    pub fn extended_first(self) -> Option<Cow<'a, [u8]>> {
        self.extended.or(self.plain)
    }
}

/// Finds a parameter in a field's value; of several with the same name the first counts.
///
/// ```
/// use flowpin_mime::parameter;
/// let value = b"attachment; filename*0=\"a; \"; filename*1=b.zip";
/// assert_eq!(parameter(value, b"filename").plain_first().as_deref(), Some(&b"a; b.zip"[..]));
/// ```
pub fn parameter<'a>(value: &'a [u8], name: &[u8]) -> Parameter<'a> {
    let mut found = Parameter::default();
    let mut sections: Vec<Section<'a>> = Vec::new();
    let mut rest = value;
    while let Some(at) = unquoted(rest, b';') {
        rest = rest.get(at.saturating_add(1)..).unwrap_or_default();
        let end = unquoted(rest, b';').unwrap_or(rest.len());
        let one = rest.get(..end).unwrap_or_default();
        let Some(equals) = one.iter().position(|&byte| byte == b'=') else {
            continue;
        };
        let (own, text) = one.split_at_checked(equals).unwrap_or_default();
        let text = unescaped(text.get(1..).unwrap_or_default().trim_ascii());
        let Some((begin, star)) = own.trim_ascii().split_at_checked(name.len()) else {
            continue;
        };
        if !begin.eq_ignore_ascii_case(name) {
            continue;
        }
        match star {
            [] if found.plain.is_none() => found.plain = Some(text),
            b"*" if found.extended.is_none() => found.extended = Some(decoded(&text, true)),
            _ => sections.extend(Section::of(star, text).filter(|_| sections.len() < SECTIONS_MAX)),
        }
    }
    if found.extended.is_none() && !sections.is_empty() {
        found.extended = joined(sections);
    }
    found
}

/// One of the parts of a value that was divided (RFC 2231 §3).
struct Section<'a> {
    number: u16,
    is_encoded: bool,
    text: Cow<'a, [u8]>,
}

impl<'a> Section<'a> {
    /// `star`: what stands behind the parameter's name, `*0` or `*0*`.
    fn of(star: &[u8], text: Cow<'a, [u8]>) -> Option<Self> {
        let digits = star.strip_prefix(b"*")?;
        let plain = digits.strip_suffix(b"*");
        let digits = plain.unwrap_or(digits);
        if digits.is_empty() || digits.len() > 3 || !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let digit = |sum: u16, byte: &u8| {
            let digit = u16::from(byte.wrapping_sub(b'0'));
            sum.wrapping_mul(10).wrapping_add(digit)
        };
        Some(Self {
            number: digits.iter().fold(0, digit),
            is_encoded: plain.is_some(),
            text,
        })
    }
}

/// Sections in the order of their numbers, up to the first that is missing.
fn joined<'a>(mut sections: Vec<Section<'a>>) -> Option<Cow<'a, [u8]>> {
    sections.sort_by_key(|section| section.number);
    sections.dedup_by_key(|section| section.number);
    let mut all = Vec::new();
    let mut next = 0u16;
    for section in &sections {
        if section.number != next {
            break;
        }
        // RFC 2231 §4.1: the first section alone says which character set it is.
        match section.is_encoded {
            true => all.extend_from_slice(&decoded(&section.text, next == 0)),
            false => all.extend_from_slice(&section.text),
        }
        next = next.saturating_add(1);
    }
    (next > 0).then_some(Cow::Owned(all))
}

/// A value without its character set and language, if it has them, and without percent signs.
fn decoded<'b>(text: &[u8], has_charset: bool) -> Cow<'b, [u8]> {
    let mut parts = text.splitn(3, |&byte| byte == b'\'');
    let (charset, value) = match (parts.next(), parts.next(), parts.next()) {
        (Some(charset), Some(_), Some(value)) if has_charset => (charset, value),
        _ => (&[] as &[u8], text),
    };
    let is_latin = charset.eq_ignore_ascii_case(b"iso-8859-1");
    let mut out = Vec::with_capacity(value.len());
    let mut rest = value;
    while let [first, tail @ ..] = rest {
        let (byte, after) = match tail {
            [high, low, after @ ..] if *first == b'%' => match (digit(*high), digit(*low)) {
                (Some(high), Some(low)) => (high << 4 | low, after),
                _ => (*first, tail),
            },
            _ => (*first, tail),
        };
        rest = after;
        if is_latin && byte >= 0x80 {
            let mut room = [0; 2];
            out.extend_from_slice(char::from(byte).encode_utf8(&mut room).as_bytes());
        } else {
            out.push(byte);
        }
    }
    Cow::Owned(out)
}

fn digit(byte: u8) -> Option<u8> {
    let value = char::from(byte).to_digit(16)?;
    u8::try_from(value).ok()
}

/// The text of a quoted string; any other text as it is.
///
/// RFC 2045 §5.1 lets a backslash quote any byte. Browsers have sent whole paths with backslashes
/// that quote nothing, so one that stands before neither a quote nor a backslash is kept.
fn unescaped(text: &[u8]) -> Cow<'_, [u8]> {
    let Some(inside) = text.strip_prefix(b"\"") else {
        return Cow::Borrowed(text);
    };
    let end = closing(inside).unwrap_or(inside.len());
    let inside = inside.get(..end).unwrap_or_default();
    if !inside.contains(&b'\\') {
        return Cow::Borrowed(inside);
    }
    let mut out = Vec::with_capacity(inside.len());
    let mut rest = inside;
    while let [first, tail @ ..] = rest {
        match (first, tail) {
            (b'\\', [quoted @ (b'"' | b'\\'), after @ ..]) => {
                out.push(*quoted);
                rest = after;
            }
            _ => {
                out.push(*first);
                rest = tail;
            }
        }
    }
    Cow::Owned(out)
}

/// The quote that ends a quoted string, whose first quote stands before this text.
fn closing(inside: &[u8]) -> Option<usize> {
    let mut is_escaped = false;
    inside.iter().position(|&byte| {
        let is_end = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    })
}

/// The first such byte outside quoted strings.
fn unquoted(text: &[u8], wanted: u8) -> Option<usize> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    text.iter().position(|&byte| {
        let is_it = byte == wanted && !is_quoted;
        is_quoted ^= byte == b'"' && !is_escaped;
        is_escaped = is_quoted && byte == b'\\' && !is_escaped;
        is_it
    })
}

/// Sections of one value; more are left out.
const SECTIONS_MAX: usize = 64;

#[cfg(test)]
mod tests {
    use super::{Parameter, parameter};
    use proptest::prelude::*;

    fn both(value: &str) -> [Option<String>; 2] {
        let Parameter { plain, extended } = parameter(value.as_bytes(), b"filename");
        let text = |value: std::borrow::Cow<'_, [u8]>| String::from_utf8_lossy(&value).into_owned();
        [plain.map(text), extended.map(text)]
    }

    /// RFC 2045 §5.1, and what browsers make of it.
    #[test]
    fn plain_values_are_tokens_or_quoted() {
        for (value, expected) in [
            ("attachment; FileName=\"a b.zip\"; x=y", Some("a b.zip")),
            ("inline; filename=a", Some("a")),
            ("inline; filename = \"a;b=c\" ; filename=d", Some("a;b=c")),
            (
                "form-data; name=\"filename\"; filename=\"C:\\x\\y\"",
                Some("C:\\x\\y"),
            ),
            ("a; filename=\"q\\\"r\\\\\"", Some("q\"r\\")),
            ("a; filename=\"open; end", Some("open; end")),
            ("a; filename=\"b\"\rContent-Encoding: deflate", Some("b")),
            ("a; filenames=b; xfilename=c", None),
            ("filename=b", None),
            ("a; filename", None),
            ("a; filename=", Some("")),
        ] {
            assert_eq!(both(value), [expected.map(str::to_owned), None], "{value}");
        }
    }

    /// RFC 2231 §3 and §4, with their examples; RFC 8187 §3.2.3.
    #[test]
    fn extended_values_are_decoded_and_put_together() {
        for (value, expected) in [
            ("a; filename*=UTF-8''%e2%82%ac%20rates", Some("€ rates")),
            ("a; filename*=iso-8859-1'en'%A3%20rates", Some("£ rates")),
            ("a; filename*=plain%", Some("plain%")),
            ("a; filename*0=one; filename*1=\" two\"", Some("one two")),
            ("a; filename*1=b; filename*0=a; filename*3=d", Some("ab")),
            (
                "a; filename*0*=us-ascii'en-us'This%20is%20; filename*1*=%2A%2A%2Afun%2A%2A%2A; \
                 filename*2=\"isn't it!\"",
                Some("This is ***fun***isn't it!"),
            ),
            ("a; filename*1=b", None),
            ("a; filename*x=b; filename**=c; filename*0000=d", None),
        ] {
            assert_eq!(both(value), [None, expected.map(str::to_owned)], "{value}");
        }
        let [plain, extended] = both("a; filename=x.txt; filename*=UTF-8''y.txt");
        assert_eq!(
            (plain.as_deref(), extended.as_deref()),
            (Some("x.txt"), Some("y.txt"))
        );
    }

    proptest! {
        /// Whatever is quoted as RFC 2045 §5.1 says comes back.
        #[test]
        fn quoted_values_come_back(text in "[ -~]{0,40}") {
            let quoted = text.replace('\\', "\\\\").replace('"', "\\\"");
            let value = format!("form-data; name=\"x\"; filename=\"{quoted}\"; y=z");
            prop_assert_eq!(both(&value), [Some(text), None]);
        }

        /// Any bytes: no panic, and no value longer than the field.
        #[test]
        fn any_bytes_are_read(value in prop::collection::vec(any::<u8>(), 0..200)) {
            let value = [b"a;filename".as_slice(), &value].concat();
            let Parameter { plain, extended } = parameter(&value, b"filename");
            for one in [plain, extended].into_iter().flatten() {
                prop_assert!(one.len() <= 2 * value.len());
            }
        }
    }
}
