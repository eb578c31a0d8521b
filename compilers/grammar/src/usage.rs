//! How statements are written: what is said of one that is not.

use crate::diagnostic::Failure;
use crate::read::Argument;

pub(crate) fn not_one(name: &str, arguments: &[Argument], at: usize) -> Failure {
    let known = STATEMENTS.iter().find(|(known, _)| *known == name);
    match known {
        Some((_, usage)) => Failure::new(at, format!("this statement is written {usage}")),
        None => Failure::new(
            at,
            format!(
                "C is not compiled: there is no statement {name} of {} arguments \
                 (docs/user/grammar.md lists them)",
                arguments.len()
            ),
        ),
    }
}

/// How each statement is written.
const STATEMENTS: &[(&str, &str)] = &[
    ("trim", "trim() or trim(FRONT, BACK)"),
    ("word", "word(NTH), from 1"),
    ("rest", "rest(NTH), from 1"),
    ("after", "after('c')"),
    ("before", "before('c') or before(\"text\")"),
    ("between", "between('c', 'c')"),
    ("between_with", "between_with('c', 'c')"),
    ("capture", "capture(FIELD)"),
    ("append", "append(FIELD)"),
    ("parameter", "parameter(FIELD, \"name\")"),
    ("set", "set(FIELD, \"text\") or set(FIELD, NUMBER)"),
    ("increment", "increment(FIELD)"),
    ("add", "add(FIELD, FIELD)"),
    ("repeat", "repeat(FIELD, CONDITION)"),
    ("take", "take(FIELD, LENGTH)"),
    (
        "number",
        "number(FIELD), number(FIELD, BASE) or number(FIELD, BASE, LEAST, GREATEST)",
    ),
    ("skip", "skip(NUMBER), skip(FIELD) or skip(FIELD, MORE)"),
    ("skip_all", "skip_all()"),
    ("emit", "emit(MESSAGE)"),
    (
        "ask",
        "ask(MESSAGE), ask(MESSAGE, CONDITION) or ask(MESSAGE, FIELD)",
    ),
    (
        "ask_once",
        "ask_once(MESSAGE, FIELD) or ask_once(MESSAGE, FIELD, FIELD)",
    ),
    ("ask_last", "ask_last(MESSAGE)"),
    ("await", "await(CONDITION)"),
    ("noreply", "noreply()"),
    ("quiet", "quiet()"),
    ("answered", "answered()"),
    ("answer_begun", "answer_begun(MESSAGE, CONDITION, FROM)"),
    ("take_back", "take_back(MESSAGE)"),
    ("pass", "pass(CONDITION)"),
    ("answer_more", "answer_more(MESSAGE), with up to two fields"),
    (
        "answer_in_order",
        "answer_in_order(MESSAGE, FIELD), with up to four fields",
    ),
    ("feed", "feed(LENGTH, CONDITION)"),
    ("feed_last", "feed_last(LENGTH, CONDITION)"),
    (
        "answer",
        "answer(MESSAGE), answer(MESSAGE, FIELD) or answer(MESSAGE, FIELD, FIELD)",
    ),
    ("clear", "clear(FIELD) or clear()"),
    ("anomaly", "anomaly(NAME)"),
    ("peer", "peer(CONDITION) or peer(CONDITION, FROM)"),
    ("stop", "stop()"),
    ("stop_both", "stop_both()"),
];
