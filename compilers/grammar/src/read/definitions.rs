//! The first section: definitions, start conditions, options.

use super::cursor::{Cursor, as_text};
use super::{ConditionSource, GrammarSource, declarations};
use crate::diagnostic::Failure;
use crate::limits::Limits;
use crate::pattern::{Definition, is_name};

/// Reads up to the line behind `%%`.
pub(super) fn read(
    cursor: &mut Cursor<'_>,
    source: &mut GrammarSource,
    limits: &Limits,
) -> Result<(), Failure> {
    loop {
        let place = cursor.at;
        match cursor.rest() {
            [] => return Err(Failure::new(place, "a grammar has rules behind a line %%")),
            [b'%', b'%', ..] => {
                cursor.skip_line();
                return Ok(());
            }
            [b'%', b'{', ..] => {
                cursor.skip_block()?;
                cursor.end_line()?;
            }
            [b'/', b'*', ..] => {
                cursor.skip_comment()?;
                cursor.end_line()?;
            }
            [b'\r' | b'\n', ..] => cursor.skip_line(),
            [b'/', b'/', ..] => cursor.skip_line(),
            [b' ' | b'\t', ..] => {
                cursor.skip_blanks();
                cursor.skip_comment()?;
                cursor.skip_blanks();
                if !cursor.is_at_line_end() {
                    let text = "C is not compiled: a definition begins in the first column";
                    return Err(Failure::new(cursor.at, text));
                }
                cursor.skip_line();
            }
            [b'%', ..] => directive(cursor, source, limits)?,
            _ => definition(cursor, source)?,
        }
    }
}

fn definition(cursor: &mut Cursor<'_>, source: &mut GrammarSource) -> Result<(), Failure> {
    let place = cursor.at;
    let name = cursor.word(true);
    if !is_name(name) {
        return Err(Failure::new(place, "a definition begins with its name"));
    }
    cursor.skip_blanks();
    let from = cursor.at;
    let to = from + cursor.line().len();
    if from == to {
        return Err(Failure::new(from, "a definition needs a pattern"));
    }
    let definition = Definition { from, to };
    if source
        .definitions
        .insert(name.to_vec(), definition)
        .is_some()
    {
        let name = as_text(name);
        return Err(Failure::new(place, format!("{{{name}}} is defined twice")));
    }
    cursor.skip_line();
    Ok(())
}

fn directive(
    cursor: &mut Cursor<'_>,
    source: &mut GrammarSource,
    limits: &Limits,
) -> Result<(), Failure> {
    let place = cursor.at;
    cursor.at += 1;
    let name = cursor.word(false);
    match name {
        b"x" | b"xs" | b"s" => conditions(cursor, source, name != b"s", limits),
        b"option" => options(cursor, source),
        b"array" | b"pointer" => cursor.end_line(),
        b"top" => Err(Failure::new(place, "C is not compiled: %top")),
        // Sizes of old lex's tables: they mean nothing any more.
        b"a" | b"e" | b"k" | b"n" | b"o" | b"p" => {
            cursor.skip_line();
            Ok(())
        }
        _ => declarations::read(name, place, cursor, &mut source.declarations),
    }
}

fn conditions(
    cursor: &mut Cursor<'_>,
    source: &mut GrammarSource,
    is_exclusive: bool,
    limits: &Limits,
) -> Result<(), Failure> {
    while cursor.next_item()? {
        let at = cursor.at;
        let name = cursor.word(true);
        if !is_name(name) {
            return Err(Failure::new(at, "a start condition's name is expected"));
        }
        let name = as_text(name);
        if source.conditions.iter().any(|known| known.name == name) {
            return Err(Failure::new(
                at,
                format!("start condition {name} is declared twice"),
            ));
        }
        if source.conditions.len() >= limits.conditions_max {
            let text = format!("at most {} start conditions", limits.conditions_max);
            return Err(Failure::new(at, text));
        }
        source.conditions.push(ConditionSource {
            name,
            is_exclusive,
            at,
        });
    }
    Ok(())
}

/// `%option`: what changes the tokens is obeyed, what does not is passed over.
fn options(cursor: &mut Cursor<'_>, source: &mut GrammarSource) -> Result<(), Failure> {
    while cursor.next_item()? {
        let place = cursor.at;
        let name = cursor.word(true);
        if cursor.eat(b"=") {
            value(cursor)?;
        }
        match name {
            b"case-insensitive" | b"caseless" => source.ignores_case = true,
            b"case-sensitive" | b"caseful" | b"nocase-insensitive" | b"nocaseless" => {
                source.ignores_case = false;
            }
            _ if OPTIONS_WITHOUT_EFFECT.contains(&name) => {}
            b"lex-compat" | b"posix-compat" | b"posix" | b"7bit" | b"yymore" | b"reject" => {
                let text = format!("%option {} is not supported", as_text(name));
                return Err(Failure::new(place, text));
            }
            _ => {
                let text = format!("no %option is named {}", as_text(name));
                return Err(Failure::new(place, text));
            }
        }
    }
    Ok(())
}

fn value(cursor: &mut Cursor<'_>) -> Result<(), Failure> {
    let place = cursor.at;
    if !cursor.eat(b"\"") {
        cursor.word(true);
        return Ok(());
    }
    let Some(len) = cursor.line().iter().position(|&byte| byte == b'"') else {
        return Err(Failure::new(place, "a string without its closing quote"));
    };
    cursor.at += len + 1;
    Ok(())
}

/// They say how flex writes its C, and nothing about tokens.
const OPTIONS_WITHOUT_EFFECT: &[&[u8]] = &[
    b"8bit",
    b"align",
    b"always-interactive",
    b"array",
    b"backup",
    b"batch",
    b"bison-bridge",
    b"bison-locations",
    b"debug",
    b"default",
    b"ecs",
    b"extra-type",
    b"fast",
    b"full",
    b"header-file",
    b"input",
    b"interactive",
    b"line",
    b"main",
    b"meta-ecs",
    b"never-interactive",
    b"no8bit",
    b"noalign",
    b"nobackup",
    b"nodebug",
    b"nodefault",
    b"noecs",
    b"noinput",
    b"noline",
    b"nomain",
    b"nometa-ecs",
    b"noread",
    b"nostack",
    b"nostdinit",
    b"nounistd",
    b"nounput",
    b"nowarn",
    b"noyylineno",
    b"noyywrap",
    b"outfile",
    b"perf-report",
    b"pointer",
    b"prefix",
    b"read",
    b"reentrant",
    b"stack",
    b"stdinit",
    b"stdout",
    b"tables-file",
    b"unput",
    b"verbose",
    b"warn",
    b"yyclass",
    b"yylineno",
    b"yywrap",
];
