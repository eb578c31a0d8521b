//! DCE/RPC. C706 §12.6: versions 5 (streams) and 4 (datagrams), drep, lengths.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "dcerpc",
    groups: &[Group::Messaging],
    ports: &[135],
    rules: &[
        Rule::check(
            "dcerpc-stream",
            On::Tcp,
            &[Lead::start(&[5, 0]), Lead::start(&[5, 1])],
            stream,
        ),
        Rule::check(
            "dcerpc-datagram",
            On::Udp,
            &[Lead::start(&[4]).masked(1, 0xe0, 0).len_min(80)],
            datagram,
        ),
    ],
};

fn stream(look: &Look<'_>) -> Option<Answer> {
    let kind = look.u8(2)?;
    let little = look.array::<4>(4)?;
    let len = if little == [0x10, 0, 0, 0] {
        look.le16(8)?
    } else {
        look.be16(8)?
    };
    let is_drep = matches!(little, [0 | 0x10, 0, 0, 0]);
    Answer::when(is_drep && kind <= 19 && len >= 16)
}

fn datagram(look: &Look<'_>) -> Option<Answer> {
    let kind = look.u8(1)?;
    let drep = look.array::<3>(4)?;
    let is_little = matches!(drep.first(), Some(0x10 | 0x11));
    let len = if is_little {
        look.le16(74)?
    } else {
        look.be16(74)?
    };
    let is_drep = matches!(drep, [0 | 1 | 0x10 | 0x11, 0..=3, 0]);
    let is_whole = usize::from(len).checked_add(80)? == look.len;
    Answer::when(is_drep && is_whole && kind <= 10)
}
