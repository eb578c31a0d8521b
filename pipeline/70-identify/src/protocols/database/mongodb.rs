//! MongoDB's wire protocol: length, numbers, opcode.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "mongodb",
    groups: &[Group::Database],
    ports: &[27017],
    rules: &[Rule::check(
        "mongodb-message",
        On::Tcp,
        &[Lead::at(3, &[0])],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let len = look.le32(0)?;
    let code = look.le32(12)?;
    let is_code = matches!(code, 1 | 2001 | 2002 | 2004..=2007 | 2010..=2013);
    if !is_code || !(26..=48_000_000).contains(&len) {
        return Some(Answer::No);
    }
    Answer::when(match code {
        2013 => look.le32(16)? < 0x1_0000 * 2 && look.u8(20)? <= 1,
        2004 => look.le32(16)? < 512 && look.u8(20)?.is_ascii_graphic(),
        // An answer: flags, a cursor, where it starts, how many.
        1 => {
            let count = look.le32(32)?;
            look.le32(16)? < 16
                && look.le32(8)? != 0
                && look.le32(28)? == 0
                && (1..100_000).contains(&count)
                && look.le32(36)?.checked_add(36)? <= len
        }
        _ => {
            look.le32(16)? == 0
                && look.le32(8)? == 0
                && look.u8(20)?.is_ascii_graphic()
                && look.u8(21)?.is_ascii_graphic()
        }
    })
}
