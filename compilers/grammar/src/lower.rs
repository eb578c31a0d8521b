//! From what was read and built to the run-time's [`Grammar`].

use crate::automaton::{Accelerated, Built};
use crate::diagnostic::{Failure, Source};
use crate::read::{
    Call, Conditions, Declarations, FieldDeclaration, GrammarSource, MessageDeclaration, RuleSource,
};
use crate::statements::Statements;
use flowpin_lexer::{
    Condition, ContentIn, FieldKind, Grammar, GrammarField, GrammarMessage, Identify, Parts,
    Program, Start, Table,
};
use flowpin_record::{Kind, Logs, MessageColumn, MessageSchema};
use std::borrow::Cow;

/// Joins the parts of a grammar.
pub(crate) fn lower(
    source: &Source<'_>,
    read: &GrammarSource,
    matched: &[u16],
    built: &Built,
    accelerated: Accelerated,
) -> Result<Grammar, Failure> {
    let declared = &read.declarations;
    let mut statements = Statements::new(read, fields(declared)?)?;
    let mut rules = Vec::new();
    for (number, rule) in read.rules.iter().enumerate() {
        let calls = action_of(&read.rules, number);
        let mut lowered = statements.rule(calls)?;
        lowered.line = u32::try_from(source.line_of(rule.at)).unwrap_or(u32::MAX);
        rules.push(lowered);
    }
    // The automaton numbers rules with patterns only; the others are for the end of the input.
    let by_automaton = |accept: u16| {
        let index = usize::from(accept).checked_sub(1)?;
        matched.get(index).map(|rule| rule + 1)
    };
    for (index, trail) in matched.iter().zip(&built.trails) {
        if let Some(rule) = rules.get_mut(usize::from(*index)) {
            rule.trail = trail.trail;
        }
    }
    let mut states = accelerated.states;
    for state in &mut states {
        state.accept = by_automaton(state.accept).unwrap_or(0);
    }
    let resync = declared
        .resync
        .as_ref()
        .map(|(name, at)| condition(read, name, *at))
        .transpose()?;
    let answers = declared.answers.as_ref();
    let answers = answers
        .map(|(name, at)| condition(read, name, *at))
        .transpose()?;
    let resync_in = declared.resync_in.iter().map(|[to, from]| {
        let of = |(name, at): &(String, usize)| condition(read, name, *at);
        Ok((of(from)?, of(to)?))
    });
    let resync_in = resync_in.collect::<Result<Vec<_>, Failure>>()?;
    let content = content(read)?;
    let begin = |declared: &Option<(String, usize)>| match declared {
        Some((name, at)) => condition(read, name, *at),
        None => Ok(0),
    };
    let class_bits = built.classes.count().next_power_of_two().trailing_zeros();
    let table = Table::new(Parts {
        classes: Cow::Owned(built.classes.of_byte),
        class_bits: u8::try_from(class_bits).unwrap_or(8),
        transitions: transitions(built, class_bits).into(),
        states: states.into(),
        starts: starts(read, built).into(),
        rules: rules.into(),
        runs: accelerated.runs.into(),
        sets: accelerated.sets.into(),
        words: accelerated.words.words.into(),
        word_bytes: accelerated.words.bytes.into(),
        heads: heads(built, by_automaton).into(),
        token_len_max: declared.token_len_max.unwrap_or(TOKEN_LEN_MAX),
        uses_line_start: read
            .rules
            .iter()
            .any(|rule| rule.pattern.as_ref().is_some_and(|p| p.at_line_start)),
        resync,
    });
    let names = read
        .conditions
        .iter()
        .map(|condition| condition.name.clone().into());
    Ok(Grammar {
        protocol: declared.protocol.clone().unwrap_or_default().into(),
        identify: identify(declared).into(),
        table,
        conditions: names.collect(),
        begin: [begin(&declared.client)?, begin(&declared.server)?],
        answers,
        resync: resync_in.into(),
        content: content.into(),
        program: Program {
            tokens: tells_tokens(read).then_some(0),
            operations: statements.operations.into(),
            fields: statements.fields.iter().map(field).collect(),
            messages: match tells_tokens(read) {
                true => vec![token_message(declared)].into(),
                false => messages(declared)?.into(),
            },
            anomalies: statements.anomalies.into_iter().map(fixed).collect(),
            texts: statements.texts.into_iter().map(Cow::Owned).collect(),
        },
        tokens: statements.tokens.into_iter().map(Cow::Owned).collect(),
    })
}

