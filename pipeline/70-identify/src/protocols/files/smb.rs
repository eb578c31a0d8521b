//! SMB. [MS-SMB] §2.2.3, [MS-SMB2] §2.1: a length, then a signature.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "smb2",
    groups: &[Group::Files],
    ports: &[445, 139],
    rules: &[Rule::check(
        "smb2-header",
        On::Tcp,
        &[
            Lead::start(&[0]).and(4, b"\xfeSMB"),
            Lead::start(&[0]).and(4, b"\xfdSMB"),
            Lead::start(&[0]).and(4, b"\xfcSMB"),
        ],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let len = look.be24(1)?;
    // Version 2 has a structure size of 64 behind its signature; encrypted ones have none.
    let is_header = look.u8(4)? != 0xfe || look.le16(8)? == 64;
    Answer::when(len >= 64 && is_header)
}
