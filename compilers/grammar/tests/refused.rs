//! What a grammar may not say, and what it may.

use flowpin_grammar::{Limits, compile};

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

/// What can be declared can be used.
#[test]
fn names_with_dashes_are_names_everywhere() {
    let text = "%x LINE-END\n%message m \"d\" {\n x-y text\n n-1 count\n}\n%%\n\
                a { capture(x-y); add(n-1, n-1); emit(m); BEGIN(LINE-END); }\n\
                <LINE-END>b ;\n";
    assert_eq!(first_line(text), "");
}
