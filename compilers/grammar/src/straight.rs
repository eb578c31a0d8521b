//! The straight tokens of a grammar as Rust: what most often comes in each start condition,
//! followed through the automaton.
//!
//! ```text
//!  <VALUE>{LINE}*\r?\n  ─►  let at = cursor.run(1, 0);
//!                           let at = cursor.is(at, *b"\r\n")?;
//!                           cursor.tell(at, 15, VALUE_LINE, Some(IN_FIELD))
//! ```
//!
//! Each line that is written is a step of the automaton, and a token is told only where nothing
//! longer can match. So whatever gets to the end of such a function is what the table would find;
//! whatever does not is left to the table.

use flowpin_lexer::{Grammar, Parts, Run, State, Trail, Word};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Source of the type `Straight`, for the module that [`crate::as_rust`] writes.
pub(crate) fn straight(grammar: &Grammar) -> String {
    let parts = grammar.table.parts();
    let mut functions = String::new();
    let mut arms = String::new();
    // Where the beginning of a line matters, the table looks at it.
    let starts = parts.starts.iter().filter(|_| !parts.uses_line_start);
    for (start, name) in starts.zip(grammar.conditions.iter()) {
        let writer = Writer { grammar, parts };
        if let Some(body) = writer.start(start.states[0]) {
            let upper = condition_name(name);
            let lower = upper.to_lowercase();
            let _ = writeln!(arms, "IN_{upper} => in_{lower}(cursor)?,");
            let _ = writeln!(
                functions,
                "/// `{name}`.\n#[inline(always)]\n\
                 fn in_{lower}<C: Classifier, S: Sink>(cursor: &mut Cursor<'_, C, S>) \
                 -> Option<Condition> {{\n{body}}}\n"
            );
        }
    }
    indented(&format!(
        "/// What most often comes, as instructions.\n\
         #[derive(Clone, Copy, Debug)]\n\
         pub struct Straight;\n\n\
         impl flowpin_lexer::Straight for Straight {{\n\
         #[inline(always)]\n\
         fn tokens<C: Classifier, S: Sink>(self, cursor: &mut Cursor<'_, C, S>) \
         -> Option<Condition> {{\n\
         let mut condition = cursor.condition();\n\
         loop {{\n\
         condition = match condition {{\n\
         {arms}_ => return None,\n\
         }};\n\
         }}\n\
         }}\n\
         }}\n\n\
         {functions}"
    ))
}

/// Lines set in by the blocks that they are in.
fn indented(text: &str) -> String {
    let mut depth = 0usize;
    let mut out = String::new();
    for line in text.lines() {
        if line.starts_with('}') {
            depth = depth.saturating_sub(1);
        }
        let width = if line.is_empty() { 0 } else { depth * 4 };
        let _ = writeln!(out, "{:width$}{line}", "");
        if line.ends_with('{') {
            depth += 1;
        }
    }
    out
}

/// A start condition's name as part of a constant's.
pub(crate) fn condition_name(name: &str) -> String {
    name.to_uppercase().replace('-', "_")
}

struct Writer<'g> {
    grammar: &'g Grammar,
    parts: &'g Parts,
}

