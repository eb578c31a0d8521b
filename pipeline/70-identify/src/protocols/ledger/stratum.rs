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
    let end = look.bytes.iter().take(600).position(|&byte| byte == b'\n');
    let line = look.bytes.get(..end.unwrap_or(look.bytes.len().min(600)))?;
    let is_there = METHODS
        .iter()
        .any(|method| line.windows(method.len()).any(|part| part == *method));
    if is_there {
        return Some(Answer::Yes);
    }
    if end.is_some() || look.bytes.len() >= 600 || look.ended {
        return Some(Answer::No);
    }
    None
}
