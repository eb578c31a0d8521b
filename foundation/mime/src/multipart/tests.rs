//! Bodies of several parts, in any pieces.

use super::{BOUNDARY_MAX, HEAD_MAX, Multipart, Parts};
use proptest::prelude::*;

/// Head, content, how it ended.
type Told = Vec<(String, Vec<u8>, Option<bool>)>;

impl Parts for Told {
    fn head(&mut self, head: &[u8]) {
        let head = String::from_utf8_lossy(head).into_owned();
        self.push((head, Vec::new(), None));
    }

    fn content(&mut self, bytes: &[u8]) {
        assert!(!bytes.is_empty());
        let (_, content, end) = self.last_mut().unwrap();
        assert_eq!(*end, None, "content behind the end");
        content.extend_from_slice(bytes);
    }

    fn over(&mut self, is_whole: bool) {
        self.last_mut().unwrap().2 = Some(is_whole);
    }
}

fn told(boundary: &[u8], body: &[u8], piece: usize) -> Told {
    let mut parts = Told::new();
    let mut multipart = Multipart::new(boundary).unwrap();
    for bytes in body.chunks(piece) {
        multipart.feed(bytes, &mut parts);
    }
    multipart.finish(&mut parts);
    parts
}

/// Contents and how they ended, the same for every cut.
fn contents(boundary: &str, body: &str) -> Vec<(String, bool)> {
    let whole = told(boundary.as_bytes(), body.as_bytes(), usize::MAX);
    for piece in [1, 2, 3, 5] {
        let cut = told(boundary.as_bytes(), body.as_bytes(), piece);
        assert_eq!(cut, whole, "in pieces of {piece}");
    }
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let each = whole.into_iter();
    each.map(|(_, content, end)| (text(content), end.unwrap()))
        .collect()
}

/// RFC 2046 §5.1.1, and what receivers accept beside it.
#[test]
fn delimiters_divide_a_body() {
    for (body, expected) in [
        ("--b\r\nA: 1\r\n\r\nx\r\n--b--\r\n", &[("x", true)][..]),
        (
            "preamble\r\n--b\r\n\r\nx\r\n--b\r\n\r\ny\r\n--b--z",
            &[("x", true), ("y", true)],
        ),
        ("--b\n\nx\n--b--", &[("x", true)]),
        (
            "--b \t\r\n\r\nx\r\n--b  \r\n\r\n\r\n--b--",
            &[("x", true), ("", true)],
        ),
        // The empty line before the next delimiter is the head's.
        ("--b\r\nA: 1\r\n\r\n--b--", &[("", true)]),
        // Longer lines, and lines that only begin like a delimiter, are content.
        (
            "--b\r\n\r\nx\r\n--bb\r\n--\r\n-\r\n\r\n--b-\r\n--b--",
            &[("x\r\n--bb\r\n--\r\n-\r\n\r\n--b-", true)],
        ),
        ("--b\r\n\r\n\r\r\n\n\r\n--b--", &[("\r\r\n\n", true)]),
        // What is cut is told as far as it goes.
        ("--b\r\n\r\nx\r\n--", &[("x\r\n--", false)]),
        ("--b\r\n\r\nx\r\n--b", &[("x\r\n--b", false)]),
        ("--b\r\n\r\nx\r", &[("x\r", false)]),
        ("--b\r\nA: 1\r\n", &[]),
        ("no delimiter\r\n-b", &[]),
        ("", &[]),
    ] {
        let expected = expected.iter().map(|&(text, end)| (text.to_owned(), end));
        assert_eq!(
            contents("b", body),
            expected.collect::<Vec<_>>(),
            "{body:?}"
        );
    }
}

