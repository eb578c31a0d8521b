//! KNXnet/IP. §3.8: a header of 6 bytes says so, version 1.0, and the whole length.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "knx",
    groups: &[Group::Industrial, Group::Things],
    ports: &[3671],
    rules: &[
        Rule::check("knx-header-udp", On::Udp, &[Lead::start(&[6, 0x10])], check),
        Rule::check("knx-header-tcp", On::Tcp, &[Lead::start(&[6, 0x10])], check),
    ],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let service = look.be16(2)?;
    let len = usize::from(look.be16(4)?);
    let is_known = matches!(service >> 8, 2 | 3 | 4 | 5 | 6 | 7 | 9);
    Answer::when(is_known && len >= 6 && look.is_long(len)?)
}