/// Where tokens are a mail's lines.
fn content(read: &GrammarSource) -> Result<Vec<ContentIn>, Failure> {
    let mut content = Vec::new();
    for declared in &read.declarations.content {
        for (nth, (name, at)) in declared.conditions.iter().enumerate() {
            content.push(ContentIn {
                condition: condition(read, name, *at)?,
                begins: nth == 0,
                stuffed: declared.stuffed,
            });
        }
    }
    Ok(content)
}

/// A rule's statements; those of a later rule if it says `|`.
fn action_of(rules: &[RuleSource], number: usize) -> &[Call] {
    let from_here = rules.get(number..).unwrap_or_default();
    from_here
        .iter()
        .find_map(|rule| rule.action.as_deref())
        .unwrap_or_default()
}

/// All fields, messages' and local ones; those of one name are one.
fn fields(declared: &Declarations) -> Result<Vec<FieldDeclaration>, Failure> {
    let mut fields: Vec<FieldDeclaration> = Vec::new();
    let of_messages = declared.messages.iter().flat_map(|message| &message.fields);
    for field in of_messages.chain(&declared.locals) {
        match fields.iter().find(|known| known.name == field.name) {
            None => fields.push(field.clone()),
            Some(known) if known.kind == field.kind && known.is_kept == field.is_kept => {}
            Some(_) => {
                let text = format!("{} is declared differently elsewhere", field.name);
                return Err(Failure::new(field.at, text));
            }
        }
    }
    Ok(fields)
}

fn field(field: &FieldDeclaration) -> GrammarField {
    GrammarField {
        name: field.name.clone().into(),
        kind: field.kind,
        is_kept: field.is_kept,
    }
}

fn messages(declared: &Declarations) -> Result<Vec<GrammarMessage>, Failure> {
    let all = fields(declared)?;
    declared
        .messages
        .iter()
        .map(|one| match &one.like {
            None => message(one, &all),
            Some((name, at)) => {
                let mut known = declared.messages.iter();
                let known = known.find(|other| other.name == *name && other.like.is_none());
                let Some(known) = known else {
                    return Err(Failure::new(*at, "a message with fields is expected"));
                };
                let mut like = message(known, &all)?;
                like.schema.shown = one.shown;
                Ok(like)
            }
        })
        .collect()
}

fn message(
    message: &MessageDeclaration,
    all: &[FieldDeclaration],
) -> Result<GrammarMessage, Failure> {
    let mut ids = Vec::new();
    let mut columns = Vec::new();
    for field in &message.fields {
        let at = all.iter().position(|known| known.name == field.name);
        let id = at.and_then(|at| u16::try_from(at).ok());
        let is_new = message
            .fields
            .iter()
            .filter(|one| one.name == field.name)
            .count()
            == 1;
        let Some(id) = id.filter(|_| is_new) else {
            return Err(Failure::new(
                field.at,
                format!("{} stands here twice", field.name),
            ));
        };
        ids.push(id);
        let eve = match &field.eve {
            Some(eve) => eve.clone(),
            None => format!("{}.{}", message.name, field.name),
        };
        columns.push(MessageColumn {
            name: match field.is_in_events {
                true => "".into(),
                false => field.name.clone().into(),
            },
            eve: eve.into(),
            kind: kind(field.kind),
            logs: Logs::All,
            doc: field.doc.clone().into(),
        });
        if let (Some(zeek), Some(column)) = (&field.zeek, columns.last_mut()) {
            column.logs = Logs::NotZeek;
            let column = MessageColumn {
                name: zeek.clone().into(),
                eve: "".into(),
                logs: Logs::OnlyZeek,
                ..column.clone()
            };
            columns.push(column);
            ids.push(id);
        }
    }
    let client_sent = message.is_of_either.then_some(columns.len());
    if message.is_of_either {
        columns.push(MessageColumn::new(
            "",
            "",
            Kind::Bool,
            "The client sent it.",
        ));
    }
    let name: Cow<'static, str> = message.name.clone().into();
    Ok(GrammarMessage {
        schema: MessageSchema {
            client_sent,
            part_of: None,
            stands_alone: false,
            file_stem: match &message.file {
                Some((stem, _)) => stem.clone().into(),
                None => name.clone(),
            },
            name,
            doc: message.doc.clone().into(),
            columns: columns.into(),
            shown: message.shown,
            from_server: false,
        },
        fields: ids.into(),
    })
}

