//! EtherNet/IP. CIP volume 2 §2-3: a command, a length, a session, options that are 0.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "enip",
    groups: &[Group::Industrial],
    ports: &[44818],
    rules: &[
        Rule::check("enip-header", On::Tcp, LEADS, check),
        Rule::check("enip-header-udp", On::Udp, LEADS, check),
    ],
};

const LEADS: &[Lead] = &[
    Lead::start(&[0x04, 0]),
    Lead::start(&[0x63, 0]),
    Lead::start(&[0x64, 0]),
    Lead::start(&[0x65, 0]),
    Lead::start(&[0x66, 0]),
    Lead::start(&[0x6f, 0]),
    Lead::start(&[0x70, 0]),
];

fn check(look: &Look<'_>) -> Option<Answer> {
    let command = look.le16(0)?;
    let len = look.le16(2)?;
    let status = look.le32(8)?;
    let options = look.le32(20)?;
    if status > 0x69 || options != 0 || len > 2048 {
        return Some(Answer::No);
    }
    Answer::when(match command {
        0x65 => len == 4 && look.le32(24)? == 1,
        // A handle of 0, a time-out, then a few items.
        0x6f | 0x70 => {
            let items = look.le16(30)?;
            len >= 16 && look.le32(4)? != 0 && look.le32(24)? == 0 && (1..=4).contains(&items)
        }
        // Lists: nothing is asked, items are answered.
        _ => look.le32(4)? == 0 && len < 600 && look.on_port(&[44818]),
    })
}
