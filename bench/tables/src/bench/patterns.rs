//! More rules in an HTTP grammar: the parser paper's Table VII.

use super::{PARSER, PARSER_MACHINE, float};
use crate::lab::{Lab, plan};
use crate::table::{Cell, Table};
use anyhow::{Result, anyhow};
use flowpin_config::Plan;
use flowpin_grammar::{Limits, compile};
use std::sync::Arc;

/// Rules more than the skeleton; Gbit/s on five cores, and by how many % that is less, as printed.
const THEIRS: [(&str, usize, f64, f64); 3] = [
    ("basic", 0, 19.0, 0.0),
    ("+10", 10, 18.9, -0.5),
    ("+20", 20, 18.6, -1.5),
];

const FILE: &str = "parser-file-1";

/// What a run may use; it takes a part of it.
const MEMORY_BYTES: u64 = 16 << 30;

/// Lines of a header that are looked for besides those that framing needs.
const MORE: [&str; 20] = [
    "Cookie",
    "Set-Cookie",
    "User-Agent",
    "Host",
    "Referer",
    "Accept",
    "Accept-Encoding",
    "Accept-Language",
    "Cache-Control",
    "Connection",
    "Content-Type",
    "Content-Encoding",
    "Date",
    "ETag",
    "Expires",
    "If-Modified-Since",
    "Last-Modified",
    "Location",
    "Server",
    "Via",
];

pub(super) fn table(lab: &mut Lab) -> Result<Table> {
    let mut table = Table::new(
        "patterns",
        "More rules in a grammar",
        &format!(
            "{PARSER}, Table VII, File-1, five cores ({PARSER_MACHINE}). Ours: their skeleton \
             (its Figure 1) as a grammar, one core, all stages; each further rule captures one \
             line of the header."
        ),
        "rules",
    )
    .theirs("rate", "Gbit/s")
    .ours("rate", "Gbit/s")
    .theirs("change", "%")
    .ours("change", "%")
    .ours("messages", "")
    .draw(&[0, 1]);
    let trace = lab.preset(FILE)?;
    let mut plans = Vec::new();
    for (_, more, ..) in THEIRS {
        let names = MORE.get(..more).unwrap_or_default();
        let grammar = compile("http", grammar(names).as_bytes(), &Limits::default());
        let grammar = grammar.map_err(|why| anyhow!("{why}"))?.grammar;
        let mut plan: Plan = plan(lab, &trace);
        plan.parse.loaded.push(Arc::new(grammar));
        // With the usual caps, a third of the connections would be followed.
        plan.memory_bytes = MEMORY_BYTES;
        plans.push(plan);
    }
    let taken = lab.run(&plans)?;
    let first = taken.first().map_or(1.0, |taken| taken.gbps().median);
    for ((name, _, theirs, less), taken) in THEIRS.iter().zip(&taken) {
        let cells: Vec<Cell> = vec![
            (*theirs).into(),
            taken.gbps().into(),
            (*less).into(),
            (100.0 * (taken.gbps().median / first - 1.0)).into(),
            float(taken.report.parse.messages).into(),
        ];
        table.row(name, cells);
    }
    table.note(
        "All connections are followed. A line's name is run over at once and looked up, however \
         many names there are; what a rule captures costs something only where somebody reads the \
         messages, and here nobody does.",
    );
    table.note(
        "The built-in HTTP parser, which tells far more of a message, is no grammar: the bench \
         `stages` has its cost.",
    );
    Ok(table)
}

/// Requests and answers told apart, framing, and the lines that are asked for.
fn grammar(names: &[&str]) -> String {
    let field = |name: &str| name.to_lowercase().replace('-', "_");
    let columns: String = names
        .iter()
        .map(|name| format!("  {} text\n", field(name)))
        .collect();
    let rules: String = names
        .iter()
        .map(|name| {
            format!(
                "  \"{name}:\"{{LINE}} {{ rest(2); capture({}); }}\n",
                field(name)
            )
        })
        .collect();
    format!(
        "%protocol http\n%option case-insensitive\n%x ML CHUNK TRAILER\n%client INITIAL\n\
         %server INITIAL\n%local length count\n%local chunked count\n\
         %message web {{\n  first text\n{columns}}}\n\
         LINE [^\\n]*\\n\nEOL \\r?\\n\n%%\n\
         [A-Z]+\" \"{{LINE}} {{ trim(); capture(first); clear(length); BEGIN(ML); }}\n\
         \"HTTP/\"[0-9]\".\"[0-9]{{LINE}} {{ trim(); capture(first); clear(length); BEGIN(ML); }}\n\
         {{LINE}} ;\n\
         <ML>{{\n{rules}  \"Content-Length:\"{{LINE}} {{ word(2); number(length); }}\n  \
         \"Transfer-Encoding:\"[ ]*chunked{{EOL}} {{ emit(web); BEGIN(CHUNK); }}\n  \
         [^\\r\\n]{{LINE}} ;\n  {{EOL}} {{ skip(length); emit(web); BEGIN(INITIAL); }}\n}}\n\
         <CHUNK>{{\n  0+{{EOL}} {{ BEGIN(TRAILER); }}\n  \
         [0-9a-f]+{{LINE}} {{ word(1); number(length, 16); skip(length, 2); }}\n  {{LINE}} ;\n}}\n\
         <TRAILER>{{\n  {{EOL}} {{ BEGIN(INITIAL); }}\n  [^\\r\\n]{{LINE}} ;\n}}\n"
    )
}
