//! WebSocket. RFC 6455 §4.2.2: an upgrade, granted. The request for it is still HTTP.

use super::lines::Head;
use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "websocket",
    groups: &[Group::Web],
    ports: &[],
    rules: &[Rule::check(
        "websocket-accept",
        On::Tcp,
        &[Lead::start(b"HTTP/1.1")],
        response,
    )
    .ranked(50)],
};

fn response(look: &Look<'_>) -> Option<Answer> {
    // RFC 6455 §4.2.2: the status is 101.
    if !look.has(8, b" 101")? {
        return Some(Answer::No);
    }
    field(look, b"sec-websocket-accept")
}

/// Answers when the head is whole: looking at its fields for each byte that comes would cost.
fn field(look: &Look<'_>, name: &[u8]) -> Option<Answer> {
    let head = Head::of(look.bytes);
    if head.body().is_none() && !look.ended {
        return None;
    }
    let value = head.field(name);
    Answer::when(value.is_some_and(|value| (20..=32).contains(&value.len())))
}
