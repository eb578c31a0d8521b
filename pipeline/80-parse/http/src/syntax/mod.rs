//! Elements of HTTP's grammar as pure functions: RFC 9110 and RFC 9112, and deviations that
//! receivers accept.

mod chunk;
mod coding;
mod fields;
mod host;
mod length;
mod request_line;
mod status_line;

pub(crate) use chunk::{ChunkLine, ChunkStep};
pub(crate) use coding::coding;
pub(crate) use fields::{Field, field, might_be_known};
pub(crate) use host::{USER_MAX, authority, basic_user, is_known_scheme, password, split_port};
pub(crate) use length::length;
pub(crate) use request_line::{
    METHOD_MAX, Method, RequestLine, could_begin, looks_like_request, might_be_request,
    request_line,
};
pub(crate) use status_line::{looks_like_response, status_line};

/// Without spaces, tabs and control bytes around it.
#[inline]
pub(crate) fn trimmed(text: &[u8]) -> &[u8] {
    let mut text = text;
    while let [b' ' | b'\t', rest @ ..] = text {
        text = rest;
    }
    while let [rest @ .., b' ' | b'\t'] = text {
        text = rest;
    }
    text
}

/// Whether a token may contain a byte (RFC 9110 §5.6.2).
#[inline]
pub(crate) const fn is_token_byte(byte: u8) -> bool {
    matches!(byte,
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'!' | b'#' | b'$' | b'%' | b'&' | b'\''
        | b'*' | b'+' | b'-' | b'.' | b'^' | b'_' | b'`' | b'|' | b'~')
}

/// Major and minor version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    /// Without a version: HTTP/0.9.
    Old,
    /// 1.0.
    V10,
    /// 1.1.
    V11,
    /// Any other, of one digit each.
    Other(u8, u8),
    /// Text that starts like a version.
    Odd,
}

impl Version {
    /// Reads `HTTP/1.1`; also returns whether it is a regular version.
    #[inline]
    pub(crate) fn read(text: &[u8]) -> Option<(Self, Spelling)> {
        match text {
            b"HTTP/1.1" => Some((Self::V11, Spelling::Usual)),
            b"HTTP/1.0" => Some((Self::V10, Spelling::Usual)),
            _ => Some((Self::read_odd(text)?, Spelling::Odd)),
        }
    }

    /// Letters of either case, blanks around the slash, leading zeros: curl accepts the first,
    /// libhtp all of them, most servers none.
    fn read_odd(text: &[u8]) -> Option<Self> {
        let (name, number) = text.split_first_chunk::<4>()?;
        if !name.eq_ignore_ascii_case(b"HTTP") {
            return None;
        }
        let number = trimmed(trimmed(number).strip_prefix(b"/")?);
        let mut parts = number.split(|&byte| byte == b'.').map(one_digit);
        Some(match (parts.next(), parts.next(), parts.next()) {
            (Some(Some(1)), Some(Some(1)), None) => Self::V11,
            (Some(Some(1)), Some(Some(0)), None) => Self::V10,
            (Some(Some(major)), Some(Some(minor)), None) => Self::Other(major, minor),
            _ => Self::Odd,
        })
    }
}

/// Whether a version is spelled as RFC 9112 §2.3 has it, and is 1.0 or 1.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spelling {
    Usual,
    Odd,
}

/// A number of one digit, perhaps with leading zeros.
fn one_digit(text: &[u8]) -> Option<u8> {
    let (&last, zeros) = text.split_last()?;
    let is_number = last.is_ascii_digit() && zeros.iter().all(|&byte| byte == b'0');
    is_number.then(|| last.wrapping_sub(b'0'))
}
