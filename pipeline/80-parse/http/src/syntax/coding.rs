//! The value of `Transfer-Encoding` (RFC 9112 §6.1), and the many ways to hide it.

use super::trimmed;
use crate::anomaly::Anomaly;

/// A value of Transfer-Encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Coding {
    /// The body comes in chunks.
    pub(crate) chunked: bool,
    /// `chunked` stands there in a form that some receivers do not recognise.
    pub(crate) disguised: bool,
    /// Something was done to the body, and chunking was not the last of it.
    pub(crate) unchunked: bool,
    /// The deviation from the grammar.
    pub(crate) anomaly: Option<Anomaly>,
}

/// Reads a value.
#[inline]
pub(crate) fn coding(value: &[u8]) -> Coding {
    if value.eq_ignore_ascii_case(b"chunked") {
        return Coding {
            chunked: true,
            disguised: false,
            unchunked: false,
            anomaly: None,
        };
    }
    read_odd(value)
}

#[cold]
fn read_odd(value: &[u8]) -> Coding {
    if value.eq_ignore_ascii_case(b"identity") {
        // Withdrawn by RFC 7230, but harmless: nothing was done.
        return Coding {
            chunked: false,
            disguised: false,
            unchunked: false,
            anomaly: None,
        };
    }
    let mut chunked = false;
    let mut disguised = false;
    let mut is_last = false;
    let mut anomaly = None;
    let members = value.split(|&byte| byte == b',').map(trimmed);
    let is_list = value.contains(&b',');
    for member in members {
        if member.is_empty() && is_list {
            // RFC 9110 §5.6.1.2: empty members count for nothing. Not so for Node and nginx.
            anomaly = anomaly.or(Some(Anomaly::CodingOdd));
            continue;
        }
        let name = member
            .split(|&byte| byte == b';')
            .next()
            .unwrap_or_default();
        let name = trimmed(name);
        is_last = name.eq_ignore_ascii_case(b"chunked");
        if is_last && name.len() == member.len() {
            // Applying it twice is forbidden.
            anomaly = anomaly.or(chunked.then_some(Anomaly::CodingOdd));
            chunked = true;
        } else if is_last || holds_chunked(member) {
            anomaly = Some(Anomaly::CodingOdd);
            // Quotes, controls, parameters: some receivers see through them.
            chunked |= is_last;
            disguised |= !is_last;
        } else if !is_known(name) {
            anomaly = anomaly.or(Some(Anomaly::CodingUnknown));
        }
    }
    if chunked && !is_last {
        anomaly = Some(Anomaly::CodingNotLast);
    }
    Coding {
        chunked,
        disguised,
        unchunked: !is_last && !value.is_empty(),
        anomaly,
    }
}

fn is_known(name: &[u8]) -> bool {
    [
        b"gzip".as_slice(),
        b"x-gzip",
        b"deflate",
        b"compress",
        b"x-compress",
        b"identity",
        b"trailers",
    ]
    .iter()
    .any(|known| name.eq_ignore_ascii_case(known))
}

/// Whether `chunked` stands anywhere in it, but for control bytes: libhtp finds it there.
fn holds_chunked(member: &[u8]) -> bool {
    let printed = member.iter().filter(|byte| !byte.is_ascii_control());
    let printed: Vec<u8> = printed.copied().collect();
    printed
        .windows(b"chunked".len())
        .any(|part| part.eq_ignore_ascii_case(b"chunked"))
}

#[cfg(test)]
mod tests {
    use super::coding;
    use crate::anomaly::Anomaly;

    /// `chunked` in any disguise is reported, whether it counts or not.
    #[test]
    fn chunked_is_seen_through_disguises() {
        use Anomaly::{CodingNotLast, CodingOdd, CodingUnknown};
        for (value, chunked, anomaly) in [
            ("chunked", true, None),
            ("ChUnKeD", true, None),
            ("identity", false, None),
            ("gzip, chunked", true, None),
            ("chunked, identity", true, Some(CodingNotLast)),
            ("chunked, chunked", true, Some(CodingOdd)),
            ("xchunked", false, Some(CodingOdd)),
            ("\"chunked\"", false, Some(CodingOdd)),
            ("chunked;q=1", true, Some(CodingOdd)),
            ("\x0bchunked", false, Some(CodingOdd)),
            ("cow", false, Some(CodingUnknown)),
            ("chunked,", true, Some(CodingOdd)),
            (", ,chunked", true, Some(CodingOdd)),
            ("identity, chunked", true, None),
            ("", false, Some(CodingUnknown)),
            ("chu\0nked", false, Some(CodingOdd)),
        ] {
            let found = coding(value.as_bytes());
            assert_eq!(
                (found.chunked, found.anomaly),
                (chunked, anomaly),
                "{value:?}"
            );
        }
    }
}
