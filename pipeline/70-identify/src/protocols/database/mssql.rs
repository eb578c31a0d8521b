//! SQL Server's tabular data stream. [MS-TDS] §2.2.3: type, status, length.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "mssql",
    groups: &[Group::Database],
    ports: &[1433],
    rules: &[Rule::check("tds-packet", On::Tcp, LEADS, check)],
};

const LEADS: &[Lead] = &[
    Lead::start(&[0x12, 1]).and(7, &[0]),
    Lead::start(&[4, 1]).and(7, &[0]),
    Lead::start(&[0x10, 1]).and(7, &[0]),
    Lead::start(&[1, 1]).and(7, &[0]),
    Lead::start(&[3]).masked(1, 0xf6, 0).and(7, &[0]),
    Lead::start(&[0x0e, 1]).and(7, &[0]),
];

fn check(look: &Look<'_>) -> Option<Answer> {
    let kind = look.u8(0)?;
    let len = usize::from(look.be16(2)?);
    if !(8..=32_768).contains(&len) || look.u8(6)? > 2 {
        return Some(Answer::No);
    }
    Answer::when(match kind {
        // Before login: options by number, offset and length, the version first.
        0x12 => look.range(8, 3)? == [0, 0, look.u8(10)?] && look.be16(11)? == 6,
        // Login: its own length and a version of the protocol.
        0x10 => {
            look.le32(8)? as usize == len.saturating_sub(8)
                && matches!(look.u8(15)?, 0x70..=0x74 | 7)
        }
        // Batches, calls and transactions begin with headers: a length, then one of 18.
        // A call before version 7.2 of the protocol: a name, or a number in its place.
        3 if look.le32(8)? != 22 => {
            let name = look.le16(8)?;
            let is_text = look.u8(11)? == 0 && look.u8(13)? == 0 && look.u8(10)?.is_ascii_graphic();
            name == 0xffff && look.le16(10)? < 20 || (2..=256).contains(&name) && is_text
        }
        1 | 3 | 0x0e => look.le32(8)? == 22 && look.le32(12)? == 18 && look.le16(16)? == 2,
        // An answer: tokens.
        _ => {
            let token = look.u8(8)?;
            let is_token = matches!(
                token,
                0xe3 | 0xab | 0xaa | 0xad | 0xfd | 0xfe | 0xff | 0x81 | 0x00
            );
            if token == 0 {
                look.be16(9)? > 5 && look.be16(11)? == 6
            } else {
                is_token
                    && (look.on_port(&[1433]) || look.reply.first().is_some_and(|&one| one == 0x12))
            }
        }
    })
}
