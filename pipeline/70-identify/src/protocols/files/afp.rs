//! Apple's file sharing over DSI: flags, command, request, and a length that must agree.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "afp",
    groups: &[Group::Files],
    ports: &[548],
    rules: &[Rule::check(
        "afp-dsi",
        On::Tcp,
        &[
            Lead::start(&[0, 2]),
            Lead::start(&[1, 2]),
            Lead::start(&[0, 3]),
            Lead::start(&[0, 4]),
            Lead::start(&[1, 3]),
            Lead::start(&[1, 4]),
        ],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let [flags, command, id_high, id_low] = look.array(0)?;
    let offset = look.be32(4)?;
    let len = look.be32(8)?;
    let reserved = look.be32(12)?;
    let is_first = id_high == 0 && id_low <= 1;
    // The capture began late: a command or its answer, on its port.
    if command == 2 {
        return Answer::when(reserved == 0 && look.on_port(&[548]) && len < 1 << 24);
    }
    if !is_first || reserved != 0 || offset > 256 || len > 512 {
        return Some(Answer::No);
    }
    let _ = (flags, command);
    // An open session has an option of 4 bytes: the quantum.
    let whole = look.range(16, usize::try_from(len).ok()?)?;
    Answer::when(match (flags, command) {
        (0, 4) => matches!(whole, [0 | 1, 4, ..]) || (whole.is_empty() && look.on_port(&[548])),
        (1, 4) => offset == 0 && matches!(whole, [0..=2, 4, ..]),
        (1, 3) => offset == 0 && len > 40,
        _ => len == 0 && look.on_port(&[548]),
    })
}
