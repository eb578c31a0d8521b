//! Loaded patterns and expressions of grammars, in segments of any size.

use crate::testing::whose;
use crate::{Confidence, Expression, Identifier, On, Search, SearchOptions, Searches, Step};
use flowpin_pattern::l7::parse_expression;
use flowpin_pattern::{Limits, PatternSet, Rewrite, Source};
use proptest::prelude::*;
use std::sync::{Arc, LazyLock};

fn searches(patterns: &[(&str, &str)]) -> Searches {
    searches_of(identifier(patterns))
}

fn identifier(patterns: &[(&str, &str)]) -> Arc<Identifier> {
    let limits = Limits::default();
    let sources: Vec<Source> = patterns
        .iter()
        .map(|&(name, expression)| Source {
            name: name.into(),
            hir: parse_expression(expression, &limits).unwrap(),
        })
        .collect();
    let (set, refused) = PatternSet::build(&sources, Rewrite::Exact, &limits);
    assert!(refused.is_empty());
    Arc::new(Identifier::new().unwrap().with_patterns(set))
}

fn searches_of(identifier: Arc<Identifier>) -> Searches {
    let options = SearchOptions {
        shard_bytes_max: 64 << 10,
        keeps_datagrams: true,
    };
    Searches::new(identifier, options).unwrap()
}

/// The name found in these turns, in segments of this size.
fn find(searches: &mut Searches, turns: &[(bool, &[u8])], size: usize) -> Option<String> {
    let mut search = Search::default();
    let mut found = None;
    for &(to_server, turn) in turns {
        for segment in turn.chunks(size) {
            let whose = whose(On::Tcp, to_server, (50_000, 50_001));
            let step = searches.stream_bytes(&mut search, whose, segment);
            found = found.or(name(searches, step));
        }
    }
    for to_server in [true, false] {
        let whose = whose(On::Tcp, to_server, (50_000, 50_001));
        let step = searches.stream_ended(&mut search, whose);
        found = found.or(name(searches, step));
    }
    searches.release(&mut search);
    found
}

fn name(searches: &Searches, step: Step) -> Option<String> {
    match step {
        Step::Verdict(verdict) => Some(searches.identifier().name(verdict.protocol).to_owned()),
        _ => None,
    }
}

/// l7-filter keeps one buffer for both directions; `$` also matches the end of a turn.
#[test]
fn patterns_span_directions_and_dollar_ends_a_turn() {
    let mut searches = searches(&[
        ("both", "^hello there.*general"),
        ("ends", "^come in please$"),
    ]);
    for size in [1, 3, 100] {
        let both: &[(bool, &[u8])] = &[(true, b"Hello there\n"), (false, b"General K\n")];
        assert_eq!(find(&mut searches, both, size).as_deref(), Some("both"));
        let ends: &[(bool, &[u8])] = &[(true, b"come in please"), (false, b"no")];
        assert_eq!(find(&mut searches, ends, size).as_deref(), Some("ends"));
        let more: &[(bool, &[u8])] = &[(true, b"come in please do"), (false, b"no")];
        assert_eq!(find(&mut searches, more, size), None);
    }
    assert_eq!(searches.live(), 0);
}

/// The built-in rules take precedence, also if a pattern needs fewer bytes.
#[test]
fn an_own_rule_decides_before_a_loaded_pattern() {
    let mut searches = searches(&[("mine", "^SSH-")]);
    for size in [1, 100] {
        let turns: &[(bool, &[u8])] = &[(true, b"SSH-2.0-OpenSSH\r\n")];
        assert_eq!(find(&mut searches, turns, size).as_deref(), Some("ssh"));
    }
}

/// A pattern that matches by chance more than once in a million decides only if nothing else
/// does, and its verdict is only likely.
#[test]
fn a_loose_pattern_decides_last_and_is_not_sure() {
    let mut searches = searches(&[("loose", "^a.+"), ("sharp", "^any text at all.*tells")]);
    let turn: &[u8] = b"any text at all, or what tells";
    for size in [1, 3, 100] {
        assert_eq!(
            held(&mut searches, &turn[..10], size),
            Some(("loose".into(), false))
        );
        assert_eq!(
            held(&mut searches, turn, size),
            Some(("sharp".into(), true))
        );
        assert_eq!(held(&mut searches, b"SSH-2.0-a\r\n", size), None);
    }
    assert_eq!(searches.live(), 0);
}

/// The verdict on a connection that ends after these bytes, and whether it is sure; none if a
/// built-in rule decides before, or nothing does.
fn held(searches: &mut Searches, bytes: &[u8], size: usize) -> Option<(String, bool)> {
    let mut search = Search::default();
    for segment in bytes.chunks(size) {
        let whose = whose(On::Tcp, true, (50_000, 50_001));
        searches.stream_bytes(&mut search, whose, segment);
    }
    let verdict = searches.held(search);
    searches.release(&mut search);
    let verdict = verdict?;
    let is_sure = verdict.confidence == Confidence::Sure;
    Some((
        searches.identifier().name(verdict.protocol).to_owned(),
        is_sure,
    ))
}

