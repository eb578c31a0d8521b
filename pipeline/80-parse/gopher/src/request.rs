//! The request line (RFC 1436 §2): a selector, and after a tab perhaps words to search for.

/// Whether it may be a request: RFC 1436 appendix, no byte of a line controls anything.
pub(crate) fn is_text(line: &[u8]) -> bool {
    let is_text = |byte: &u8| *byte == b'\t' || (*byte >= b' ' && *byte != 0x7f);
    line.iter().all(is_text)
}

/// The selector, and what follows the tab after it.
pub(crate) fn parts(line: &[u8]) -> (&[u8], &[u8]) {
    let at = memchr::memchr(b'\t', line).unwrap_or(line.len());
    let (selector, rest) = line.split_at(at);
    (selector, rest.get(1..).unwrap_or_default())
}

/// The type of the item, if the selector begins with it, as servers of the University of Minnesota
/// and most others do: RFC 1436 §3.5 and appendix. An address in a selector (`URL:`) is `h`.
pub(crate) fn item_type(selector: &[u8]) -> &[u8] {
    match selector {
        [kind, b'/', ..] if TYPES.contains(kind) => selector.get(..1).unwrap_or_default(),
        [b'U', b'R', b'L', b':', ..] => b"h",
        _ => &[],
    }
}

/// RFC 1436 §3.8, and those in use since: hypertext, pictures, sounds, films, documents.
const TYPES: &[u8] = b"0123456789+TgIhisdpPMX;:<";

#[cfg(test)]
mod tests {
    use super::{is_text, item_type, parts};

    /// A path whose first folder has one letter may be mistaken for it; no other is.
    #[test]
    fn the_type_is_a_character_before_a_slash() {
        for (selector, kind) in [
            (&b"0/about.txt"[..], &b"0"[..]),
            (b"1/", b"1"),
            (b"I/a.png", b"I"),
            (b"URL:http://a.example/", b"h"),
            (b"/0/about.txt", b""),
            (b"about", b""),
            (b"z/a", b""),
            (b"1", b""),
            (b"", b""),
        ] {
            assert_eq!(item_type(selector), kind, "{selector:?}");
        }
    }

    /// Only the first tab separates; nothing need follow it.
    #[test]
    fn a_tab_separates_selector_and_query() {
        for (line, expected) in [
            (
                &b"7/find\tred\tfish"[..],
                (&b"7/find"[..], &b"red\tfish"[..]),
            ),
            (b"0/a\t", (b"0/a", b"")),
            (b"\tx", (b"", b"x")),
            (b"0/a", (b"0/a", b"")),
            (b"", (b"", b"")),
        ] {
            assert_eq!(parts(line), expected, "{line:?}");
        }
        assert!(is_text(b"0/\xc3\xa4\tx") && !is_text(b"0/a\x00") && !is_text(b"\x7f"));
    }
}
