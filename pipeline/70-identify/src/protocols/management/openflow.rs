//! OpenFlow. §7.1: version, type, length, number; a stream begins with HELLO.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "openflow",
    groups: &[Group::Management],
    ports: &[6653, 6633],
    rules: &[Rule::check(
        "openflow-hello",
        On::Tcp,
        &[Lead::at(1, &[0, 0]).masked(0, 0xf8, 0)],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let version = look.u8(0)?;
    let len = usize::from(look.be16(2)?);
    if !(1..=6).contains(&version) {
        return Some(Answer::No);
    }
    if len == 8 {
        // Nothing else in it: the next message has the same version, or the port must help.
        let next = look.u8(8);
        return Some(match next {
            Some(next)
                if next == version && look.u8(9)? <= 30 && (8..2048).contains(&look.be16(10)?) =>
            {
                Answer::Yes
            }
            Some(_) => Answer::No,
            None if look.on_port(&[6653, 6633]) => Answer::Yes,
            None if look.ended => Answer::Likely,
            None => return None,
        });
    }
    // A bitmap of versions: type 1, its length.
    Answer::when(len == 16 && look.be32(8)? == 0x0001_0008)
}
