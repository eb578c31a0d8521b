//! Grammars of flex alone: each token is a record.

use crate::{compiled, trial};
use flowpin_packet::Timestamp;
use flowpin_parser::Parser;
use flowpin_record::{MessageSchema, MessageSink, Value};
use flowpin_text::Protocol;

#[derive(Default)]
struct Rows(Vec<String>);

impl MessageSink for Rows {
    fn message(&mut self, schema: &MessageSchema, _: Timestamp, values: &[Value<'_>]) {
        let cells = values.iter().map(|value| match value {
            Value::Bytes(bytes) => bytes.escape_ascii().to_string(),
            Value::Count(count) => count.to_string(),
            Value::Unset => "-".to_owned(),
            other => panic!("{other:?}"),
        });
        let cells: Vec<String> = cells.collect();
        self.0.push(format!("{}|{}", schema.name, cells.join("|")));
    }
    fn anomaly(&mut self, _: &'static str) {}
}

fn rows(file: &str, text: &str, turns: &[(bool, &[u8])], piece: usize) -> Vec<String> {
    let protocol = Protocol::loaded(compiled(file, text).grammar);
    let name = protocol.grammar.protocol.to_string();
    let mut text = trial(&protocol);
    let number = text.parser.protocol(&name).unwrap();
    let handle = text.begin(number).unwrap();
    let mut rows = Rows::default();
    for (to_server, bytes) in turns {
        for bytes in bytes.chunks(piece) {
            text.data(handle, Timestamp(1), *to_server, bytes, &mut rows);
        }
    }
    text.end(handle, Timestamp(2), &mut rows);
    rows.0
}

/// What a rule returns is a record, with where it stood, the same for every cut; what returns
/// nothing, or matches no rule, only counts as bytes.
#[test]
fn tokens_are_records_where_a_grammar_has_no_message() {
    let grammar = "%x VALUE\n%%\n\
        [a-z]+\":\" |\n[A-Z]+\":\" {BEGIN(VALUE); return NAME;}\n\
        <VALUE>[^\\n]+ { return TEXT; }\n<VALUE>\\n { BEGIN(INITIAL); }\n<<EOF>> { return -1; }\n";
    let turns: [(bool, &[u8]); 2] = [(true, b"ab:1\n..C:22\n"), (false, b"d:3\n")];
    let expected = [
        "lines_token|NAME|ab:|client|0",
        "lines_token|TEXT|1|client|3",
        "lines_token|NAME|C:|client|7",
        "lines_token|TEXT|22|client|9",
        "lines_token|NAME|d:|server|0",
        "lines_token|TEXT|3|server|2",
        "lines_token|-1|-|client|12",
        "lines_token|-1|-|server|4",
    ];
    for piece in [1, 2, 5, 1000] {
        assert_eq!(
            rows("dir/lines.l", grammar, &turns, piece),
            expected,
            "{piece}"
        );
    }
}

/// Alternatives on one line, and an action on the line behind its pattern, as in papers' listings.
#[test]
fn rules_may_be_printed_as_papers_print_them() {
    let grammar = "%x ML\n%%\n^\"GET\" | ^\"PUT\" |\n^\"HEAD\" | ^\"POST\"\n\
                   {BEGIN(ML); return REQUEST;}\n\
        <ML>[^\\n]+ | \\n\n";
    let told = rows("a.l", grammar, &[(true, b"HEAD x\nPUT y\n")], 1000);
    assert_eq!(told, ["a_token|REQUEST|HEAD|client|0"]);
}

/// The listing of a paper on protocol parsers, where it is there: its line numbers taken off,
/// its printed blanks made blanks, the names that it uses defined.
#[test]
fn the_paper_s_figure_runs_as_printed() {
    let shared = std::env::var("FLOWPIN_SHARED").unwrap_or_else(|_| "../../shared".to_owned());
    let seeds = std::fs::read_dir(format!("{shared}/seeds"));
    let papers = seeds.into_iter().flatten().filter_map(|entry| {
        let text = std::fs::read_to_string(entry.ok()?.path()).ok()?;
        let (listing, _) = text.split_once("\nFigure 1. HTTP Parser Skeleton")?;
        let listing = listing.trim_end().strip_suffix("```")?;
        Some(listing.rsplit_once("```")?.1.to_owned())
    });
    let Some(listing) = papers.into_iter().next() else {
        eprintln!("skipped: the paper is not there");
        return;
    };
    let mut text =
        "space [ ]\ndigit [0-9]\nalphanumeric [A-Za-z0-9]\nCRLF \\r\\n\n%x ML TE LEN\n%%\n"
            .to_owned();
    for line in listing.trim().lines() {
        let line = line.trim_start_matches(|c: char| c.is_ascii_digit());
        let line = line.strip_prefix(':').unwrap_or(line);
        text.push_str(line.trim().replace(":_\"", ": \"").as_str());
        text.push('\n');
    }
    let answer = b"HTTP/1.1 200\r\n";
    let turns: [(bool, &[u8]); 2] = [(true, b"PROPPATCH\r\nPUT\r\n"), (false, answer)];
    let told = rows("http.l", &text, &turns, 3);
    let expected = [
        "http_token|REQUEST|PROPPATCH|client|0",
        "http_token|COMPLETE|\\r\\n|client|9",
        "http_token|REQUEST|PUT|client|11",
        "http_token|COMPLETE|\\r\\n|client|14",
        "http_token|RESPONSE|HTTP/1.1 200|server|0",
        "http_token|COMPLETE|\\r\\n|server|12",
        "http_token|-1|-|client|16",
        "http_token|-1|-|server|14",
    ];
    assert_eq!(told, expected);
}
