//! How fast `http.l` scans, as generated Rust and loaded as a table, beside the same grammar
//! compiled by `flex -Cf`, and beside httparse.
//!
//! `cargo run --release -p flowpin-grammar --example http_speed -- PARSE_RS`, where PARSE_RS is
//! httparse's own `benches/parse.rs`, whose inputs are used; without it, one of our own. All read
//! the same bytes from memory: messages one after the other, as much as the cache holds. The best
//! of many rounds counts, in CPU time of the thread. flex needs `flex` and `cc`.
//!
//! `http_speed PARSE_RS REQ_SHORT grammar 1000000` scans one of the inputs so many times and does
//! nothing else, with `table` in that place the loaded one does, `httparse` parses it: for `perf
//! stat`.

#![expect(clippy::unwrap_used, reason = "a measurement")]

use flowpin_cpu::thread_cpu_time;
use flowpin_grammar::{Limits, compile};
use flowpin_lexer::{Grammar, Saved, Scanner, Sink, Texts, Then, Token};
use std::hint::black_box;
use std::process::Command;

#[rustfmt::skip]
mod http;

fn main() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../pipeline/80-parse/grammars/http.l"
    );
    let text = std::fs::read(path).unwrap();
    let compiled =
        compile("http.l", &text, &Limits::default()).unwrap_or_else(|why| panic!("{why}"));
    let grammar = compiled.grammar;
    for warning in &compiled.warnings {
        println!("{warning}");
    }
    for group in &compiled.backing_up {
        println!("{group}");
    }
    let parts = grammar.table.parts();
    println!(
        "{} states, {} classes, {} runs, {} words, {} bytes of tables",
        parts.states.len(),
        1 << parts.class_bits,
        parts.runs.len(),
        parts.words.len(),
        grammar.table.len_bytes()
    );
    let scanner = Scanner::new(grammar.table.clone());
    let only = std::env::args().nth(2);
    if let Some(what) = std::env::args().nth(3) {
        return rounds(&scanner, only.as_deref(), &what);
    }
    let flex = flex_program(&String::from_utf8(text).unwrap(), &grammar);
    println!(
        "{:<10} {:>9} {:>9} {:>9} {:>9}",
        "GB/s", "grammar", "table", "httparse", "flex -Cf"
    );
    for (name, message) in messages() {
        if only.as_ref().is_some_and(|only| *only != name) {
            continue;
        }
        let copies = (BUFFER_BYTES / message.len()).max(1);
        let buffer = message.repeat(copies);
        let len = message.len();
        let ours = rate(buffer.len(), || scan::<true>(&scanner, &buffer, len));
        let table = rate(buffer.len(), || scan::<false>(&scanner, &buffer, len));
        let theirs = rate(buffer.len(), || httparse(&buffer, len));
        let flex = flex.as_ref().map(|flex| flex_rate(flex, &buffer));
        let flex = flex.unwrap_or(f64::NAN);
        println!(
            "{name:<10} {ours:>9.2} {table:>9.2} {theirs:>9.2} {flex:>9.2} \
             {:>6.2}x httparse {:>6.1}x flex",
            ours / theirs,
            ours / flex,
        );
    }
}

/// One input, so many times (the fourth word), by one scanner alone: for `perf stat`.
fn rounds(scanner: &Scanner, only: Option<&str>, what: &str) {
    let count = std::env::args().nth(4);
    let count: usize = count.map_or(1_000_000, |count| count.parse().unwrap());
    let messages = messages().into_iter();
    for (_, message) in messages.filter(|(name, _)| only == Some(name.as_str())) {
        let buffer = message.repeat(100);
        for _ in 0..count / 100 {
            match what {
                "httparse" => httparse(&buffer, message.len()),
                "table" => scan::<false>(scanner, &buffer, message.len()),
                _ => scan::<true>(scanner, &buffer, message.len()),
            }
        }
    }
}

const BUFFER_BYTES: usize = 64 << 10;
const ROUNDS: u32 = 400;

/// Bytes per nanosecond, in the best round.
fn rate(len: usize, mut work: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let before = thread_cpu_time();
        for _ in 0..8 {
            work();
        }
        let spent = thread_cpu_time().saturating_sub(before);
        best = best.min(spent.as_nanos() as f64 / 8.0);
    }
    len as f64 / best
}

/// What a parser would do with tokens: note where names and values are.
#[derive(Default)]
struct Fields {
    names: [u64; 32],
    count: usize,
    messages: u64,
}

impl Sink for Fields {
    #[inline(always)]
    fn token(&mut self, token: Token<'_>) -> Then {
        if token.token == http::VALUE_LINE {
            self.count += 1;
        } else if token.token == http::END_OF_FIELDS {
            self.messages += 1;
            self.count = 0;
        }
        if let Some(place) = self.names.get_mut(self.count) {
            *place = token.text.as_ptr() as u64 ^ token.text.len() as u64;
        }
        Then::Go
    }
}

