//! HART-IP: version, type, message, status, sequence, a length that is the whole.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "hart-ip",
    groups: &[Group::Industrial],
    ports: &[5094],
    rules: &[
        Rule::check(
            "hart-ip-udp",
            On::Udp,
            &[Lead::masked(Lead::start(&[1]), 1, 0xf0, 0).len_min(8)],
            check,
        ),
        Rule::check(
            "hart-ip-tcp",
            On::Tcp,
            &[Lead::masked(Lead::start(&[1]), 1, 0xf0, 0)],
            check,
        ),
    ],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let [_, kind, id, status] = look.array(0)?;
    let len = usize::from(look.be16(6)?);
    let is_header = matches!(kind, 0 | 1 | 2 | 15) && id <= 3 && (status < 16 || kind == 1);
    if !is_header || !look.is_long(len)? || len < 8 {
        return Some(Answer::No);
    }
    // Opening a session: primary or secondary master, a timer.
    let is_opening = id == 0 && len == 13 && look.u8(8)? <= 1;
    Some(if is_opening || (look.on_port(&[5094]) && len < 512) {
        Answer::Yes
    } else {
        Answer::Likely
    })
}
