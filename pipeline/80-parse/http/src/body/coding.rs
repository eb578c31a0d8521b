//! Content-Encoding (RFC 9110 §8.4), and the transfer coding below it (RFC 9112 §7).

/// How a body is encoded, as one byte: see the constants.
pub(crate) type Encoding = u8;

/// Not at all.
pub(crate) const IDENTITY: Encoding = 0;
pub(crate) const GZIP: Encoding = 1;
pub(crate) const DEFLATE: Encoding = 2;
pub(crate) const BROTLI: Encoding = 3;
pub(crate) const ZSTD: Encoding = 4;
/// In a way that is not known, or in several.
pub(crate) const UNKNOWN: Encoding = 5;

/// Reads a value.
pub(crate) fn encoding(value: &[u8]) -> Encoding {
    let is = |name: &[u8]| value.eq_ignore_ascii_case(name);
    if value.is_empty() || is(b"identity") || is(b"none") {
        IDENTITY
    } else if is(b"gzip") || is(b"x-gzip") {
        GZIP
    } else if is(b"deflate") {
        DEFLATE
    } else if is(b"br") {
        BROTLI
    } else if is(b"zstd") {
        ZSTD
    } else {
        UNKNOWN
    }
}

/// Reads a value of Transfer-Encoding: what stands before `chunked` (RFC 9112 §6.1).
#[cold]
pub(crate) fn transfer(value: &[u8]) -> Encoding {
    let members = value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii);
    members
        .take_while(|member| !member.eq_ignore_ascii_case(b"chunked"))
        .map(|member| {
            let is = |name: &[u8]| member.eq_ignore_ascii_case(name);
            if is(b"gzip") || is(b"x-gzip") {
                GZIP
            } else if is(b"deflate") {
                DEFLATE
            } else if is(b"compress") || is(b"x-compress") {
                UNKNOWN
            } else {
                // Told as an unknown coding already, if it is one.
                IDENTITY
            }
        })
        .fold(IDENTITY, both)
}

/// What was done to a body: its content was encoded, then that was coded for the transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Encodings {
    pub(crate) transfer: Encoding,
    pub(crate) content: Encoding,
}

impl Encodings {
    pub(super) const fn of_content(content: Encoding) -> Self {
        Self {
            transfer: IDENTITY,
            content,
        }
    }

    pub(crate) const fn has_unknown(self) -> bool {
        self.transfer == UNKNOWN || self.content == UNKNOWN
    }

    /// What of it can be undone, if it is to be.
    pub(super) const fn undone(self, is_wanted: bool) -> Self {
        if !is_wanted || self.transfer == UNKNOWN {
            return Self::of_content(IDENTITY);
        }
        let content = if self.content == UNKNOWN {
            IDENTITY
        } else {
            self.content
        };
        Self { content, ..self }
    }
}

/// Of two fields.
pub(crate) fn both(first: Encoding, second: Encoding) -> Encoding {
    match (first, second) {
        (IDENTITY, one) | (one, IDENTITY) => one,
        _ => UNKNOWN,
    }
}
