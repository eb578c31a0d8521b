//! Trivial file transfer. RFC 1350 §5: opcode, names that end in zeros.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "tftp",
    groups: &[Group::Files],
    ports: &[69],
    rules: &[Rule::check(
        "tftp-request",
        On::Udp,
        &[Lead::start(&[0, 1]), Lead::start(&[0, 2])],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let mut parts = look.from(2).split(|&byte| byte == 0);
    let name = parts.next()?;
    let mode = parts.next()?;
    let is_mode = [&b"netascii"[..], b"octet", b"mail"]
        .iter()
        .any(|known| mode.eq_ignore_ascii_case(known));
    let is_name = !name.is_empty() && name.iter().all(|&byte| byte >= b' ');
    Answer::when(is_mode && is_name && look.bytes.last() == Some(&0))
}
