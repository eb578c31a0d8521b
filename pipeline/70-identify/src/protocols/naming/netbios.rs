//! NetBIOS over TCP and UDP. RFC 1002 §4.2: names; §4.3: sessions; §4.4: datagrams.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "netbios",
    groups: &[Group::Naming],
    ports: &[137, 138, 139],
    rules: &[
        Rule::check(
            "netbios-name",
            On::Udp,
            &[Lead::at(4, &[0]).len_min(50)],
            name,
        ),
        Rule::check(
            "netbios-datagram",
            On::Udp,
            &[Lead::masked(Lead::ANY, 0, 0xf8, 0x10).len_min(14)],
            datagram,
        ),
        Rule::check(
            "netbios-session",
            On::Tcp,
            &[Lead::start(&[0x81, 0, 0])],
            session,
        ),
        Rule::check(
            "netbios-answer",
            On::Tcp,
            &[Lead::start(&[0x82, 0, 0, 0]), Lead::start(&[0x83, 0, 0, 1])],
            answer,
        ),
    ],
};

/// RFC 1001 §14.1: 16 bytes as 32 letters from A to P.
fn is_encoded(name: &[u8]) -> bool {
    name.len() == 32 && name.iter().all(|byte| (b'A'..=b'P').contains(byte))
}

fn name(look: &Look<'_>) -> Option<Answer> {
    let label = look.u8(12)?;
    let begins = look
        .range(13, 4)?
        .iter()
        .all(|byte| (b'A'..=b'P').contains(byte));
    let is_damaged = look.on_port(&[137]) && begins && look.be16(4)? <= 1;
    Answer::when(is_damaged || (label == 32 && is_encoded(look.range(13, 32)?)))
}

fn datagram(look: &Look<'_>) -> Option<Answer> {
    let [kind, flags] = look.array(0)?;
    let port = look.be16(8)?;
    let len = usize::from(look.be16(10)?);
    if flags > 0x1f || port != 138 || !(0x10..=0x16).contains(&kind) {
        return Some(Answer::No);
    }
    // The length counts from the names on.
    // An address, and the same port again: on its port it may be damaged behind that.
    if look.on_port(&[138]) && look.u8(0)? & 0xf8 == 0x10 {
        return Some(Answer::Yes);
    }
    let is_named = look.u8(14)? == 32 && is_encoded(look.range(15, 32)?);
    Answer::when(is_named && len > 60)
}

fn session(look: &Look<'_>) -> Option<Answer> {
    Answer::when(look.be16(2)? >= 68 && look.u8(4)? == 32 && is_encoded(look.range(5, 32)?))
}

/// The session was granted or refused; SMB follows if it was granted.
fn answer(look: &Look<'_>) -> Option<Answer> {
    let asked = look.reply.first() == Some(&0x81) && look.reply.get(4) == Some(&32);
    Answer::when(asked || look.on_port(&[139]))
}
