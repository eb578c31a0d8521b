//! What a grammar may not say, and what it may.

use flowpin_grammar::{Limits, compile};
use flowpin_record::Shown;

fn first_line(text: &str) -> String {
    match compile("g.l", text.as_bytes(), &Limits::default()) {
        Ok(_) => String::new(),
        Err(refused) => refused.to_string().lines().take(1).collect(),
    }
}

/// flex says "unrecognized rule"; the end of the input is no part of a text.
#[test]
fn the_end_of_the_input_is_a_rule_by_itself() {
    assert_eq!(
        first_line("%%\na<<EOF>> ;\n"),
        "g.l:2:2: error: <<EOF>> is a rule by itself; as text it is written \"<<EOF>>\""
    );
    assert_eq!(first_line("%%\n<<EOF>> ;\n\"<<EOF>>\" ;\n"), "");
}

/// A parameter may occur several times, so its values are a list.
#[test]
fn parameters_go_to_lists() {
    let text = |kind: &str| {
        format!(
            "%message m \"d\" {{ x {kind} }}\n%%\na {{ parameter(x, \"filename\"); emit(m); }}\n"
        )
    };
    assert_eq!(first_line(&text("list")), "");
    assert_ne!(first_line(&text("text")), "");
    assert_ne!(first_line(&text("list").replace("\"filename\"", "y")), "");
}

/// What can be declared can be used.
#[test]
fn names_with_dashes_are_names_everywhere() {
    let text = "%x LINE-END\n%message m \"d\" {\n x-y text\n n-1 count\n}\n%%\n\
                a { capture(x-y); add(n-1, n-1); emit(m); BEGIN(LINE-END); }\n\
                <LINE-END>b ;\n";
    assert_eq!(first_line(text), "");
}

/// A grammar may come from anywhere: what it holds moves no cursor, and turns no text around.
#[test]
fn a_refused_grammar_is_shown_without_control_characters() {
    let text = b"%%\n\x1b[31m\0a\xe2\x80\xaeb\x07(  ;\n";
    let why = compile("g\x1b.l", text, &Limits::default())
        .unwrap_err()
        .to_string();
    let is_odd = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
    assert!(!why.contains(is_odd), "{why:?}");
    assert!(
        why.starts_with("g..l:2:") && why.contains(".[31m.a.b.("),
        "{why}"
    );
}

/// Fields may stand on one line.
#[test]
fn a_message_may_be_on_one_line() {
    for fields in [
        "{ a text }",
        "{ a text; b count \"d\" }",
        "{a text;\n b list }",
        "{ a text\n }",
    ] {
        let text = format!("%message foo \"x\" {fields}\n%%\nx {{ capture(a); emit(foo); }}\n");
        assert_eq!(first_line(&text), "", "{fields}");
    }
    let text = "%message foo \"x\" { a text b text }\n%%\nx ;\n";
    assert_eq!(first_line(text), "g.l:1:27: error: not expected here");
}

/// A message may be of EVE alone or of the other formats alone, have its files named otherwise, and
/// have the records of another; a field may be of EVE alone.
#[test]
fn messages_may_be_of_events_or_of_columns() {
    let text = "%message a events either \"An a.\" { x text events eve \"a.x\"; y list }\n\
                %message b columns file \"a\" \"A b.\" { x text }\n\
                %message c events as a\n\
                %%\nx { between_with('<', '>'); capture(x); unfold(y); show(a); emit(b); }\n\
                y { emit(c); }\n";
    let compiled = compile("g.l", text.as_bytes(), &Limits::default()).unwrap();
    let [a, b, c] = [0, 1, 2].map(|at| &compiled.grammar.program.messages[at].schema);
    assert_eq!((a.shown, a.client_sent), (Shown::InEvents, Some(2)));
    assert_eq!((&*a.columns[0].name, &*a.columns[0].eve), ("", "a.x"));
    assert_eq!((b.shown, &*b.file_stem), (Shown::InColumns, "a"));
    assert_eq!((c.shown, &*c.name), (Shown::InEvents, "a"));
    assert_eq!(c.columns.len(), a.columns.len());
    let unknown = "%message c events as d\n%%\nx { emit(c); }\n";
    assert_eq!(
        first_line(unknown),
        "g.l:1:22: error: a message with fields is expected"
    );
}
