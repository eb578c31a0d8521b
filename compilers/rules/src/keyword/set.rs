//! Keywords that look values up in files of them: `dataset`, `datarep`, `filemd5` and the like.

use super::{numbers, value};
use crate::builder::Builder;
use crate::option::{RuleOption, Word};
use crate::problem::Fault;
use crate::sets::{SetKind, Wanted};
use flowpin_record::SetAction;
use flowpin_rule::{Asks, Lookup, NumberCheck, Term, ValueSet, buffer};
use std::sync::Arc;

/// Reads an option of these.
pub(super) fn read(builder: &mut Builder<'_>, option: &RuleOption<'_>) -> Result<(), Fault> {
    match option.name.text {
        "dataset" => dataset(builder, option),
        "datarep" => datarep(builder, option),
        "filemd5" => of_file(builder, option, "file.md5", 16),
        "filesha1" => of_file(builder, option, "file.sha1", 20),
        _ => of_file(builder, option, "file.sha256", 32),
    }
}

/// `dataset:isset|isnotset|set|unset, NAME[, type TYPE, load FILE, …]`.
fn dataset(builder: &mut Builder<'_>, option: &RuleOption<'_>) -> Result<(), Fault> {
    let words = value(option)?.split_commas();
    let [action, name, more @ ..] = words.as_slice() else {
        return Err(option
            .name
            .fault("the form is dataset:isset,NAME,type TYPE,load FILE"));
    };
    let (asks, writes) = match action.text {
        "isset" => (Asks::In, None),
        "isnotset" => (Asks::NotIn, None),
        "set" => (Asks::In, Some(SetAction::Add)),
        "unset" => (Asks::In, Some(SetAction::Remove)),
        _ => return Err(action.fault("isset, isnotset, set or unset")),
    };
    let set = named(builder, option.name, *name, more, asks)?;
    let term = match writes {
        None => Term::In(Lookup { set, asks }),
        Some(action) => {
            let number = builder.names.sets.written(&set);
            let number = number.ok_or_else(|| name.fault("rules write too many sets"))?;
            Term::Written(number, action)
        }
    };
    builder.push(term);
    Ok(())
}

/// `datarep:NAME, <|>|==, NUMBER[, type TYPE, load FILE, …]`.
fn datarep(builder: &mut Builder<'_>, option: &RuleOption<'_>) -> Result<(), Fault> {
    let words = value(option)?.split_commas();
    let [name, operator, number, more @ ..] = words.as_slice() else {
        return Err(option
            .name
            .fault("the form is datarep:NAME,<|>|==,NUMBER,type TYPE,load FILE"));
    };
    let check = numbers::check(*number)?;
    let only = check
        .only()
        .filter(|&only| only <= u64::from(u16::MAX))
        .ok_or_else(|| number.fault("a number up to 65,535"))?;
    let check = match operator.text {
        "==" | "=" => check,
        ">" => NumberCheck::within(only + 1, u64::MAX),
        "<" if only > 0 => NumberCheck::within(0, only - 1),
        "<" => return Err(number.fault("nothing is less than 0")),
        _ => return Err(operator.fault("one of <, >, ==")),
    };
    let asks = Asks::Number(check);
    let set = named(builder, option.name, *name, more, asks)?;
    builder.push(Term::In(Lookup { set, asks }));
    Ok(())
}

/// The set that the buffer at hand is looked up in.
fn named(
    builder: &mut Builder<'_>,
    keyword: Word<'_>,
    name: Word<'_>,
    more: &[Word<'_>],
    asks: Asks,
) -> Result<Arc<ValueSet>, Fault> {
    if !builder.is_in_buffer() {
        let why = format!("\"{}\" must follow the name of a buffer", keyword.text);
        return Err(keyword.fault(why));
    }
    let (mut kind, mut load) = (None, None);
    for word in more {
        let (key, argument) = word.split_once(' ').unwrap_or((*word, *word));
        let argument = argument.trim();
        match key.text {
            "type" => {
                let known = SetKind::named(argument.text);
                let why = "a type is string, md5, sha256, ipv4 or ip";
                kind = Some(known.ok_or_else(|| argument.fault(why))?);
            }
            "load" | "state" => load = Some((argument, key.text == "state")),
            // Nothing is written, and memory is what the entries take.
            "save" | "memcap" | "hashsize" => {}
            _ => return Err(word.fault("not known here")),
        }
    }
    let wanted = Wanted {
        name,
        kind,
        load,
        has_numbers: matches!(asks, Asks::Number(_)),
    };
    let folder = builder.folder();
    builder.names.sets.named(&folder, &wanted)
}

/// `filemd5:[!]FILE`: the file's hash stands in a list.
fn of_file(
    builder: &mut Builder<'_>,
    option: &RuleOption<'_>,
    hash: &str,
    hash_len: usize,
) -> Result<(), Fault> {
    let word = value(option)?;
    let (word, asks) = match word.strip_prefix('!') {
        Some(rest) => (rest.trim(), Asks::NotIn),
        None => (word, Asks::In),
    };
    let folder = builder.folder();
    let set = builder
        .names
        .sets
        .hashes(&folder, word.unquoted(), hash_len)?;
    let Some((id, _)) = buffer(hash) else {
        return Err(option.name.fault("it has no buffer"));
    };
    builder.push_to(id, Term::In(Lookup { set, asks }));
    Ok(())
}