/// The match of patterns that are fed each turn as it arrives.
fn expected(set: &PatternSet, turns: &[(bool, Vec<u8>)]) -> Option<String> {
    let mut state = set.start();
    let mut found = None;
    let mut whose = None;
    for (to_server, turn) in turns {
        if whose
            .replace(to_server)
            .is_some_and(|before| before != to_server)
        {
            found = found.or(set.at_end(&state));
        }
        found = found.or(set.feed(&mut state, turn));
    }
    let found = found.or(set.at_end(&state))?;
    Some(set.patterns[usize::from(found.pattern)].name.clone())
}

// Compiled once: that takes longer than all cases.
static ACROSS: LazyLock<Arc<Identifier>> = LazyLock::new(|| identifier(PATTERNS));

/// Expressions of grammars, each for one direction or both.
fn directed() -> Arc<Identifier> {
    let limits = Limits::default();
    let all = [
        ("asks", "^qping", [true, false]),
        ("tells", "^qpong", [false, true]),
        ("says", "^qhey$", [true, true]),
    ];
    let expressions = all.map(|(protocol, expression, sides)| Expression {
        protocol: protocol.into(),
        hir: parse_expression(expression, &limits).unwrap(),
        sides,
    });
    let identifier = Identifier::new().unwrap();
    Arc::new(identifier.with_expressions(&expressions).unwrap())
}

/// An expression matches only the bytes of the directions that it names, in segments of any
/// size.
#[test]
fn expressions_of_grammars_see_one_direction() {
    let identifier = directed();
    let (ping, pong, hey) = (b"qping".as_slice(), b"qpong".as_slice(), b"qhey".as_slice());
    for (turns, expected) in [
        (vec![(true, ping), (false, b"qq")], Some("asks")),
        (vec![(false, b"qq"), (true, ping)], Some("asks")),
        (vec![(false, ping), (true, b"qq")], None),
        (vec![(true, b"qq"), (false, pong)], Some("tells")),
        (vec![(true, pong), (false, b"qq")], None),
        (
            vec![(true, b"qq"), (false, hey), (true, b"qq")],
            Some("says"),
        ),
        (vec![(true, b"qq"), (false, hey), (false, b"qq")], None),
        (vec![(false, pong), (true, ping)], Some("tells")),
    ] {
        for size in [1, 2, 3, 100] {
            let mut searches = searches_of(Arc::clone(&identifier));
            let found = find(&mut searches, &turns, size);
            assert_eq!(found.as_deref(), expected, "{turns:?} by {size}");
            assert_eq!(searches.live(), 0);
        }
    }
}

proptest! {
    /// Streams are matched late, from the kept bytes, but in order of arrival, also with many
    /// turns.
    #[test]
    fn patterns_see_turns_in_order(
        turns in prop::collection::vec(
            (any::<bool>(), prop::sample::select(PARTS)),
            1..14,
        ),
        size in 1usize..6,
    ) {
        let turns: Vec<(bool, Vec<u8>)> =
            turns.into_iter().map(|(side, part)| (side, part.to_vec())).collect();
        let mut searches = searches_of(Arc::clone(&ACROSS));
        let set = searches.identifier().loaded().unwrap().clone();
        let shown: Vec<(bool, &[u8])> =
            turns.iter().map(|(side, turn)| (*side, turn.as_slice())).collect();
        prop_assert_eq!(find(&mut searches, &shown, size), expected(&set, &turns));
        prop_assert_eq!(searches.live(), 0);
    }
}

const PATTERNS: &[(&str, &str)] = &[
    ("across", "^qab.*qba.*aqq.*baq"),
    ("turn", "qaqbb$"),
    ("first", "^qqqqq"),
    ("late", "aabqbaq.?b"),
];
const PARTS: &[&[u8]] = &[
    b"qab", b"qba", b"aqq", b"baq", b"qaqbb", b"qqqqq", b"aabq", b"q", b"b", b"\0a",
];

#[test]
fn datagrams_are_searched_too() {
    let mut searches = searches(&[("game", "^\\xff\\xff\\xff\\xffhello$")]);
    let mut search = Search::default();
    let whose = whose(On::Udp, true, (50_000, 50_001));
    let bytes = b"\xff\xff\xff\xffhello";
    let mut found = None;
    for count in 0..crate::DATAGRAMS_MAX {
        let step = searches.datagram(&mut search, whose, bytes, bytes.len());
        found = found.or(name(&searches, step));
        // A connection that ends here has the pattern's protocol, too.
        let held = searches.held(search).map(Step::Verdict);
        let last = held.and_then(|step| name(&searches, step));
        assert_eq!(last.as_deref(), Some("game"), "after {count}");
    }
    assert_eq!(found.as_deref(), Some("game"));
    searches.release(&mut search);
    assert_eq!(searches.live(), 0);
}
