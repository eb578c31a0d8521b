//! `iprep`: the reputation of addresses.

use super::value;
use crate::builder::Builder;
use crate::option::RuleOption;
use crate::problem::Fault;
use crate::reputation::SCORE_MAX;
use flowpin_rule::{Condition, NumberCheck, ReputationOf};

/// `iprep:SIDE,CATEGORY,OPERATOR,SCORE`, or `iprep:SIDE,CATEGORY,isset|isnotset`.
pub(super) fn read(builder: &mut Builder<'_>, option: &RuleOption<'_>) -> Result<(), Fault> {
    let word = value(option)?;
    let words = word.split_commas();
    let [side, category, asks @ ..] = words.as_slice() else {
        return Err(word.fault("the form is iprep:any|src|dst|both,CATEGORY,>,SCORE"));
    };
    let of = match side.text {
        "any" => ReputationOf::Any,
        "src" => ReputationOf::Source,
        "dst" => ReputationOf::Destination,
        "both" => ReputationOf::Both,
        _ => return Err(side.fault("one of any, src, dst, both")),
    };
    let check = match asks {
        [asks] if asks.text == "isset" => NumberCheck::within(1, SCORE_MAX.into()),
        [asks] if asks.text == "isnotset" => NumberCheck::equal(0),
        [operator, score] => {
            let number: u8 = score.number()?;
            // An address without a score compares with none.
            let (low, high) = match operator.text {
                "<" => (1, number.saturating_sub(1)),
                "<=" => (1, number),
                ">" => (number.saturating_add(1), SCORE_MAX),
                ">=" => (number.max(1), SCORE_MAX),
                "=" | "==" => (number.max(1), number),
                _ => return Err(operator.fault("one of <, <=, >, >=, =")),
            };
            if low > high || high > SCORE_MAX {
                return Err(score.fault(format!("no score from 1 to {SCORE_MAX} is so")));
            }
            NumberCheck::within(low.into(), high.into())
        }
        _ => return Err(word.fault("the form is iprep:any|src|dst|both,CATEGORY,>,SCORE")),
    };
    let scores = builder.names.reputation.scores(*category)?;
    builder
        .rule
        .conditions
        .push(Condition::Reputation { of, scores, check });
    Ok(())
}
