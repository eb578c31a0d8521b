//! MQTT. OASIS 3.1.1 §3.1: CONNECT with the protocol's name; §3.2: CONNACK.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "mqtt",
    groups: &[Group::Things, Group::Messaging],
    ports: &[1883],
    rules: &[
        Rule::check("mqtt-connect", On::Tcp, &[Lead::start(&[0x10])], connect),
        Rule::check("mqtt-connack", On::Tcp, &[Lead::start(&[0x20, 2])], connack),
        Rule::check(
            "mqtt-ping",
            On::Tcp,
            &[Lead::start(&[0xc0, 0]), Lead::start(&[0xd0, 0])],
            ping,
        ),
    ],
};

fn connect(look: &Look<'_>) -> Option<Answer> {
    // The remaining length takes one to four bytes.
    let mut at = 1usize;
    while look.u8(at)? & 0x80 != 0 {
        at = at.checked_add(1)?;
        if at > 4 {
            return Some(Answer::No);
        }
    }
    let at = at.checked_add(1)?;
    Some(
        if look.has(at, b"\0\x04MQTT")? || look.has(at, b"\0\x06MQIsdp")? {
            Answer::Yes
        } else {
            Answer::No
        },
    )
}

fn connack(look: &Look<'_>) -> Option<Answer> {
    let [flags, code] = look.array(2)?;
    if flags > 1 || code > 5 {
        return Some(Answer::No);
    }
    Answer::when(look.reply.first() == Some(&0x10) || look.on_port(&[1883]))
}

/// PINGREQ and PINGRESP say little: both are needed, or more of the same.
fn ping(look: &Look<'_>) -> Option<Answer> {
    let mine = look.u8(0)?;
    let theirs = if mine == 0xc0 { 0xd0 } else { 0xc0 };
    Some(if look.reply.get(..2) == Some(&[theirs, 0]) {
        Answer::Yes
    } else {
        Answer::Likely
    })
}
