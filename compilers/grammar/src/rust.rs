//! A grammar as Rust source: the same tables, known when the program is built.

use crate::straight::{condition_name, straight};
use flowpin_lexer::{Grammar, Op, State};
use flowpin_record::{Logs, Shown};
use std::fmt::{Debug, Write};

/// Source of a module that holds a grammar as the static `NAME`, marked as generated.
///
/// `from` is the grammar's file, for the reader. `has_straight`: with what most often comes as
/// instructions, too, in the type `Straight` ([`flowpin_lexer::Straight`]).
pub fn as_rust(grammar: &Grammar, name: &str, from: &str, has_straight: bool) -> String {
    let mut out = Out(String::new());
    let parts = grammar.table.parts();
    let program = &grammar.program;
    out.line(&format!(
        "// @generated from {from} by `cargo xtask grammars`; do not edit."
    ));
    out.line(&format!("//! The tables of `{from}`."));
    out.line("");
    out.line(
        "#![allow(clippy::all, dead_code, unreachable_pub, unused_qualifications, unused_imports)]",
    );
    out.line("");
    out.line("use flowpin_cpu::{ByteSet, Classifier};");
    out.line("use flowpin_lexer::*;");
    out.line("use flowpin_record::{Kind, Logs, MessageColumn, MessageSchema};");
    out.line("use std::borrow::Cow::Borrowed;");
    out.line("");
    out.line(
        "/// A state: what it accepts, where a likely byte leads, a run, whether it is final.",
    );
    out.line("const fn s(accept: u16, likely_next: u16, likely_byte: u8, run: u8, is_final: bool)");
    out.line("-> State { State { accept, likely_next, likely_byte, run, is_final } }");
    out.line("");
    for (index, token) in grammar.tokens.iter().enumerate() {
        if is_constant(token) {
            out.line(&format!("/// Token `{token}`."));
            out.line(&format!(
                "pub const {}: u16 = {};",
                token.to_uppercase(),
                index + 1
            ));
        }
    }
    for (index, condition) in grammar.conditions.iter().enumerate() {
        let upper = condition_name(condition);
        out.line(&format!("/// Start condition `{condition}`."));
        out.line(&format!("pub const IN_{upper}: Condition = {index};"));
    }
    out.line("");
    if has_straight {
        out.0.push_str(&straight(grammar));
    }
    out.line(&format!("/// The grammar of `{from}`."));
    out.line(&format!("pub static {name}: Grammar = Grammar {{"));
    out.field("protocol", &borrowed(&grammar.protocol));
    out.list("identify", &grammar.identify, |one| {
        let pattern = borrowed(&one.pattern);
        format!(
            "Identify {{ direction: Direction::{:?}, pattern: {pattern} }}",
            one.direction
        )
    });
    out.line("table: Table::new(Parts {");
    out.numbers("classes", parts.classes.as_slice());
    out.field("class_bits", &parts.class_bits.to_string());
    out.numbers("transitions", &parts.transitions);
    out.packed("states", &parts.states, state);
    out.packed("starts", &parts.starts, plain);
    out.list("rules", &parts.rules, |rule| {
        plain(rule).replace("trail: ", "trail: Trail::")
    });
    out.list("runs", &parts.runs, plain);
    out.list("sets", &parts.sets, |set| {
        let (low, high) = set.tables();
        format!("ByteSet::of_tables({low:?}, {high:?})")
    });
    out.list("words", &parts.words, plain);
    out.list("word_bytes", &parts.word_bytes, plain);
    out.list("heads", &parts.heads, plain);
    out.field("token_len_max", &parts.token_len_max.to_string());
    out.field("uses_line_start", &parts.uses_line_start.to_string());
    out.field("resync", &plain(&parts.resync));
    out.line("}),");
    out.list("tokens", &grammar.tokens, |text| borrowed(text));
    out.list("conditions", &grammar.conditions, |text| borrowed(text));
    out.field("begin", &plain(&grammar.begin));
    out.field("answers", &plain(&grammar.answers));
    out.field("resync", &format!("Borrowed(&{:?})", grammar.resync));
    out.list("content", &grammar.content, plain);
    out.line("program: Program {");
    out.list("operations", &program.operations, operation);
    out.list("fields", &program.fields, |field| {
        format!(
            "GrammarField {{ name: {}, kind: FieldKind::{:?}, is_kept: {} }}",
            borrowed(&field.name),
            field.kind,
            field.is_kept
        )
    });
    out.list("messages", &program.messages, |message| {
        let schema = &message.schema;
        let mut columns = String::new();
        for column in schema.columns.iter() {
            let only_in = match column.logs {
                Logs::All => String::new(),
                logs => format!(".only_in(Logs::{logs:?})"),
            };
            let _ = write!(
                columns,
                "MessageColumn::new({:?}, {:?}, Kind::{:?}, {:?}){only_in}, ",
                column.name, column.eve, column.kind, column.doc
            );
        }
        let mut more = match schema.shown {
            Shown::Everywhere => String::new(),
            Shown::InEvents => ".only_events()".to_owned(),
            Shown::InColumns => ".only_columns()".to_owned(),
            Shown::InZeek => ".only_zeek()".to_owned(),
        };
        if let Some(column) = schema.client_sent {
            let _ = write!(more, ".sent_as_says({column})");
        }
        format!(
            "GrammarMessage {{ schema: MessageSchema::in_file({:?}, {:?}, {:?}, \
             const {{ &[{columns}] }}){more}, fields: Borrowed(&{:?}) }}",
            schema.name, schema.file_stem, schema.doc, message.fields
        )
    });
    out.field("tokens", &plain(&program.tokens));
    out.field("anomalies", &format!("Borrowed(&{:?})", program.anomalies));
    out.list("texts", &program.texts, |text| borrowed(text));
    out.line("},");
    out.line("};");
    out.0
}

