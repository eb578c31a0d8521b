//! Content-Encoding (RFC 9110 §8.4).

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

/// Of two fields.
pub(crate) fn both(first: Encoding, second: Encoding) -> Encoding {
    match (first, second) {
        (IDENTITY, one) | (one, IDENTITY) => one,
        _ => UNKNOWN,
    }
}
