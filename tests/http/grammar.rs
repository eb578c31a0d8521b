//! The parser's own scanner of heads against the one that `http.l` describes.

use flowpin_grammar::{Limits, compile};
use flowpin_http::head_lines;
use flowpin_lexer::{Grammar, Saved, Scanner, Sink, Texts, Then, Token};
use flowpin_testkit::corpus;
use proptest::prelude::*;
use std::sync::LazyLock;

/// A line of a head behind the first.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Line {
    /// A name and what stands behind its colon, without the line end.
    Field(Vec<u8>, Vec<u8>),
    /// It begins with a blank.
    Folded,
    /// Nothing that has a name and a colon.
    Bad,
    /// The head is over.
    End,
}

static GRAMMAR: LazyLock<Grammar> = LazyLock::new(|| {
    let path = corpus::workspace().join("pipeline/80-parse/grammars/http.l");
    let text = std::fs::read(path).unwrap();
    compile("http.l", &text, &Limits::default())
        .unwrap()
        .grammar
});

static SCANNER: LazyLock<Scanner> = LazyLock::new(|| Scanner::new(GRAMMAR.table.clone()));

/// Puts the grammar's tokens together to lines.
#[derive(Default)]
struct Lines {
    lines: Vec<Line>,
    value: Vec<u8>,
}

impl Sink for Lines {
    fn token(&mut self, token: Token<'_>) -> Then {
        assert!(!token.is_shortened());
        match GRAMMAR.token_name(token.token).unwrap_or_default() {
            "REQUEST_LINE" => {}
            "END_OF_FIELDS" => {
                self.lines.push(Line::End);
                return Then::Stop;
            }
            "BAD_NAME" => self.lines.push(Line::Bad),
            "FOLDED_LINE" => {
                self.lines.push(Line::Folded);
                self.value.clear();
            }
            "VALUE_PART" => self.value.extend_from_slice(token.text),
            "VALUE_LINE" => {
                let mut line = std::mem::take(&mut self.value);
                line.extend_from_slice(token.text);
                line.pop_if(|last| *last == b'\n');
                line.pop_if(|last| *last == b'\r');
                if let Some(Line::Field(_, value)) = self.lines.last_mut() {
                    *value = line;
                }
            }
            "" => {}
            _ => {
                let colon = token.text.iter().position(|&byte| byte == b':').unwrap();
                self.lines
                    .push(Line::Field(token.text[..colon].to_vec(), Vec::new()));
                self.value = token.text[colon + 1..].to_vec();
            }
        }
        Then::Go
    }
}

fn by_grammar(head: &[u8], piece: usize) -> Vec<Line> {
    let mut lines = Lines::default();
    let (mut texts, mut saved) = (Texts::with_shard_bytes(1 << 20).unwrap(), Saved::new(0));
    for part in head.chunks(piece) {
        SCANNER.scan(&mut saved, &mut texts, 0, part, &mut lines);
    }
    lines.lines
}

fn by_parser(head: &[u8]) -> Vec<Line> {
    let mut lines = Vec::new();
    head_lines(head, |text, name| {
        if lines.last() == Some(&Line::End) {
            return;
        }
        let after = text.get(name.len()..).unwrap_or_default();
        lines.push(match after.strip_prefix(b":") {
            _ if text.is_empty() => Line::End,
            _ if matches!(text.first(), Some(b' ' | b'\t')) => Line::Folded,
            Some(value) if !name.is_empty() && name.iter().all(|&byte| is_token_byte(byte)) => {
                Line::Field(name.to_vec(), value.to_vec())
            }
            _ => Line::Bad,
        });
    });
    lines.remove(0);
    lines
}

/// RFC 9110 §5.6.2.
fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Whatever a head holds, both find the same lines, names and values, in any segments.
    #[test]
    fn the_grammar_and_the_parser_find_the_same_lines(
        parts in prop::collection::vec(
            prop_oneof![
                4 => prop::sample::select(vec![
                    b"Host: ".as_slice(), b"content-length:", b"X-Any", b"value", b"\r\n", b"\n",
                ]).prop_map(<[u8]>::to_vec),
                1 => prop::sample::select(b":: \t\r\n@\0\x80x".to_vec())
                    .prop_map(|byte| vec![byte]),
                1 => any::<u8>().prop_map(|byte| vec![byte]),
            ],
            0..40,
        ),
        piece in 1usize..40,
    ) {
        let mut head = b"GET / HTTP/1.1\r\n".to_vec();
        head.extend(parts.concat());
        head.extend(b"\r\n\r\n");
        let expected = by_parser(&head);
        prop_assert_eq!(&by_grammar(&head, usize::MAX), &expected);
        prop_assert_eq!(&by_grammar(&head, piece), &expected);
    }
}
