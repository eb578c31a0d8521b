//! The second section: rules.

use super::GrammarSource;
use super::action::{self, Call};
use super::cursor::{Cursor, as_text};
use crate::diagnostic::Failure;
use crate::limits::Limits;
use crate::pattern::{Parser, Pattern, is_name};

/// A rule as it was written.
#[derive(Debug)]
pub(crate) struct RuleSource {
    pub(crate) conditions: Conditions,
    /// None: it is for the end of the input.
    pub(crate) pattern: Option<Pattern>,
    /// None: as the next rule's.
    pub(crate) action: Option<Vec<Call>>,
    /// Where its pattern begins.
    pub(crate) at: usize,
}

/// Where a rule holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Conditions {
    /// In `INITIAL` and all that are not exclusive.
    Unnamed,
    /// Everywhere.
    All,
    /// In these.
    Named(Vec<usize>),
}

/// Reads up to `%%` or the end.
pub(super) fn read(
    cursor: &mut Cursor<'_>,
    source: &mut GrammarSource,
    limits: &Limits,
) -> Result<(), Failure> {
    let mut scopes: Vec<(Conditions, usize)> = Vec::new();
    loop {
        let line_begin = cursor.at;
        cursor.skip_blanks();
        let is_indented = cursor.at > line_begin;
        match cursor.rest() {
            [] => break,
            [b'\r' | b'\n', ..] => cursor.skip_line(),
            [b'/', b'*', ..] => {
                cursor.skip_comment()?;
                cursor.end_line()?;
            }
            [b'/', b'/', ..] if is_indented => cursor.skip_line(),
            [b'%', b'%', ..] if !is_indented => break,
            [b'%', b'{', ..] => {
                cursor.skip_block()?;
                cursor.end_line()?;
            }
            [b'}', ..] if !scopes.is_empty() => {
                cursor.at += 1;
                scopes.pop();
                cursor.end_line()?;
            }
            _ if is_indented && scopes.is_empty() => {
                let text = "C is not compiled: a rule begins in the first column";
                return Err(Failure::new(cursor.at, text));
            }
            [b'{', ..] if begins_action(cursor) && is_without_action(source) => {
                let action = action::read(cursor)?;
                if let Some(rule) = source.rules.last_mut() {
                    rule.action = action;
                }
            }
            _ => rule(cursor, source, &mut scopes, limits)?,
        }
    }
    if let Some((_, at)) = scopes.last() {
        return Err(Failure::new(*at, "a block of rules without its }"));
    }
    if let Some(last) = source.rules.last().filter(|rule| rule.action.is_none()) {
        return Err(Failure::new(
            last.at,
            "| at the last rule: there is no next",
        ));
    }
    Ok(())
}

fn rule(
    cursor: &mut Cursor<'_>,
    source: &mut GrammarSource,
    scopes: &mut Vec<(Conditions, usize)>,
    limits: &Limits,
) -> Result<(), Failure> {
    let place = cursor.at;
    let outer = scopes.last().map(|(conditions, _)| conditions.clone());
    let own = match cursor.rest() {
        [b'<', b'<', ..] => None,
        [b'<', ..] => Some(conditions(cursor, source)?),
        _ => None,
    };
    let conditions = match (outer, own) {
        (outer, None) => outer.unwrap_or(Conditions::Unnamed),
        (None, Some(own)) => own,
        (Some(outer), Some(own)) => joined(outer, own),
    };
    if own_block(cursor)? {
        if scopes.len() >= limits.depth_max {
            let text = format!("blocks of rules deeper than {}", limits.depth_max);
            return Err(Failure::new(place, text));
        }
        scopes.push((conditions, place));
        return Ok(());
    }
    // Alternatives may stand on one line, each with its `|`.
    while !one(cursor, source, conditions.clone(), limits)? {}
    Ok(())
}

/// One pattern and its action; whether the line is over.
fn one(
    cursor: &mut Cursor<'_>,
    source: &mut GrammarSource,
    conditions: Conditions,
    limits: &Limits,
) -> Result<bool, Failure> {
    let at = cursor.at;
    let pattern = match cursor.eat(b"<<EOF>>") {
        true => None,
        false => {
            let parser = Parser::new(
                cursor.text,
                cursor.at,
                &source.definitions,
                limits,
                source.ignores_case,
            );
            let (pattern, end) = parser.pattern()?;
            cursor.at = end;
            Some(pattern)
        }
    };
    if source.rules.len() >= limits.rules_max {
        let text = format!("at most {} rules", limits.rules_max);
        return Err(Failure::new(at, text));
    }
    let action = action::read(cursor)?;
    source.rules.push(RuleSource {
        conditions,
        pattern,
        action,
        at,
    });
    let is_over = cursor
        .text
        .get(..cursor.at)
        .is_some_and(|text| text.ends_with(b"\n"));
    Ok(is_over || cursor.rest().is_empty())
}

/// Whether a `{` begins an action, and not the name of a definition.
fn begins_action(cursor: &Cursor<'_>) -> bool {
    let mut ahead = *cursor;
    ahead.at += 1;
    ahead.skip_blanks();
    let is_name = is_name(ahead.word(true));
    is_name && !matches!(ahead.peek(), Some(b'}') | None) && !ahead.is_at_line_end()
}

/// Whether the last rule says nothing of what is done: the next line may.
fn is_without_action(source: &GrammarSource) -> bool {
    let last = source.rules.last();
    last.is_some_and(|rule| rule.action.as_ref().is_some_and(Vec::is_empty))
}

/// Whether a block of rules begins: `{` and the end of the line.
fn own_block(cursor: &mut Cursor<'_>) -> Result<bool, Failure> {
    let mut ahead = *cursor;
    if !ahead.eat(b"{") {
        return Ok(false);
    }
    ahead.skip_blanks();
    ahead.skip_comment()?;
    ahead.skip_blanks();
    if !ahead.is_at_line_end() {
        return Ok(false);
    }
    ahead.skip_line();
    *cursor = ahead;
    Ok(true)
}

/// `<A,B>` or `<*>`.
fn conditions(cursor: &mut Cursor<'_>, source: &GrammarSource) -> Result<Conditions, Failure> {
    let place = cursor.at;
    cursor.at += 1;
    if cursor.eat(b"*>") {
        return Ok(Conditions::All);
    }
    let mut named = Vec::new();
    loop {
        cursor.skip_blanks();
        let at = cursor.at;
        let name = cursor.word(true);
        if !is_name(name) {
            return Err(Failure::new(at, "a start condition's name is expected"));
        }
        let found = source
            .conditions
            .iter()
            .position(|known| known.name.as_bytes() == name);
        let Some(condition) = found else {
            let text = format!("start condition {} is not declared", as_text(name));
            return Err(Failure::new(at, text));
        };
        if !named.contains(&condition) {
            named.push(condition);
        }
        cursor.skip_blanks();
        if cursor.eat(b">") {
            return Ok(Conditions::Named(named));
        }
        if !cursor.eat(b",") {
            return Err(Failure::new(place, "< without its >"));
        }
    }
}

fn joined(outer: Conditions, own: Conditions) -> Conditions {
    match (outer, own) {
        (Conditions::Named(mut outer), Conditions::Named(own)) => {
            for condition in own {
                if !outer.contains(&condition) {
                    outer.push(condition);
                }
            }
            Conditions::Named(outer)
        }
        (_, Conditions::All) | (Conditions::All, _) => Conditions::All,
        (Conditions::Unnamed, own) => own,
        (outer, Conditions::Unnamed) => outer,
    }
}
