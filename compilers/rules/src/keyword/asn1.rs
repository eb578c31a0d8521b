//! `asn1`: what overflows decoders of BER.

use super::value;
use crate::builder::Builder;
use crate::option::RuleOption;
use crate::problem::Fault;
use flowpin_rule::{Asn1Check, Term};

/// `asn1:[bitstring_overflow,][double_overflow,][oversize_length N,][relative_offset N]`, or
/// `absolute_offset N`.
pub(super) fn read(builder: &mut Builder<'_>, option: &RuleOption<'_>) -> Result<(), Fault> {
    let word = value(option)?;
    let mut check = Asn1Check {
        offset: 0,
        relative: false,
        bitstring_overflow: false,
        double_overflow: false,
        oversize: None,
    };
    for part in word.split_commas() {
        let (name, number) = match part.split_once(' ') {
            Some((name, number)) => (name, Some(number)),
            None => (part, None),
        };
        let number = number.ok_or_else(|| part.fault("a number is missing"));
        match name.text {
            "bitstring_overflow" => check.bitstring_overflow = true,
            "double_overflow" => check.double_overflow = true,
            "oversize_length" => check.oversize = Some(number?.number()?),
            "absolute_offset" => (check.offset, check.relative) = (number?.number()?, false),
            "relative_offset" => (check.offset, check.relative) = (number?.number()?, true),
            _ => {
                let why = "one of bitstring_overflow, double_overflow, oversize_length, \
                           absolute_offset, relative_offset";
                return Err(name.fault(why));
            }
        }
    }
    if !check.bitstring_overflow && !check.double_overflow && check.oversize.is_none() {
        return Err(word.fault("it says where to look, and not for what"));
    }
    builder.push(Term::Asn1(check));
    Ok(())
}
