//! The tutorial's grammar does what the tutorial says; so does the paper's skeleton.
//!
//! `command` has the same by the command, on a capture.

#![expect(clippy::unwrap_used, reason = "tests")]

mod command;
mod memcached;
mod tokens;

use flowpin_grammar::{Compiled, Limits, compile};
use flowpin_lexer::{Saved, Scanner, Sink, Texts, Then, Token};
use flowpin_packet::Timestamp;
use flowpin_parser::testing::Trial;
use flowpin_parser::{Parser, ParserSetup};
use flowpin_record::{MessageSchema, MessageSink, Value};
use flowpin_text::{Protocol, Text, TextOptions};
use std::sync::Arc;

/// The listing of `docs/user/grammar.md`.
fn tutorial() -> &'static str {
    let page = include_str!("../../docs/user/grammar.md");
    let (_, rest) = page.split_once("```lex\n").unwrap();
    rest.split_once("```").unwrap().0
}

fn compiled(name: &str, text: &str) -> Compiled {
    compile(name, text.as_bytes(), &Limits::default()).unwrap_or_else(|why| panic!("{why}"))
}

/// A parser of this protocol.
fn trial(protocol: &Arc<Protocol>) -> Trial<Text> {
    let (setup, protocols) = (ParserSetup::default(), vec![Arc::clone(protocol)]);
    let text = Text::with_protocols(TextOptions::default(), protocols, &setup);
    Trial::new(text.unwrap(), &setup)
}

#[derive(Default)]
struct Log(Vec<String>);

