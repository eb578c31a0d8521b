//! `entropy`: how evenly the bytes of a buffer are distributed.

use super::value;
use crate::builder::Builder;
use crate::option::{RuleOption, Word};
use crate::problem::Fault;
use flowpin_rule::{EntropyCheck, Term};

/// `entropy:[bytes N,] [offset N,] value [OPERATOR] NUMBER[-NUMBER]`.
pub(super) fn read(builder: &mut Builder<'_>, option: &RuleOption<'_>) -> Result<(), Fault> {
    if !builder.is_in_buffer() {
        return Err(option
            .name
            .fault("\"entropy\" must follow the name of a buffer"));
    }
    let mut check = EntropyCheck {
        offset: 0,
        bytes: 0,
        range: [(0, true), (HIGHEST.to_bits(), true)],
        negated: false,
    };
    let mut has_value = false;
    for word in value(option)?.split_commas() {
        let (key, argument) = word.split_once(' ').unwrap_or((word, word));
        match key.text {
            "bytes" => check.bytes = argument.number()?,
            "offset" => check.offset = argument.number()?,
            "value" => {
                (check.range, check.negated) = range(argument)?;
                has_value = true;
            }
            _ => return Err(word.fault("entropy takes bytes, offset and value")),
        }
    }
    if !has_value {
        return Err(option
            .name
            .fault("\"entropy\" needs a value to compare with"));
    }
    builder.push(Term::Entropy(check));
    Ok(())
}

/// The least and the greatest value, and whether it must not lie between.
type Range = ([(u64, bool); 2], bool);

fn range(word: Word<'_>) -> Result<Range, Fault> {
    let (lowest, highest) = ((0, true), (HIGHEST.to_bits(), true));
    for (operator, make) in OPERATORS {
        let Some(rest) = word.text.strip_prefix(operator) else {
            continue;
        };
        let rest = word.part(word.text.len() - rest.len(), word.text.len());
        if operator == "!" && rest.text.contains('-') {
            return Ok((range(rest.trim())?.0, true));
        }
        let bits = number(rest.trim())?.to_bits();
        return Ok(match make {
            Side::Below(with) => ([lowest, (bits, with)], false),
            Side::Above(with) => ([(bits, with), highest], false),
            Side::At => ([(bits, true); 2], false),
            Side::NotAt => ([(bits, true); 2], true),
        });
    }
    if let Some((low, high)) = word.split_once('-') {
        let (least, most) = (number(low)?, number(high)?);
        if least >= most {
            return Err(word.fault("no number lies between these"));
        }
        return Ok(([(least.to_bits(), false), (most.to_bits(), false)], false));
    }
    Ok(([(number(word)?.to_bits(), true); 2], false))
}

fn number(word: Word<'_>) -> Result<f64, Fault> {
    let number = word.number::<f64>()?;
    if !(0.0..=HIGHEST).contains(&number) {
        return Err(word.fault("the entropy of bytes lies between 0 and 8"));
    }
    Ok(number)
}

#[derive(Clone, Copy)]
enum Side {
    /// With the number itself, or without.
    Below(bool),
    Above(bool),
    At,
    NotAt,
}

/// The longer ones first.
const OPERATORS: [(&str, Side); 7] = [
    ("<=", Side::Below(true)),
    (">=", Side::Above(true)),
    ("!=", Side::NotAt),
    ("<", Side::Below(false)),
    (">", Side::Above(false)),
    ("=", Side::At),
    ("!", Side::NotAt),
];

/// Bits of a byte.
const HIGHEST: f64 = 8.0;
