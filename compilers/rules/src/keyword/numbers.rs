//! Conditions on numbers.

use crate::option::Word;
use crate::problem::Fault;
use flowpin_rule::{Codes, NumberCheck};

/// Reads `5`, `<5`, `<=5`, `>5`, `>=5`, `!5`, `5<>9` and `5-9`, decimal or hexadecimal.
pub(super) fn check(word: Word<'_>) -> Result<NumberCheck, Fault> {
    check_named(word, Codes::None)
}

/// Reads the same, or the name of a number.
pub(super) fn check_named(word: Word<'_>, codes: Codes) -> Result<NumberCheck, Fault> {
    let word = word.trim();
    let (name, is_negated) = match word.strip_prefix('!') {
        Some(rest) => (rest.trim(), true),
        None => (word, false),
    };
    let named = codes.number(&name.text.to_ascii_uppercase());
    if let Some(number) = named {
        let check = NumberCheck::equal(number);
        return Ok(if is_negated { check.negated() } else { check });
    }
    if let Some(rest) = word.strip_prefix('!') {
        let rest = rest.strip_prefix('=').unwrap_or(rest);
        return Ok(check(rest)?.negated());
    }
    let after = |prefix: &str| {
        let rest = word.text.strip_prefix(prefix)?;
        Some(
            word.part(word.text.len() - rest.len(), word.text.len())
                .trim(),
        )
    };
    if let Some(value) = after("<=") {
        return Ok(NumberCheck::within(0, number(value)?));
    }
    if let Some(value) = after(">=") {
        return Ok(NumberCheck::within(number(value)?, u64::MAX));
    }
    if let Some(at) = word.text.find("<>") {
        let (low, high) = (
            word.part(0, at).trim(),
            word.part(at + 2, word.text.len()).trim(),
        );
        return between(word, number(low)?, number(high)?);
    }
    if let Some(value) = after("<") {
        let most = number(value)?.checked_sub(1);
        let most = most.ok_or_else(|| word.fault("nothing is less than 0"))?;
        return Ok(NumberCheck::within(0, most));
    }
    if let Some(value) = after(">") {
        let least = number(value)?.checked_add(1);
        let least = least.ok_or_else(|| word.fault("nothing is greater"))?;
        return Ok(NumberCheck::within(least, u64::MAX));
    }
    if let Some((low, high)) = word.split_once('-') {
        return between(word, number(low)?, number(high)?);
    }
    let value = after("=").unwrap_or(word);
    Ok(NumberCheck::equal(number(value)?))
}

/// Neither end belongs to it, as in Suricata.
fn between(word: Word<'_>, low: u64, high: u64) -> Result<NumberCheck, Fault> {
    if high <= low {
        return Err(word.fault("no number lies between these"));
    }
    Ok(NumberCheck::between(low, high))
}

fn number(word: Word<'_>) -> Result<u64, Fault> {
    match word.text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16)
            .map_err(|_| word.fault(format!("\"{}\" is no number", word.text))),
        None => word.number(),
    }
}