impl MessageSink for Log {
    fn message(&mut self, schema: &MessageSchema, _: Timestamp, values: &[Value<'_>]) {
        let columns = schema.columns.iter().zip(values);
        let shown = columns.filter_map(|(column, value)| match value {
            Value::Bytes(bytes) => Some(format!("{}={}", column.name, bytes.escape_ascii())),
            Value::Count(count) => Some(format!("{}={count}", column.name)),
            _ => None,
        });
        let shown: Vec<String> = shown.collect();
        self.0.push(format!("{} {}", schema.name, shown.join(" ")));
    }
    fn anomaly(&mut self, event: &'static str) {
        self.0.push(event.to_owned());
    }
}

/// A new reader's first protocol: under 30 lines, and right however its bytes are cut.
#[test]
fn the_tutorial_s_grammar_reads_memcached() {
    let listing = tutorial();
    assert!(listing.lines().count() < 30);
    let compiled = compiled("memcached.l", listing);
    assert_eq!(compiled.warnings, []);
    assert!(compiled.backing_up.is_empty(), "nothing is read twice");
    let protocol = Protocol::loaded(compiled.grammar);
    for piece in [1, 2, 7, 1000] {
        let mut text = trial(&protocol);
        let mut log = Log::default();
        let number = text.parser.protocol("memcached").unwrap();
        let handle = text.begin(number).unwrap();
        let turns: [(bool, &[u8]); 2] = [
            (
                true,
                b"get a\r\nset b 0 0 3\r\nxyz\r\ndelete c\r\nget d e\r\n",
            ),
            (
                false,
                b"VALUE a 0 5\r\n\r\nEND\r\nEND\r\nSTORED\r\nNOT_FOUND\r\n\
                  VALUE d 0 1\r\n.\r\nVALUE e 0 2\r\n..\r\nEND\r\n",
            ),
        ];
        for (to_server, bytes) in turns {
            for bytes in bytes.chunks(piece) {
                text.data(handle, Timestamp(1), to_server, bytes, &mut log);
            }
        }
        text.end(handle, Timestamp(2), &mut log);
        let expected = [
            "memcached command=get key=a status=END bytes=5",
            "memcached command=set key=b status=STORED bytes=3",
            "memcached command=delete key=c status=NOT_FOUND",
            "memcached command=get key=d status=END bytes=3",
        ];
        assert_eq!(log.0, expected, "in pieces of {piece}");
    }
}

const TAKES: &str = r#"
%protocol takes
%local len count
%x LINE LOST
%client LINE
%server LINE
%resync LOST
%message takes "What was taken." {
  name text "The bytes taken."
}
%%
<LINE>"take "[0-9]+\n  { trim(5, 1); number(len, 10, 0, 99); take(name, len); }
<LINE>"skip "[0-9]+\n  { trim(5, 1); number(len, 10, 0, 99); skip(len); }
<LINE>"emit\n"         { emit(takes); }
<LOST>"sync\n"         { BEGIN(LINE); }
<LOST>.|\n             ;
"#;

/// What a gap, or a datagram's end, cuts off of a field is not taken from what is skipped later.
#[test]
fn what_is_skipped_behind_a_gap_is_not_taken() {
    let protocol = Protocol::loaded(compiled("takes.l", TAKES).grammar);
    let mut text = trial(&protocol);
    let mut log = Log::default();
    let at = Timestamp(1);
    let number = text.parser.protocol("takes").unwrap();
    let stream = text.begin(number).unwrap();
    text.data(stream, at, true, b"take 3\nabcemit\ntake 5\nab", &mut log);
    text.gap(stream, at, true, 10, &mut log);
    text.data(stream, at, true, b"sync\nskip 3\nxyzemit\n", &mut log);
    text.end(stream, at, &mut log);
    let datagrams = text.begin(number).unwrap();
    for datagram in [b"take 5\nab".as_slice(), b"skip 3\nxyzemit\n"] {
        text.datagram(datagrams, at, true, (datagram, datagram.len()), &mut log);
    }
    text.end(datagrams, at, &mut log);
    assert_eq!(log.0, ["takes name=abc", "text_gap", "takes ", "takes "]);
}

/// The paper's Figure 1, its printing errors mended: line numbers and shared lines of rules taken
/// apart, blanks for the printed `_`, the names that it uses defined.
const SKELETON: &str = r#"
space         [ ]
digit         [0-9]
alphanumeric  [A-Za-z0-9]
CRLF          \r\n
%x ML TE LEN
%%
^"GET"       |
^"PUT"       |
^"COPY"      |
^"HEAD"      |
^"POST"      |
^"MOVE"      |
^"TRACE"     |
^"MKCOL"     |
^"UNLOCK"    |
^"CONNECT"   |
^"OPTIONS"   |
^"PROPFIND"  |
^"LOCK"      |
^"DELETE"    |
^"PROPPATCH" {BEGIN(ML); return REQUEST;}

^"HTTP"\/(0\.9|1\.0|1\.1){space}[1-5][0-1][0-9] {BEGIN(ML); return RESPONSE;}
. {return NON_HTTP;}

<ML>"Transfer-Encoding: " {BEGIN(TE);}
<ML>"Content-Length: " {BEGIN(LEN);}
<ML>({alphanumeric}|-|:)+ {return SKIP_METHOD;}
<ML>{CRLF} {BEGIN(INITIAL); return COMPLETE;}

<TE>"chunked" {BEGIN(ML); return CHUNKED;}
<TE>"identity" {BEGIN(ML); return IDENTITY;}
<LEN>{digit}+ {BEGIN(ML); return LENGTH;}
<<EOF>> {return -1;}
"#;

#[derive(Default)]
struct Tokens(Vec<(u16, Vec<u8>)>);

impl Sink for Tokens {
    fn token(&mut self, token: Token<'_>) -> Then {
        self.0.push((token.token, token.text.to_vec()));
        Then::Go
    }
}

/// It loads as it stands, and finds the length of a message.
#[test]
fn the_paper_s_skeleton_loads_as_it_stands() {
    let grammar = compiled("figure-1.l", SKELETON).grammar;
    let scanner = Scanner::new(grammar.table.clone());
    let mut saved = Saved::new(0);
    let mut texts = Texts::with_shard_bytes(1 << 16).unwrap();
    let mut tokens = Tokens::default();
    for piece in [
        &b"HTTP/1.1 200Con"[..],
        b"tent-Length: 4",
        b"2\r\n",
        b"xPUT",
    ] {
        scanner.scan(&mut saved, &mut texts, 0, piece, &mut tokens);
    }
    scanner.finish(&mut saved, &mut texts, 0, &mut tokens);
    let named: Vec<_> = tokens
        .0
        .iter()
        .map(|(token, text)| (grammar.token_name(*token), text.escape_ascii().to_string()))
        .collect();
    let named: Vec<_> = named
        .iter()
        .map(|(name, text)| (*name, text.as_str()))
        .collect();
    let expected = [
        (Some("RESPONSE"), "HTTP/1.1 200"),
        (None, "Content-Length: "),
        (Some("LENGTH"), "42"),
        (Some("COMPLETE"), "\\r\\n"),
        (Some("NON_HTTP"), "x"),
        (Some("NON_HTTP"), "P"),
        (Some("NON_HTTP"), "U"),
        (Some("NON_HTTP"), "T"),
        (Some("-1"), ""),
    ];
    assert_eq!(named, expected);
}

/// Errors name file, line and column, and show the place; warnings name the rule in the way.
#[test]
fn errors_show_their_place() {
    let refused = |text: &str| {
        compile("my.l", text.as_bytes(), &Limits::default())
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        refused("%%\n[a-z  { return X; }\n"),
        "my.l:2:1: error: a class without its ]\n 2 | [a-z  { return X; }\n   | ^"
    );
    let c = refused("%%\nx\t{ int y = 3; return X; }\n");
    assert!(c.starts_with("my.l:2:5: error: C is not compiled"), "{c}");
    assert!(refused("%%\na{2000}\n").contains("at most 1000"));
    assert!(refused("%%\n(a|b)*a(a|b){30}\n").contains("states"));
    assert!(refused("%%\n((a{900}){900}){900}\n").contains("parts"));
    assert!(refused("%%\nx { capture(nothing); }\n").contains("nothing"));
    assert!(refused("%x A\n%%\n<B>x ;\n").contains("B is not declared"));
    let warned = compiled("my.l", "%%\n[a-z]+ ;\nif ;\n").warnings;
    assert_eq!(warned.len(), 1);
    let shown = warned[0].to_string();
    assert!(
        shown.starts_with("my.l:3:1: warning: this rule can never match"),
        "{shown}"
    );
    assert!(shown.contains("(line 2)"), "{shown}");
}
