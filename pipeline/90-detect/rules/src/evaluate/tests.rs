//! The evaluator against a slow and obvious one, and single facts.

use super::{CompiledTerm, Steps, Variables, compile, holds};
use flowpin_rule::{Content, IsDataAt, Operand, Pcre, Term};
use proptest::prelude::*;

fn fits(terms: &[Term], bytes: &[u8]) -> bool {
    let compiled: Vec<CompiledTerm> = compile(terms).unwrap();
    holds(
        &compiled,
        bytes,
        &mut Variables::default(),
        &mut Steps::new(),
    )
}

/// The obvious evaluator: every place of every content is tried, wherever it is written what it is
/// relative to.
fn obvious(terms: &[Term], bytes: &[u8], at: usize) -> bool {
    let Some((term, rest)) = terms.split_first() else {
        return true;
    };
    match term {
        Term::Content(content) => {
            let places: Vec<usize> = (0..=bytes.len())
                .filter(|&place| stands(content, bytes, at, place))
                .collect();
            if content.negated {
                return places.is_empty() && obvious(rest, bytes, at);
            }
            places
                .iter()
                .any(|&place| obvious(rest, bytes, place + content.pattern.len()))
        }
        Term::IsDataAt(check) => {
            let Operand::Value(offset) = check.offset else {
                unreachable!()
            };
            let is_there = match check.relative {
                true => at as i64 + offset <= bytes.len() as i64,
                false => offset < bytes.len() as i64,
            };
            is_there != check.negated && obvious(rest, bytes, at)
        }
        _ => unreachable!("not generated"),
    }
}

fn stands(content: &Content, bytes: &[u8], at: usize, place: usize) -> bool {
    let value = |operand: Option<Operand>| {
        operand.map(|operand| match operand {
            Operand::Value(value) => value,
            Operand::Variable(_) => unreachable!(),
        })
    };
    let end = place + content.pattern.len();
    let Some(there) = bytes.get(place..end) else {
        return false;
    };
    let is_equal = match content.nocase {
        true => there.eq_ignore_ascii_case(&content.pattern),
        false => there == content.pattern,
    };
    let (from, most) = match content.is_relative() {
        true => (
            at as i64 + value(content.distance).unwrap_or(0),
            value(content.within),
        ),
        false => (value(content.offset).unwrap_or(0), value(content.depth)),
    };
    is_equal
        && place as i64 >= from
        && most.is_none_or(|most| end as i64 <= from + most)
        && (!content.startswith || place == 0)
        && (!content.endswith || end == bytes.len())
}

fn content() -> impl Strategy<Value = Content> {
    let pattern = prop_oneof!["[ab]", "[abA]{2}", "[ab]{3}"];
    let number = prop_oneof![Just(None), (0_i64..6).prop_map(Some)];
    (
        pattern,
        any::<(bool, bool, bool, bool)>(),
        number.clone(),
        number,
        -2_i64..4,
    )
        .prop_map(
            |(pattern, (nocase, negated, is_relative, is_anchored), one, two, distance)| {
                let len = pattern.len() as i64;
                let mut content = Content {
                    pattern: pattern.into_bytes(),
                    nocase,
                    negated,
                    ..Content::default()
                };
                let most = two.map(|two| Operand::Value(two + len));
                match (is_relative, is_anchored, one.is_none()) {
                    (true, ..) => {
                        content.distance = Some(Operand::Value(distance));
                        content.within = most;
                    }
                    (_, true, true) => content.startswith = true,
                    (_, true, false) => content.endswith = true,
                    _ => {
                        content.offset = one.map(Operand::Value);
                        content.depth = most;
                    }
                }
                content
            },
        )
}

