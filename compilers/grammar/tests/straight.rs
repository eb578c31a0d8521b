//! The straight tokens of HTTP, as generated Rust, are those of its table.

#![allow(clippy::unwrap_used, reason = "also in functions that tests share")]

#[rustfmt::skip]
#[path = "../examples/http_speed/http.rs"]
mod http;

use flowpin_lexer::{Condition, Saved, Scanner, Sink, Texts, Then, Token};
use proptest::prelude::*;
use std::sync::LazyLock;

static SCANNER: LazyLock<Scanner> = LazyLock::new(|| Scanner::new(http::GRAMMAR.table.clone()));

/// A token's rule, number, text and length.
type Known = (Option<u16>, u16, Vec<u8>, u64);

/// What was told; `then` is answered, one after the other, again and again.
struct Told<'a> {
    tokens: Vec<Known>,
    then: &'a [Then],
}

impl Sink for Told<'_> {
    fn token(&mut self, token: Token<'_>) -> Then {
        let Token {
            rule,
            token,
            text,
            len,
        } = token;
        self.tokens.push((rule, token, text.to_vec(), len));
        let nth = self.tokens.len() % self.then.len().max(1);
        self.then.get(nth).copied().unwrap_or_default()
    }
}

/// The tokens of the bytes in pieces of so many, and where the scanner stands behind each.
fn told(is_straight: bool, bytes: &[u8], piece: usize, then: &[Then]) -> (Vec<Known>, Vec<Saved>) {
    let mut texts = Texts::with_shard_bytes(1 << 20).unwrap();
    let mut saved = Saved::new(http::IN_INITIAL);
    let mut told = Told {
        tokens: Vec::new(),
        then,
    };
    let mut between = Vec::new();
    for piece in bytes.chunks(piece) {
        if is_straight {
            SCANNER.scan_by(http::Straight, &mut saved, &mut texts, 0, piece, &mut told);
        } else {
            SCANNER.scan(&mut saved, &mut texts, 0, piece, &mut told);
        }
        between.push(saved);
    }
    SCANNER.finish(&mut saved, &mut texts, 0, &mut told);
    (told.tokens, between)
}

fn assert_same(bytes: &[u8], piece: usize, then: &[Then]) {
    let straight = told(true, bytes, piece, then);
    assert_eq!(
        straight,
        told(false, bytes, piece, then),
        "{}",
        bytes.escape_ascii()
    );
}

/// All that most often comes, and each of its parts cut anywhere.
#[test]
fn heads_have_the_same_tokens() {
    let target = "/a/rather/long/target?that=is&longer=than&one=block&of=sixty-four=bytes";
    let head = format!(
        "\r\nGET {target} HTTP/1.1\r\nHost: example.org\r\nUSER-AGENT: x\r\nUser_Agent: y\r\n\
         Content-Length:0\r\nX: a\r\n folded\r\nBad name: z\r\nLone: \r here\r\n\
         Bare: line feed\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\
         Upgrade: h2c\r\nReferer: r\r\n\r\nHTTP/1.x ?\r\nHTTP /\r\nHTTP/1.10\r\n\r\n"
    );
    let head = head.as_bytes();
    for piece in 1..=head.len() {
        assert_same(head, piece, &[Then::Go]);
        assert_same(&head[piece..], 1000, &[Then::Go]);
    }
}

fn answers() -> impl Strategy<Value = Vec<Then>> {
    let conditions = http::IN_INITIAL..=http::IN_CHUNK;
    let condition = prop::option::of(conditions.clone());
    let then = prop_oneof![
        20 => Just(Then::Go),
        1 => (0u64..20, condition).prop_map(|(len, condition)| Then::Skip(len, condition)),
        1 => conditions.prop_map(|condition: Condition| Then::Begin(condition)),
    ];
    prop::collection::vec(then, 0..20)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Whatever comes, in any pieces, and whatever is answered.
    #[test]
    fn any_bytes_have_the_same_tokens(
        parts in prop::collection::vec(prop_oneof![
            6 => prop::sample::select(vec![
                "GET", " ", "/", "HTTP", "/1.", "1", "0", "\r\n", "\r", "\n", ":", "Host", "hOST:",
                "Content-Length", "Content-Type: ", "Referer", "Upgrade", "Connection", "Location",
                "Transfer-Encoding", "User-Agent", "x", "-", "\r\n\r\n", "\t", "0a; b=c", "é",
            ]).prop_map(|part| part.as_bytes().to_vec()),
            1 => prop::collection::vec(any::<u8>(), 0..4),
            1 => (0usize..140).prop_map(|len| vec![b'a'; len]),
        ], 0..60),
        piece in prop_oneof![1usize..8, 1usize..200, Just(100_000)],
        then in answers(),
    ) {
        assert_same(&parts.concat(), piece, &then);
    }
}
