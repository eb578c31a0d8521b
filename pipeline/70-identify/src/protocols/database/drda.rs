//! DRDA (Db2). Volume 3: a length, 0xD0, and code points.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "drda",
    groups: &[Group::Database],
    ports: &[50000, 446],
    rules: &[Rule::check(
        "drda-dss",
        On::Tcp,
        &[Lead::at(2, &[0xd0])],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let len = look.be16(0)?;
    let inner = look.be16(6)?;
    let code = look.be16(8)?;
    let is_code = matches!(
        code,
        0x1041 | 0x1443 | 0x106d | 0x106e | 0x14ac | 0x2001 | 0x1219
    );
    Answer::when(is_code && len >= inner && len.saturating_sub(inner) == 6)
}