fn term() -> impl Strategy<Value = Term> {
    let check = (0_i64..6, any::<(bool, bool)>()).prop_map(|(offset, (relative, negated))| {
        Term::IsDataAt(IsDataAt {
            offset: Operand::Value(offset),
            relative,
            negated,
        })
    });
    prop_oneof![4 => content().prop_map(Term::Content), 1 => check]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    /// What the evaluator finds, the obvious one finds too. (It finds more where a match would have
    /// to be moved that is not right before the term that fails: nobody's rules count on that.)
    #[test]
    fn whatever_holds_holds_obviously(
        terms in prop::collection::vec(term(), 1..4), bytes in "[abAB]{0,10}",
    ) {
        let found = fits(&terms, bytes.as_bytes());
        let expected = obvious(&terms, bytes.as_bytes(), 0);
        prop_assert!(!found || expected);
        // Of two terms there is no such place.
        if terms.len() <= 2 && terms.get(1).is_none_or(|term| match term {
            Term::Content(content) => content.is_relative(),
            Term::IsDataAt(check) => check.relative,
            _ => true,
        }) {
            prop_assert_eq!(found, expected);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    /// Contents that may stand anywhere behind each other are found as by trying all places, and
    /// so are those whose last one has to be near.
    #[test]
    fn contents_anywhere_behind_each_other_are_found(
        first in content(),
        more in prop::collection::vec((content(), 0_i64..3), 1..4),
        near in prop_oneof![Just(None), (0_i64..3).prop_map(Some)],
        bytes in "[abAB]{0,14}",
    ) {
        let mut first = first;
        first.negated = false;
        let mut terms = vec![first];
        for (content, distance) in more {
            terms.push(Content {
                pattern: content.pattern,
                nocase: content.nocase,
                distance: Some(Operand::Value(distance)),
                ..Content::default()
            });
        }
        if let (Some(last), Some(near)) = (terms.last_mut(), near) {
            let len = last.pattern.len() as i64;
            last.within = Some(Operand::Value(near + len));
        }
        let terms: Vec<Term> = terms.into_iter().map(Term::Content).collect();
        let found = fits(&terms, bytes.as_bytes());
        prop_assert_eq!(found, obvious(&terms, bytes.as_bytes(), 0));
    }
}

/// A regular expression that is relative begins where the match before ended, with its own `^`.
#[test]
fn relative_expressions_begin_at_the_match() {
    let a = Term::Content(Content {
        pattern: b"a".to_vec(),
        ..Content::default()
    });
    let pcre = |pattern: &str, relative, negated| {
        Term::Pcre(Pcre {
            pattern: pattern.to_owned(),
            relative,
            negated,
            ..Pcre::default()
        })
    };
    assert!(fits(&[a.clone(), pcre("^b+$", true, false)], b"xacabb"));
    assert!(!fits(&[a.clone(), pcre("^d", true, false)], b"xacabb"));
    assert!(fits(&[a, pcre("^d", true, true)], b"xacabb"));
}

/// An expression that would try for ever is given up, and told of; so are rules.
#[test]
fn what_takes_too_long_is_given_up() {
    let pcre = Term::Pcre(Pcre {
        pattern: "(a+)+$".to_owned(),
        ..Pcre::default()
    });
    let bytes = [b"a".repeat(64), b"b".to_vec()].concat();
    let mut steps = Steps::new();
    let terms = compile(&[pcre]).unwrap();
    assert!(!holds(
        &terms,
        &bytes,
        &mut Variables::default(),
        &mut steps
    ));
    assert!(steps.is_pcre_exceeded);
    let near = Content {
        pattern: b"a".to_vec(),
        within: Some(Operand::Value(60)),
        ..Content::default()
    };
    let last = Content {
        pattern: b"z".to_vec(),
        within: Some(Operand::Value(60)),
        ..Content::default()
    };
    let mut terms = vec![Term::Content(near); 8];
    terms.push(Term::Content(last));
    let mut steps = Steps::new();
    let terms = compile(&terms).unwrap();
    assert!(!holds(
        &terms,
        &bytes,
        &mut Variables::default(),
        &mut steps
    ));
    assert!(steps.is_exceeded);
}

/// Shannon's entropy: none of equal bytes, eight bits of all bytes.
#[test]
fn entropy_tells_how_even_bytes_are() {
    let all: Vec<u8> = (0..=255).collect();
    assert!((super::entropy(&all) - 8.0).abs() < 1e-9);
    assert!(super::entropy(b"aaaa").abs() < 1e-9 && super::entropy(b"").abs() < 1e-9);
    assert!((super::entropy(b"aabb") - 1.0).abs() < 1e-9);
}
