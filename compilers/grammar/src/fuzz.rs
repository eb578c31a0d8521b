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
    let mut texts = Texts::new(1 << 20);
    let mut saved = Saved::new(0);
    let mut told = Told(Vec::new());
    for piece in bytes.chunks(piece) {
        scanner.scan(&mut saved, &mut texts, 0, piece, &mut told);
    }
    scanner.finish(&mut saved, &mut texts, 0, &mut told);
    assert_eq!(texts.held_bytes(), 0);
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
}
