//! RMCP, which carries IPMI and ASF. DSP0136 §3.2.2: version 6, a reserved 0, a class.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "rmcp",
    groups: &[Group::Management],
    ports: &[623],
    rules: &[Rule::check(
        "rmcp-header",
        On::Udp,
        &[Lead::start(&[6, 0]).len_min(4)],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let class = look.u8(3)?;
    Answer::when(match class & 0x0f {
        // ASF: the enterprise number.
        6 => class & 0x80 != 0 || (look.be32(4)? == 0x0000_11be && look.len >= 12),
        // IPMI: authentication, sequence, session, and a length to the end.
        7 => match look.u8(4)? {
            6 => usize::from(look.le16(14)?).checked_add(16)? <= look.len && look.len >= 16,
            0 => usize::from(look.u8(13)?).checked_add(14)? == look.len,
            1 | 2 | 4 | 5 => usize::from(look.u8(29)?).checked_add(30)? == look.len,
            _ => false,
        },
        _ => false,
    })
}