impl Writer<'_> {
    /// What comes at the beginning of a token. None if that cannot be guessed.
    fn start(&self, state: u16) -> Option<String> {
        let known = self.state(state)?;
        match self.run(known) {
            Some(run) if run.word_len_max != 0 => self.words(state, run),
            _ => self.steps(state, "0", STEPS_MAX),
        }
    }

    /// A run over words, and what comes behind each.
    fn words(&self, state: u16, run: &Run) -> Option<String> {
        let general = self.behind(run.after, "at", STEPS_MAX);
        let mut body = format!("let at = cursor.run({}, 0);\nmatch at {{\n", run.stop);
        let empty = self.empty(state, run);
        let mut is_known = general.is_some() || empty.is_some();
        let _ = writeln!(body, "0 => {{\n{}}}", empty.as_deref().unwrap_or(NONE));
        let words = self.parts.words.get(usize::from(run.words.0)..)?;
        for word in words.get(..usize::from(run.words.1))? {
            let behind = self.behind(word.state, "at", STEPS_MAX);
            is_known |= behind.is_some();
            let len = word.bytes.1;
            let is_word = self.spelled(word)?;
            let behind = behind.as_deref().unwrap_or(NONE);
            let _ = writeln!(body, "{len} if {is_word} => {{\n{behind}}}");
        }
        let _ = writeln!(
            body,
            "_ => {{\n{}}}\n}}",
            general.as_deref().unwrap_or(NONE)
        );
        is_known.then_some(body)
    }

    /// Whether a word is there.
    fn spelled(&self, word: &Word) -> Option<String> {
        let bytes = self.parts.word_bytes.get(word.bytes.0 as usize..)?;
        let bytes = bytes.get(..usize::from(word.bytes.1))?;
        let (own, folded): (Vec<u8>, Vec<u8>) = bytes.iter().map(|[own, fold]| (own, fold)).unzip();
        Some(format!(
            "cursor.is_word({}, {})",
            literal(&own),
            literal(&folded)
        ))
    }

    /// The longest token of all but sure bytes that no word begins with.
    fn empty(&self, state: u16, run: &Run) -> Option<String> {
        let stop = self.parts.sets.get(usize::from(run.stop))?;
        let bytes = (0..=255u8).filter(|&byte| stop.contains(byte));
        let paths = bytes.filter_map(|byte| {
            let mut path = vec![byte];
            let mut state = self.next(state, byte);
            while let Some(known) = self.state(state).filter(|state| !state.is_final) {
                let is_sure = self.bytes_to(state, known.likely_next).len() <= SURE_MAX;
                if known.run != 0 || known.likely_next == 0 || !is_sure || path.len() > 4 {
                    return None;
                }
                path.push(known.likely_byte);
                state = known.likely_next;
            }
            Some((path, self.tell(state)?))
        });
        let (path, tell) = paths.max_by_key(|(path, _)| (path.len(), u8::MAX - path[0]))?;
        Some(format!(
            "let at = cursor.is(0, {})?;\n{tell}\n",
            literal(&path)
        ))
    }

    /// From a state on, of which nothing is known but that the position is `at`.
    fn steps(&self, state: u16, at: &str, left: usize) -> Option<String> {
        let known = self.state(state)?;
        match self.run(known) {
            // Words are looked up at the beginning of a token only.
            Some(run) if run.word_len_max != 0 => None,
            Some(run) => {
                let behind = self.behind(state, "at", left.checked_sub(1)?)?;
                Some(format!(
                    "let at = cursor.run({}, {at});\n{behind}",
                    run.stop
                ))
            }
            None => self.behind(state, at, left),
        }
    }

    /// From a state on whose run, if it has one, is over.
    fn behind(&self, state: u16, at: &str, left: usize) -> Option<String> {
        let mut state = state;
        let mut bytes = Vec::new();
        let mut known = self.state(state)?;
        // Bytes that are all but sure are compared together.
        while !known.is_final && (bytes.is_empty() || known.run == 0) && known.likely_next != 0 {
            let likely = self.bytes_to(state, known.likely_next);
            let is_run_on = known.run != 0 && likely.iter().all(|byte| !self.stops(known, *byte));
            if likely.len() > SURE_MAX || is_run_on || bytes.len() > left {
                break;
            }
            bytes.push(known.likely_byte);
            state = known.likely_next;
            known = self.state(state)?;
        }
        if !bytes.is_empty() {
            let left = left.checked_sub(bytes.len())?;
            let behind = match known.is_final {
                true => format!("{}\n", self.tell(state)?),
                false => self.steps(state, "at", left)?,
            };
            let bytes = literal(&bytes);
            return Some(format!("let at = cursor.is({at}, {bytes})?;\n{behind}"));
        }
        if known.is_final || known.likely_next == 0 || known.run != 0 {
            return None;
        }
        let ranges = ranges(&self.bytes_to(state, known.likely_next));
        if ranges.len() > RANGES_MAX {
            return None;
        }
        let ranges = ranges.join(" | ");
        let behind = self.steps(known.likely_next, "at", left.checked_sub(1)?)?;
        let is_one = format!("cursor.is_one_of({at}, |byte| matches!(byte, {ranges}))");
        Some(format!("let at = {is_one}?;\n{behind}"))
    }

    /// A token that ends in a state from which nothing leads on.
    fn tell(&self, state: u16) -> Option<String> {
        let number = self.state(state)?.accept.checked_sub(1)?;
        let rule = self.parts.rules.get(usize::from(number))?;
        if rule.trail != Trail::None {
            return None;
        }
        let begin = match rule.begin.checked_sub(1) {
            Some(begin) => {
                let name = self.grammar.conditions.get(usize::from(begin))?;
                format!("Some(IN_{})", condition_name(name))
            }
            None => "None".to_owned(),
        };
        let token = match self.grammar.token_name(rule.token) {
            Some(name) if crate::rust::is_constant(name) => name.to_uppercase(),
            _ => rule.token.to_string(),
        };
        let line = rule.line;
        Some(format!(
            "// Line {line}.\ncursor.tell(at, {number}, {token}, {begin})"
        ))
    }

    fn state(&self, state: u16) -> Option<&State> {
        match state {
            0 => None,
            _ => self.parts.states.get(usize::from(state)),
        }
    }

    fn run(&self, state: &State) -> Option<&Run> {
        let run = state.run.checked_sub(1)?;
        self.parts.runs.get(usize::from(run))
    }

    /// Whether a byte ends a state's run.
    fn stops(&self, state: &State, byte: u8) -> bool {
        let run = self.run(state);
        let set = run.and_then(|run| self.parts.sets.get(usize::from(run.stop)));
        set.is_some_and(|set| set.contains(byte))
    }

    fn next(&self, state: u16, byte: u8) -> u16 {
        let class = self.parts.classes.get(usize::from(byte)).copied();
        let row = usize::from(state) << self.parts.class_bits;
        let next = self
            .parts
            .transitions
            .get(row | usize::from(class.unwrap_or(0)));
        next.copied().unwrap_or(0)
    }

    /// The bytes that lead from one state to another.
    fn bytes_to(&self, from: u16, to: u16) -> Vec<u8> {
        let bytes = 0..=255u8;
        bytes.filter(|&byte| self.next(from, byte) == to).collect()
    }
}

/// Bytes as patterns of `matches!`.
fn ranges(bytes: &[u8]) -> Vec<String> {
    let mut spans: BTreeMap<u8, u8> = BTreeMap::new();
    for &byte in bytes {
        match spans.last_entry() {
            Some(mut span) if span.get().checked_add(1) == Some(byte) => {
                span.insert(byte);
            }
            _ => {
                spans.insert(byte, byte);
            }
        }
    }
    let spans = spans.iter();
    spans
        .map(|(from, to)| format!("{from:#04x}..={to:#04x}"))
        .collect()
}

/// Bytes as an array.
fn literal(bytes: &[u8]) -> String {
    format!("*b\"{}\"", bytes.escape_ascii())
}

/// What is left to the table.
const NONE: &str = "None\n";
/// As many bytes may lead where a likely one does, for it to be all but sure.
const SURE_MAX: usize = 1;
/// Tokens of more steps are left to the table.
const STEPS_MAX: usize = 24;
/// Bytes of more ranges are left to the table.
const RANGES_MAX: usize = 4;