/// Whether a grammar's tokens are its records: it returns some, and declares no message.
pub(crate) fn tells_tokens(read: &GrammarSource) -> bool {
    let mut calls = read
        .rules
        .iter()
        .filter_map(|rule| rule.action.as_ref())
        .flatten();
    read.declarations.messages.is_empty() && calls.any(|call| call.name == "return")
}

/// The record of a token, for grammars that only return tokens.
fn token_message(declared: &Declarations) -> GrammarMessage {
    let protocol = declared.protocol.as_deref().unwrap_or_default();
    let name: Cow<'static, str> = format!("{}_token", protocol.replace('-', "_")).into();
    let column = |column: &'static str, kind, doc: &'static str| MessageColumn {
        name: column.into(),
        eve: format!("{name}.{column}").into(),
        kind,
        logs: Logs::All,
        doc: doc.into(),
    };
    let columns = vec![
        column("token", Kind::Text, "What the rule returns."),
        column("text", Kind::Text, "What matched."),
        column("direction", Kind::Text, "Who sent it: client or server."),
        column("offset", Kind::Count, "Bytes of that direction before it."),
    ];
    GrammarMessage {
        schema: MessageSchema {
            name: name.clone(),
            file_stem: name,
            doc: "A token of the grammar.".into(),
            columns: columns.into(),
            shown: flowpin_record::Shown::Everywhere,
            from_server: false,
            client_sent: None,
            part_of: None,
            stands_alone: false,
        },
        fields: Cow::Borrowed(&[]),
    }
}

fn kind(kind: FieldKind) -> Kind {
    match kind {
        FieldKind::Text => Kind::Text,
        FieldKind::Count => Kind::Count,
        FieldKind::Flag => Kind::Bool,
        FieldKind::List => Kind::TextList,
        FieldKind::Files => Kind::FileIds,
    }
}

fn identify(declared: &Declarations) -> Vec<Identify> {
    let all = declared.identify.iter();
    all.map(|(direction, pattern, _)| Identify {
        direction: *direction,
        pattern: pattern.clone().into(),
    })
    .collect()
}

pub(crate) fn condition(read: &GrammarSource, name: &str, at: usize) -> Result<Condition, Failure> {
    let found = read.conditions.iter().position(|known| known.name == name);
    match found.and_then(|index| Condition::try_from(index).ok()) {
        Some(condition) => Ok(condition),
        None => {
            let text = format!("start condition {name} is not declared");
            Err(Failure::new(at, text))
        }
    }
}

/// Whether a rule holds in a start condition.
pub(crate) fn holds(conditions: &Conditions, index: usize, is_exclusive: bool) -> bool {
    match conditions {
        Conditions::Unnamed => !is_exclusive,
        Conditions::All => true,
        Conditions::Named(named) => named.contains(&index),
    }
}

fn starts(read: &GrammarSource, built: &Built) -> Vec<Start> {
    let mut starts = Vec::new();
    for (index, condition) in read.conditions.iter().enumerate() {
        let states = built.minimal.starts.get(index).copied().unwrap_or_default();
        let eof_rule = read.rules.iter().position(|rule| {
            // A rule for the end without conditions holds in all that have none of their own.
            rule.pattern.is_none()
                && (holds(&rule.conditions, index, condition.is_exclusive)
                    || rule.conditions == Conditions::Unnamed)
        });
        let eof_rule = eof_rule.map_or(0, |at| u16::try_from(at + 1).unwrap_or(0));
        starts.push(Start { states, eof_rule });
    }
    starts
}

/// The table of the minimal automaton, each state's row padded to a power of two.
fn transitions(built: &Built, class_bits: u32) -> Vec<u16> {
    let mut table = Vec::new();
    let width = 1usize << class_bits;
    for row in built.minimal.next.chunks(built.classes.count().max(1)) {
        table.extend_from_slice(row);
        table.resize(table.len().next_multiple_of(width), 0);
    }
    table
}

fn heads(built: &Built, by_automaton: impl Fn(u16) -> Option<u16>) -> Vec<(u16, u16)> {
    let mut heads = Vec::new();
    for (id, state) in (0u16..).zip(&built.minimal.states) {
        for head in &state.heads {
            heads.extend(by_automaton(head + 1).map(|rule| (id, rule - 1)));
        }
    }
    heads.sort_unstable();
    heads
}

/// Words of anomalies are fixed words everywhere; a grammar is loaded once, so they may stay.
fn fixed(word: String) -> &'static str {
    Box::leak(word.into_boxed_str())
}

/// The limit if a grammar names none.
const TOKEN_LEN_MAX: u32 = 8192;
