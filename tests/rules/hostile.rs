//! Rules and traffic that aim at the engine stay within bounds, which are counted.

use crate::talk::{Turns, plan, run, talk};
use flowpin_counters::Loss;

/// An expression that would try for ever, on bytes made for it.
#[test]
fn expressions_are_given_up() {
    let body = [b"x=".to_vec(), b"a".repeat(3000), b"!".to_vec()].concat();
    let turns: Turns<'_> = &[(true, &body), (false, b"ok")];
    let rules = "alert tcp any any -> any any (content:\"x=\"; pcre:\"/^x=(a+)+$/\"; sid:1;)\n\
        alert tcp any any -> any any (content:\"x=\"; pcre:\"/(a|a)*b/\"; sid:2;)\n";
    let folder = tempfile::tempdir().unwrap();
    let report = run(&talk(turns, 1400, 1), plan(rules), folder.path());
    assert!(report.losses.of(Loss::RulePcre) > 0);
}

/// Contents that follow each other everywhere.
#[test]
fn steps_are_bounded() {
    let body = b"a".repeat(4000);
    let turns: Turns<'_> = &[(true, &body), (false, b"ok")];
    let near = "content:\"a\"; within:900; ".repeat(12);
    let rules = format!(
        "alert tcp any any -> any any (content:\"a\"; {near}content:\"z\"; within:9; sid:1;)\n\
        alert tcp any any -> any any (content:\"a\"; {near}content:!\"a\"; within:9; sid:2;)\n"
    );
    let folder = tempfile::tempdir().unwrap();
    let report = run(&talk(turns, 1400, 1), plan(&rules), folder.path());
    assert!(report.losses.of(Loss::RuleSteps) > 0);
}

/// More bits than a connection keeps.
#[test]
fn bits_are_bounded() {
    let rules: String = (1..40)
        .map(|n| format!("alert tcp any any -> any any (flags:S; flowbits:set,b{n}; sid:{n};)\n"))
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let report = run(&talk(&[], 1, 1), plan(&rules), folder.path());
    assert!(report.losses.of(Loss::RuleBits) > 0);
}
