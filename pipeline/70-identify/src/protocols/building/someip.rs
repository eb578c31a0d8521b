//! SOME/IP. §4.1: service and method, a length to the end, versions, type and code.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "someip",
    groups: &[Group::Industrial],
    ports: &[30490, 30491, 30501],
    rules: &[
        Rule::check(
            "someip-udp",
            On::Udp,
            &[Lead::at(4, &[0, 0]).len_min(16)],
            check,
        ),
        Rule::check("someip-tcp", On::Tcp, &[Lead::at(4, &[0, 0])], check),
    ],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let len = usize::try_from(look.be32(4)?).ok()?;
    let [protocol, interface, kind, code] = look.array(12)?;
    let is_kind = matches!(kind, 0..=2 | 0x20..=0x22 | 0x40 | 0x41 | 0x80 | 0x81 | 0xa0 | 0xa1);
    if protocol != 1 || interface == 0 || !is_kind || code > 0x10 || len < 8 {
        return Some(Answer::No);
    }
    let whole = len.checked_add(8)?;
    // Several messages may share a datagram.
    Answer::when(
        look.is_long(whole)? || (look.len > whole && look.be32(whole.checked_add(12)?)? >> 24 == 1),
    )
}