fn scan<const IS_STRAIGHT: bool>(scanner: &Scanner, buffer: &[u8], len: usize) {
    let mut fields = Fields::default();
    let mut texts = Texts::with_shard_bytes(1 << 20).unwrap();
    let mut saved = Saved::new(0);
    // Segment by segment, as packets bring them.
    for message in buffer.chunks_exact(len) {
        let message = black_box(message);
        if IS_STRAIGHT {
            scanner.scan_by(
                http::Straight,
                &mut saved,
                &mut texts,
                0,
                message,
                &mut fields,
            );
        } else {
            scanner.scan(&mut saved, &mut texts, 0, message, &mut fields);
        }
    }
    assert!(fields.messages > 0);
    black_box(fields.names);
}

fn httparse(buffer: &[u8], len: usize) {
    for message in buffer.chunks_exact(len) {
        let mut headers = [httparse::EMPTY_HEADER; 16];
        if message.starts_with(b"HTTP") {
            let mut response = httparse::Response::new(&mut headers);
            assert!(response.parse(black_box(message)).unwrap().is_complete());
            black_box(&response);
        } else {
            let mut request = httparse::Request::new(&mut headers);
            assert!(request.parse(black_box(message)).unwrap().is_complete());
            black_box(&request);
        }
    }
}

/// The messages of httparse's own measurements, from its source; or one of ours.
fn messages() -> Vec<(String, Vec<u8>)> {
    let Some(path) = std::env::args().nth(1) else {
        let mut own =
            b"GET /images/2024/11/a-long-way-from-home-by-night.jpg HTTP/1.1\r\n".to_vec();
        for (name, len) in [
            ("Host", 20),
            ("User-Agent", 110),
            ("Accept", 60),
            ("Cookie", 240),
        ] {
            own.extend_from_slice(name.as_bytes());
            own.extend_from_slice(b": ");
            own.extend(b"value; q=0.7, ".iter().cycle().take(len));
            own.extend_from_slice(b"\r\n");
        }
        own.extend_from_slice(b"\r\n");
        return vec![("own".to_owned(), own)];
    };
    let source = std::fs::read_to_string(path).unwrap();
    let wanted = ["REQ", "REQ_SHORT", "RESP", "RESP_SHORT"];
    let message = |name: &&str| {
        let begin = format!("const {name}: &[u8] = b\"");
        let (_, rest) = source.split_once(&begin).unwrap();
        let (body, _) = rest.split_once("\";").unwrap();
        let plain = body
            .replace("\\\n", "")
            .replace("\\r", "\r")
            .replace("\\n", "\n");
        ((*name).to_owned(), plain.into_bytes())
    };
    wanted.iter().map(message).collect()
}

/// The same grammar, compiled by `flex -Cf` and `cc -O3`.
fn flex_program(text: &str, grammar: &Grammar) -> Option<tempfile::TempDir> {
    let folder = tempfile::tempdir().unwrap();
    let mut flex = String::from("%{\n#include <time.h>\n#include <string.h>\nenum { END_, ");
    flex.push_str(&grammar.tokens.join(", "));
    flex.push_str(" };\n%}\n");
    for line in text.lines() {
        let is_ours = [
            "%protocol",
            "%client",
            "%server",
            "%limit",
            "%resync",
            "%identify",
        ]
        .iter()
        .any(|ours| line.starts_with(ours));
        if !is_ours {
            flex.push_str(line);
            flex.push('\n');
        }
    }
    flex.push_str(DRIVER);
    std::fs::write(folder.path().join("http.l"), flex).unwrap();
    let run = |program: &str, args: &[&str]| {
        let status = Command::new(program)
            .args(args)
            .current_dir(folder.path())
            .status();
        status.is_ok_and(|status| status.success())
    };
    let is_built = run("flex", &["-Cf", "-o", "http.c", "http.l"])
        && run("cc", &["-O3", "-w", "-o", "http", "http.c"]);
    if !is_built {
        println!("flex or cc is not installed");
        return None;
    }
    Some(folder)
}

fn flex_rate(folder: &tempfile::TempDir, buffer: &[u8]) -> f64 {
    std::fs::write(folder.path().join("input"), buffer).unwrap();
    let output = Command::new("./http")
        .current_dir(folder.path())
        .output()
        .unwrap();
    String::from_utf8(output.stdout)
        .unwrap()
        .trim()
        .parse()
        .unwrap()
}

/// Scans the whole input again and again, in place, and prints the best rate.
const DRIVER: &str = r#"
%%
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  static char data[1 << 22];
  FILE *file = fopen("input", "rb");
  size_t len = fread(data, 1, sizeof data - 2, file);
  double best = 1e30;
  long tokens = 0;
  YY_BUFFER_STATE buffer = yy_scan_buffer(data, len + 2);
  for (int round = 0; round < 400; round++) {
    struct timespec from, to;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
    for (int n = 0; n < 8; n++) {
      yy_delete_buffer(buffer);
      buffer = yy_scan_buffer(data, len + 2);
      BEGIN(INITIAL);
      for (int token; (token = yylex()) != 0; ) tokens += token;
    }
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
    double spent = ((to.tv_sec - from.tv_sec) * 1e9 + (to.tv_nsec - from.tv_nsec)) / 8;
    if (spent < best) best = spent;
  }
  if (tokens == 0) return 1;
  printf("%f\n", len / best);
  return 0;
}
"#;
