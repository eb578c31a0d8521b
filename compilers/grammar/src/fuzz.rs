//! What fuzzing drives.

use crate::{Limits, compile};
use flowpin_lexer::{Saved, Scanner, Sink, Texts, Then, Token};

/// Any text as a grammar: it is compiled or refused, with a place; what is compiled scans.
pub fn fuzz_grammar(data: &[u8]) {
    let limits = Limits {
        parts_max: 2_000,
        states_max: 500,
        steps_max: 2_000_000,
        ..Limits::default()
    };
    match compile("fuzz.l", data, &limits) {
        Ok(compiled) => assert_same(&Scanner::new(compiled.grammar.table), data, 7),
        Err(refused) => assert!(!refused.to_string().is_empty()),
    }
}

/// Any bytes through a scanner that has everything, cut anywhere.
pub fn fuzz_scan(data: &[u8]) {
    let Some((&cut, bytes)) = data.split_first() else {
        return;
    };
    let Ok(compiled) = compile("fuzz.l", EVERYTHING, &Limits::default()) else {
        return;
    };
    assert_same(
        &Scanner::new(compiled.grammar.table),
        bytes,
        usize::from(cut) + 1,
    );
}

/// The tokens in pieces of `piece` bytes, and all at once, are the same.
fn assert_same(scanner: &Scanner, bytes: &[u8], piece: usize) {
    let whole = tokens(scanner, bytes, bytes.len().max(1));
    assert_eq!(tokens(scanner, bytes, piece), whole);
    let len: u64 = whole.iter().map(|(_, _, len)| len).sum();
    assert_eq!(len, bytes.len() as u64, "every byte is in one token");
}

fn tokens(scanner: &Scanner, bytes: &[u8], piece: usize) -> Vec<(Option<u16>, Vec<u8>, u64)> {
    let Ok(mut texts) = Texts::with_shard_bytes(1 << 20) else {
        return Vec::new();
    };
    let mut saved = Saved::new(0);
    let mut told = Told(Vec::new());
    for piece in bytes.chunks(piece) {
        scanner.scan(&mut saved, &mut texts, 0, piece, &mut told);
    }
    scanner.finish(&mut saved, &mut texts, 0, &mut told);
    assert!(texts.is_empty());
    told.0
}

struct Told(Vec<(Option<u16>, Vec<u8>, u64)>);

impl Sink for Told {
    fn token(&mut self, token: Token<'_>) -> Then {
        self.0.push((token.rule, token.text.to_vec(), token.len));
        Then::Go
    }
}

const EVERYTHING: &[u8] = br#"
%x NAME VALUE
%limit token 64
%%
^[A-Z]+" "            { BEGIN(NAME); return VERB; }
[a-z]+/[0-9]+         { return BEFORE; }
abc|abcdef|x+y        { return BACK; }
end$                  { return END; }
<NAME>{
  (?i:host|length|len) { return KEY; }
  [a-zA-Z_-]+         { return WORD; }
  ":"[ \t]*           { BEGIN(VALUE); }
  \n                  { BEGIN(INITIAL); }
}
<VALUE>[^\r\n]*\r?\n  { BEGIN(NAME); return TEXT; }
"#;

#[cfg(test)]
mod tests {
    use crate::{Limits, compile};
    use flowpin_lexer::Scanner;
    use proptest::prelude::*;
    use std::sync::LazyLock;

    /// The targets hold for what they are made of.
    #[test]
    fn targets_run() {
        super::fuzz_grammar(super::EVERYTHING);
        super::fuzz_grammar(b"%%\n[a-z");
        for cut in 0..20 {
            let mut data = vec![cut];
            data.extend_from_slice(b"GET abc\nHost: x\nlength:\r\nabcde abcdef xxxxx9 aa11 end\n");
            super::fuzz_scan(&data);
        }
    }

    static SCANNERS: LazyLock<Vec<Scanner>> = LazyLock::new(|| {
        let folder = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../pipeline/80-parse/grammars"
        );
        let names = ["http.l", "redis.l", "sip.l", "smtp.l"];
        let built_in = names.map(|name| std::fs::read(format!("{folder}/{name}")).unwrap());
        let own = [super::EVERYTHING.to_vec(), LINES.to_vec()];
        let all = built_in.into_iter().chain(own);
        all.map(|grammar| {
            let compiled = compile("a.l", &grammar, &Limits::default()).unwrap();
            Scanner::new(compiled.grammar.table)
        })
        .collect()
    });

    /// Names in quotes, each with the rest of its line.
    const LINES: &[u8] = br#"
%option case-insensitive
%x VALUE
LINE [^\n]*\n
EOL \r?\n
%%
"Host:"{LINE}                         { return HOST; }
"Accept:"{LINE}                       { return ACCEPT; }
"Accept-Encoding:"{LINE}              { return ENCODING; }
"Accept-Language:"{LINE}              { return LANGUAGE; }
"X-A-Name-Of-More-Than-24-Bytes:"{LINE}  { return LONG; }
"Content-Length:"{LINE}               { BEGIN(VALUE); return LENGTH; }
"Transfer-Encoding:"[ ]*chunked{EOL}  { return CHUNKED; }
[^\r\n]{LINE}                         { return OTHER; }
{EOL}                                 { return END; }
<VALUE>{LINE}                         { BEGIN(INITIAL); }
"#;

    /// What the grammars here and the built-in ones are made of.
    fn text() -> impl Strategy<Value = Vec<u8>> {
        let usual: Vec<&[u8]> = vec![
            b"GET / HTTP/1.1\r\n",
            b"HTTP/1.0 200 OK\r\n",
            b"HTTP/",
            b"Host: a\r\n",
            b"content-length:",
            b"Accept-Encoding: gzip\r\n",
            b"ACCEPT: */*\n",
            b"Accept-Encodinx: no\r\n",
            b"x-a-name-of-more-than-24-bytes: 1\r\n",
            b"x-a-name-of-more-than-24-bytez: 1\r\n",
            b"transfer-encoding:",
            b"chunked\r\n",
            b"X-Any",
            b": ",
            b"\r\n",
            b"\n",
            b"\r",
            b" ",
            b"a value; q=0.7, and so on",
            b"1f;x\r\n",
            b"$5\r\nhello\r\n*2\r\n",
            b"250-a.example\r\n",
            b"MAIL FROM:<a@b>\r\n",
            b"INVITE sip:a@b SIP/2.0\r\n",
        ];
        let part = prop_oneof![
            6 => prop::sample::select(usual).prop_map(<[u8]>::to_vec),
            1 => any::<u8>().prop_map(|byte| vec![byte]),
            1 => (b'a'..=b'z', 1..150usize).prop_map(|(byte, len)| vec![byte; len]),
        ];
        prop::collection::vec(part, 1..40).prop_map(|parts| parts.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Whatever is leapt over where all bytes are there: one byte after the other, where
        /// nothing can be, gives the same tokens.
        #[test]
        fn leaps_end_where_single_steps_do(text in text(), piece in 1usize..100) {
            for scanner in &*SCANNERS {
                super::assert_same(scanner, &text, 1);
                super::assert_same(scanner, &text, piece);
            }
        }
    }
}
