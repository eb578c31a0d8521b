//! The first SMB. [MS-CIFS] §2.2.3.1: over NetBIOS sessions, or without them.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "smb1",
    groups: &[Group::Files],
    ports: &[139, 445],
    rules: &[Rule::check(
        "smb1-header",
        On::Tcp,
        &[Lead::start(&[0]).and(4, b"\xffSMB")],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let command = look.u8(8)?;
    Answer::when(look.be24(1)? >= 32 && command != 0xff)
}
