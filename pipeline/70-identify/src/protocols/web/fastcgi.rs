//! FastCGI 1.0 §3.3: records; a request begins with BEGIN_REQUEST and its role.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "fastcgi",
    groups: &[Group::Web, Group::Messaging],
    ports: &[9000],
    rules: &[Rule::check(
        "fastcgi-begin",
        On::Tcp,
        &[Lead::start(&[1, 1])],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    // Version 1, type 1, request, content of 8 bytes, no padding.
    let body = look.range(4, 12)?;
    let is_role = matches!(body, [0, 8, 0, _, 0, 1..=3, 0 | 1, 0, 0, 0, 0, 0]);
    Answer::when(is_role)
}
