//! Mining pools: JSON lines with the pool's methods.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "stratum",
    groups: &[Group::Ledger],
    ports: &[3333],
    rules: &[Rule::check(
        "stratum-json",
        On::Tcp,
        &[Lead::start(b"{")],
        check,
    )],
};

const METHODS: [&[u8]; 7] = [
    b"\"mining.",
    b"\"eth_submit",
    b"\"eth_getWork",
    b"\"eth_login",
    b"\"getjobtemplate\"",
    b"\"method\":\"login\"",
    b"\"method\":\"submit\"",
];

fn check(look: &Look<'_>) -> Option<Answer> {
    let begun = look.bytes.get(..600).unwrap_or(look.bytes);
    let end = memchr::memchr(b'\n', begun);
    let line = begun.get(..end.unwrap_or(begun.len()))?;
    let is_method = |at: usize| {
        let rest = line.get(at..).unwrap_or_default();
        METHODS.iter().any(|method| rest.starts_with(method))
    };
    // All begin with a quotation mark.
    if memchr::memchr_iter(b'"', line).any(is_method) {
        return Some(Answer::Yes);
    }
    if end.is_some() || look.bytes.len() >= 600 || look.ended {
        return Some(Answer::No);
    }
    None
}
