//! Requests to an HTTP proxy. RFC 9112 §3.2.2: the target is a whole address.

use super::lines::Head;
use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "http-proxy",
    groups: &[Group::Web],
    ports: &[3128, 8080],
    rules: &[Rule::check(
        "http-absolute-target",
        On::Tcp,
        &[
            Lead::start(b"GET http"),
            Lead::start(b"POST htt"),
            Lead::start(b"HEAD htt"),
        ],
        check,
    )
    .ranked(60)],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let head = Head::of(look.bytes);
    let is_whole = head
        .target()
        .is_some_and(|target| target.starts_with(b"http://"));
    Answer::when(Head::is_request(head.line()?) && is_whole)
}
