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
            "mqtt-publish",
            On::Tcp,
            &[Lead::masked(Lead::ANY, 0, 0xf0, 0x30).and(2, &[0])],
            publish,
        ),
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

/// OASIS 3.1.1 §3.3, when the capture began late: the length is the rest, a topic in print.
fn publish(look: &Look<'_>) -> Option<Answer> {
    let len = usize::from(look.u8(1)?);
    let topic = usize::from(look.be16(2)?);
    if len > 127 || topic < 4 || topic.saturating_add(2) > len {
        return Some(Answer::No);
    }
    let is_text = look
        .range(4, topic)?
        .iter()
        .all(|byte| (b' '..=b'~').contains(byte));
    if !is_text || look.bytes.len() < len.saturating_add(2) {
        return if is_text && !look.ended {
            None
        } else {
            Some(Answer::No)
        };
    }
    // What follows is another packet, or nothing.
    let next = look.u8(len.saturating_add(2));
    match next {
        None if !look.ended => None,
        None => Some(Answer::Yes),
        Some(next) => Answer::likely(matches!(next >> 4, 3 | 4 | 12)),
    }
}
