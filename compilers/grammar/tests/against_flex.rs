//! The same tokens as flex 2.6.4, on the same input: the rule that matched, and its bytes.
//!
//! Needs `flex` and a C compiler; without them the tests say so and pass.

#![expect(clippy::unwrap_used, reason = "a test")]

use flowpin_grammar::{Limits, compile};
use flowpin_lexer::{Saved, Scanner, Sink, Texts, Then, Token};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A grammar for both: definitions, and rules with the start condition that they begin.
struct Both {
    definitions: String,
    rules: Vec<(String, Option<&'static str>)>,
}

impl Both {
    fn new(definitions: &str, rules: &[(&str, Option<&'static str>)]) -> Self {
        let own = |&(pattern, begin): &(&str, _)| (pattern.to_owned(), begin);
        Self {
            definitions: definitions.to_owned(),
            rules: rules.iter().map(own).collect(),
        }
    }

    fn ours(&self) -> String {
        let mut text = format!("{}\n%%\n", self.definitions);
        for (pattern, begin) in &self.rules {
            let begin = begin.map_or(String::new(), |begin| format!("BEGIN({begin});"));
            writeln!(text, "{pattern}\t{{ {begin} }}").unwrap();
        }
        text
    }

    fn for_flex(&self) -> String {
        let mut text = format!(
            "%option noyywrap 8bit\n%{{\n{PRINT}%}}\n{}\n%%\n",
            self.definitions
        );
        for (number, (pattern, begin)) in self.rules.iter().enumerate() {
            let begin = begin.map_or(String::new(), |begin| format!("BEGIN({begin});"));
            writeln!(text, "{pattern}\t{{ told({}); {begin} }}", number + 1).unwrap();
        }
        text.push_str("%%\nint main(void) { yylex(); return 0; }\n");
        text
    }
}

const PRINT: &str = "#include <stdio.h>
extern char *yytext; extern int yyleng;
#define YY_DECL int yylex(void)
static void told(int rule) {
  printf(\"%d \", rule);
  for (int i = 0; i < yyleng; i++) printf(\"%02x\", (unsigned char)yytext[i]);
  printf(\"\\n\");
}
#define ECHO told(0)
";

/// A scanner made by flex.
struct Flex {
    _folder: tempfile::TempDir,
    program: PathBuf,
    reported: String,
}

/// Why there is none: no tool, or flex refuses the grammar.
enum NoFlex {
    NoTool,
    Refused(String),
}

impl Flex {
    fn build(grammar: &Both) -> Result<Self, NoFlex> {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("g.l"), grammar.for_flex()).unwrap();
        let flex = Command::new("flex")
            .args(["-b", "-o", "g.c", "g.l"])
            .current_dir(folder.path())
            .output();
        let Ok(flex) = flex else {
            return Err(NoFlex::NoTool);
        };
        if !flex.status.success() {
            return Err(NoFlex::Refused(
                String::from_utf8_lossy(&flex.stderr).into_owned(),
            ));
        }
        let cc = Command::new("cc")
            .args(["-w", "-O0", "-o", "g", "g.c"])
            .current_dir(folder.path())
            .status();
        if !cc.is_ok_and(|status| status.success()) {
            return Err(NoFlex::NoTool);
        }
        let reported = std::fs::read_to_string(path("lex.backup")).unwrap_or_default();
        Ok(Self {
            program: path("g"),
            _folder: folder,
            reported,
        })
    }

    fn tokens(&self, input: &[u8], folder: &Path) -> Vec<(usize, Vec<u8>)> {
        let file = folder.join("input");
        std::fs::write(&file, input).unwrap();
        let output = Command::new(&self.program)
            .stdin(Stdio::from(std::fs::File::open(&file).unwrap()))
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let line = |line: &str| {
            let (rule, bytes) = line.split_once(' ').unwrap();
            let bytes = (0..bytes.len() / 2)
                .map(|at| u8::from_str_radix(&bytes[2 * at..2 * at + 2], 16).unwrap())
                .collect();
            (rule.parse().unwrap(), bytes)
        };
        text.lines().map(line).collect()
    }
}

#[derive(Default)]
struct Told(Vec<(usize, Vec<u8>)>);

impl Sink for Told {
    fn token(&mut self, token: Token<'_>) -> Then {
        let rule = token.rule.map_or(0, |rule| usize::from(rule) + 1);
        self.0.push((rule, token.text.to_vec()));
        Then::Go
    }
}

fn ours(scanner: &Scanner, pieces: &[&[u8]]) -> Vec<(usize, Vec<u8>)> {
    let mut texts = Texts::with_shard_bytes(1 << 20).unwrap();
    let mut saved = Saved::new(0);
    let mut told = Told::default();
    for piece in pieces {
        scanner.scan(&mut saved, &mut texts, 0, piece, &mut told);
    }
    scanner.finish(&mut saved, &mut texts, 0, &mut told);
    assert!(texts.is_empty());
    told.0
}

/// Compares the tokens of all inputs, whole and in every division in two. False without flex.
fn agree(grammar: &Both, inputs: &[&[u8]]) -> bool {
    let flex = match Flex::build(grammar) {
        Ok(flex) => flex,
        Err(NoFlex::NoTool) => {
            eprintln!("skipped: flex and cc are not installed");
            return false;
        }
        Err(NoFlex::Refused(why)) => panic!("flex refuses: {why}\n{}", grammar.for_flex()),
    };
    let compiled = compile("g.l", grammar.ours().as_bytes(), &Limits::default());
    let compiled = compiled.unwrap_or_else(|why| panic!("{why}\n{}", grammar.ours()));
    let scanner = Scanner::new(compiled.grammar.table.clone());
    let folder = tempfile::tempdir().unwrap();
    for input in inputs {
        let expected = flex.tokens(input, folder.path());

        for cut in 0..=input.len().min(60) {
            let (front, back) = input.split_at(cut);
            let got = ours(&scanner, &[front, back]);
            let shown = input.escape_ascii();
            assert_eq!(got, expected, "{shown} cut at {cut}\n{}", grammar.ours());
        }
        let bytes: Vec<&[u8]> = input.chunks(1).collect();
        assert_eq!(
            ours(&scanner, &bytes),
            expected,
            "byte by byte\n{}",
            grammar.ours()
        );
    }
    // Whoever backs up for flex backs up here, by the lines of the rules. (flex looks only at
    // states whose number is above that of its start conditions, also where these share states:
    // it may report fewer.)
    let lines = |text: &str, offset: usize| {
        let mut lines: Vec<usize> = text
            .split_whitespace()
            .filter_map(|n| n.parse().ok())
            .collect();
        lines.iter_mut().for_each(|line| *line -= offset);
        lines.sort_unstable();
        lines
    };
    let offset = |text: &str| {
        let at = text.lines().position(|line| line == "%%").unwrap();
        at + 1
    };
    let mut theirs = Vec::new();
    let mut reported = flex.reported.lines();
    while let Some(line) = reported.next() {
        if line.contains("associated rule line numbers") {
            theirs.push(lines(
                reported.next().unwrap_or(""),
                offset(&grammar.for_flex()),
            ));
        }
    }
    let mine: Vec<Vec<usize>> = compiled
        .backing_up
        .iter()
        .map(|group| {
            group
                .rule_lines
                .iter()
                .map(|line| line - offset(&grammar.ours()))
                .collect()
        })
        .collect();
    for theirs in theirs {
        assert!(
            mine.contains(&theirs),
            "{theirs:?} of {mine:?}\n{}",
            grammar.ours()
        );
    }
    true
}

/// Each part of the format, one grammar each.
#[test]
fn every_construct_gives_flex_s_tokens() {
    let grammars: Vec<(Both, Vec<&[u8]>)> = vec![
        // Longest match, first rule; backing up.
        (
            Both::new(
                "D [0-9]\nW [[:alpha:]_]",
                &[
                    ("if", None),
                    ("{W}({W}|{D})*", None),
                    ("{D}+", None),
                    ("{D}+\".\"{D}+", None),
                ],
            ),
            vec![b"if iffy 12 12.5 12. x1.2", b"if", b"", b"12."],
        ),
        // Start conditions: exclusive, inclusive, all, blocks within blocks.
        (
            Both::new(
                "%x X Y\n%s S",
                &[
                    ("\"(\"", Some("X")),
                    ("\"<\"", Some("S")),
                    ("<X>[a-z]+", None),
                    ("<X,S>\")\"", Some("INITIAL")),
                    ("<S>a+", None),
                    ("[ab]+", None),
                    ("<*>!", Some("Y")),
                    ("<Y>.", Some("INITIAL")),
                ],
            ),
            vec![b"ab(ab)ab<aa ab)b!ab\n!", b"((<!<!)"],
        ),
        // Lines: beginnings, ends, trailing context of each kind.
        (
            Both::new(
                "",
                &[
                    ("^ab", None),
                    ("ab$", None),
                    ("ab", None),
                    ("c+/d", None),
                    ("cc/d+e", None),
                    ("x+/y+z", None),
                    ("[a-z]", None),
                    ("\\n", None),
                ],
            ),
            vec![
                b"ab ab\nab\nxab",
                b"cccd ccdde ccd",
                b"xxyyz xxyy xyzz",
                b"ab",
            ],
        ),
        // Counts, optional parts, groups, dots, escapes, quotes.
        (
            Both::new(
                "",
                &[
                    ("a{3}", None),
                    ("b{2,}", None),
                    ("c{1,3}d?", None),
                    ("(ef|g)+h", None),
                    ("\"a.b*\\\"\\n\"", None),
                    ("\\x41\\102\\.", None),
                    (".x", None),
                ],
            ),
            vec![b"aaaaaa bbbb cccc cd efgefh gx", b"a.b*\"\n AB. \nx.x"],
        ),
        // Classes: ranges, negation, names, sums and differences.
        (
            Both::new(
                "",
                &[
                    ("[[:digit:][:^print:]]+", None),
                    ("[a-z]{-}[aeiou]+", None),
                    ("[a-c]{+}[x-z]{-}[y]", None),
                    ("[]^-]+", None),
                    ("[^]a-z \\n]+", None),
                    ("[\\]\\-\\x00-\\x05]", None),
                ],
            ),
            vec![b"12\x01\xff abcxyzy bcd]^-]-A-Z[]", b"\x00\x05-]ae"],
        ),
        // Case: the option, the group, ranges.
        (
            Both::new(
                "%option case-insensitive",
                &[
                    ("get", None),
                    ("[a-f]+1", None),
                    ("(?-i:Host)", None),
                    ("[[:upper:]]2", None),
                    ("[^k-m]3", None),
                    ("\"Quoted\"", None),
                ],
            ),
            vec![b"GET gEt abF1 Host host b2 B2 K3 n3 qUOTED", b"HOSThost"],
        ),
        (
            Both::new(
                "",
                &[
                    ("(?i:get)p", None),
                    ("(?s:a.b)", None),
                    ("(?x: c  d /* both */ )", None),
                    ("(?i:[x-z])(?-i:q)", None),
                    ("k(?# nothing )l", None),
                ],
            ),
            vec![b"GETp getP a\nb axb cd c d Xq XQ kl"],
        ),
        // Ends: tokens that the input's end cuts.
        (
            Both::new(
                "",
                &[("abc", None), ("a", None), ("bcde", None), ("b", None)],
            ),
            vec![b"ab", b"abcd", b"bcd", b"aabcdeb"],
        ),
    ];
    for (grammar, inputs) in &grammars {
        if !agree(grammar, inputs) {
            return;
        }
    }
}

fn pattern() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        4 => prop::sample::select(vec!["a", "b", "c", "\\n", "ab"]).prop_map(str::to_owned),
        1 => prop::sample::select(vec!["[ab]", "[^a]", ".", "[b-d]", "\"bc\"", "{DEF}"])
            .prop_map(str::to_owned),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            3 => prop::collection::vec(inner.clone(), 2..4).prop_map(|parts| parts.concat()),
            2 => prop::collection::vec(inner.clone(), 2..3)
                .prop_map(|parts| format!("({})", parts.join("|"))),
            1 => inner.clone().prop_map(|part| format!("({part})+")),
            1 => inner.clone().prop_map(|part| format!("a({part})*")),
            1 => inner.clone().prop_map(|part| format!("b({part})?")),
            1 => inner.prop_map(|part| format!("({part}){{1,2}}")),
        ]
    })
}

fn rule() -> impl Strategy<Value = (String, Option<&'static str>)> {
    let condition = prop::sample::select(vec!["", "", "<X>", "<S>", "<X,S>", "<*>"]);
    let line_start = prop::sample::select(vec!["", "", "", "^"]);
    let tail = prop_oneof![
        6 => Just(String::new()),
        1 => Just("$".to_owned()),
        1 => prop::sample::select(vec!["/b", "/ab", "/b+", "/[ab]c"]).prop_map(str::to_owned),
    ];
    let begin = prop::sample::select(vec![None, None, Some("X"), Some("S"), Some("INITIAL")]);
    (condition, line_start, pattern(), tail, begin).prop_map(
        |(condition, line, pattern, tail, begin)| {
            (format!("{condition}{line}{pattern}{tail}"), begin)
        },
    )
}

/// Any rules, any input, any division: flex's tokens.
#[test]
fn random_grammars_give_flex_s_tokens() {
    let cases = std::env::var("PROPTEST_CASES")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(6);
    let mut runner = TestRunner::new(Config {
        cases,
        failure_persistence: None,
        max_shrink_iters: 300,
        ..Config::default()
    });
    let letters = prop::collection::vec(prop::sample::select(b"aaabbbcd\n".to_vec()), 0..40);
    let strategy = (
        prop::collection::vec(rule(), 1..7),
        prop::collection::vec(letters, 1..6),
    );
    let result = runner.run(&strategy, |(rules, inputs)| {
        let grammar = Both {
            definitions: "DEF (b|ca)\n%x X\n%s S".to_owned(),
            rules,
        };
        let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
        agree(&grammar, &inputs);
        Ok(())
    });
    result.unwrap();
}