/// A head has its lines without the empty one; a long one is cut, and its part is still found.
#[test]
fn heads_are_bounded() {
    let body = "--b\r\nA: 1\r\n B\r\n\r\nx\r\n--b--";
    assert_eq!(told(b"b", body.as_bytes(), 1)[0].0, "A: 1\r\n B\r\n");
    let long = format!(
        "--b\r\nA: {}\r\nB: 2\r\n\r\nx\r\n--b--",
        "a".repeat(2 * HEAD_MAX)
    );
    let parts = told(b"b", long.as_bytes(), 7);
    assert_eq!(
        (parts[0].0.len(), parts[0].1.as_slice()),
        (HEAD_MAX, &b"x"[..])
    );
}

/// RFC 2046 §5.1.1: what no boundary can be.
#[test]
fn boundaries_are_bounded() {
    assert!(Multipart::new(b"").is_none());
    assert!(Multipart::new(b"a\nb").is_none());
    assert!(Multipart::new(&[b'a'; BOUNDARY_MAX + 1]).is_none());
    assert!(Multipart::new(&[b'a'; BOUNDARY_MAX]).is_some());
}

/// A gap is the current part's; one in a head loses that part alone.
#[test]
fn after_a_gap_the_next_delimiter_is_found() {
    for (before, after, is_inside, expected) in [
        (
            "--b\r\n\r\nx\r\n--",
            "y\r\n--b--",
            true,
            &[("x\r\n--y", true)][..],
        ),
        (
            "--b\r\n\r\nx\r\n--b-",
            "-\r\n--b--",
            true,
            &[("x\r\n--b--", true)],
        ),
        (
            "--b\r\nA: 1",
            "\r\n\r\nx\r\n--b\r\n\r\ny\r\n--b--",
            false,
            &[("y", true)],
        ),
        ("pre", "\r\n--b\r\n\r\ny", false, &[("y", false)]),
        (
            "--b\r\n\r\nx\r\n--b--",
            "\r\n--b\r\n\r\ny",
            false,
            &[("x", true)],
        ),
    ] {
        let mut parts = Told::new();
        let mut multipart = Multipart::new(b"b").unwrap();
        multipart.feed(before.as_bytes(), &mut parts);
        assert_eq!(multipart.gap(&mut parts), is_inside, "{before:?}");
        multipart.feed(after.as_bytes(), &mut parts);
        multipart.finish(&mut parts);
        let each = parts
            .iter()
            .map(|(_, text, end)| (text.as_slice(), end.unwrap()));
        let expected = expected.iter().map(|&(text, end)| (text.as_bytes(), end));
        assert_eq!(
            each.collect::<Vec<_>>(),
            expected.collect::<Vec<_>>(),
            "{before:?}"
        );
    }
}

proptest! {
    /// Parts come back as they were put together, however the body is cut: of bytes that are often
    /// those of delimiters.
    #[test]
    fn parts_come_back(
        contents in prop::collection::vec(
            prop::collection::vec(prop::sample::select(&b"\r\n-ba "[..]), 0..30), 0..5),
        piece in 1usize..20,
    ) {
        let is_free = |content: &Vec<u8>| {
            let lines = [b"\n", content.as_slice()].concat();
            !lines.windows(5).any(|five| five == b"\n--ba")
        };
        prop_assume!(contents.iter().all(is_free));
        let mut body = Vec::new();
        for content in &contents {
            body.extend_from_slice(b"--ba\r\nA: 1\r\n\r\n");
            body.extend_from_slice(content);
            body.extend_from_slice(b"\r\n");
        }
        body.extend_from_slice(b"--ba--\r\nepilogue");
        let parts = told(b"ba", &body, piece);
        let got: Vec<_> = parts.iter().map(|(_, content, _)| content.clone()).collect();
        prop_assert_eq!(got, contents);
        prop_assert!(parts.iter().all(|(.., end)| *end == Some(true)));
    }

    /// Any bytes are told the same however they are cut.
    #[test]
    fn any_cut_tells_the_same(
        body in prop::collection::vec(prop::sample::select(&b"\r\n\n--b: "[..]), 0..120),
        piece in 1usize..9,
    ) {
        let body = [b"--b\r\n\r\n".as_slice(), &body].concat();
        prop_assert_eq!(told(b"b", &body, piece), told(b"b", &body, usize::MAX));
    }
}