/// Whether a token's name can be a constant's.
pub(crate) fn is_constant(token: &str) -> bool {
    let mut bytes = token.bytes();
    bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn plain(value: &impl Debug) -> String {
    format!("{value:?}")
}

fn state(state: &State) -> String {
    let State {
        accept,
        likely_next,
        likely_byte,
        run,
        is_final,
    } = state;
    format!("s({accept},{likely_next},{likely_byte},{run},{is_final})")
}

fn operation(operation: &Op) -> String {
    format!("Op::{operation:?}")
}

fn borrowed(text: &str) -> String {
    format!("Borrowed({text:?})")
}

struct Out(String);

impl Out {
    fn line(&mut self, line: &str) {
        self.0.push_str(line);
        self.0.push('\n');
    }

    fn field(&mut self, name: &str, value: &str) {
        self.line(&format!("{name}: {value},"));
    }

    /// One item a line.
    fn list<T>(&mut self, name: &str, items: &[T], show: impl Fn(&T) -> String) {
        self.line(&format!("{name}: Borrowed(&["));
        for item in items {
            self.line(&format!("{},", show(item)));
        }
        self.line("]),");
    }

    fn numbers<T: Debug>(&mut self, name: &str, numbers: &[T]) {
        self.packed(name, numbers, plain);
    }

    /// As many items a line as fit.
    fn packed<T>(&mut self, name: &str, items: &[T], show: impl Fn(&T) -> String) {
        self.line(&format!("{name}: Borrowed(&["));
        let mut line = String::new();
        for item in items {
            let item = format!("{},", show(item));
            if line.len() + item.len() > COLUMNS_MAX {
                self.line(&line);
                line.clear();
            }
            line.push_str(&item);
        }
        if !line.is_empty() {
            self.line(&line);
        }
        self.line("]),");
    }
}

const COLUMNS_MAX: usize = 96;
