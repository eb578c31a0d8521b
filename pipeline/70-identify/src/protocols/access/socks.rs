//! SOCKS. RFC 1928 §3: version 5 and methods; version 4's request.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "socks",
    groups: &[Group::Tunnel],
    ports: &[1080],
    rules: &[
        Rule::check("socks-5", On::Tcp, &[Lead::start(&[5])], five),
        Rule::check(
            "socks-4",
            On::Tcp,
            &[Lead::start(&[4, 1]), Lead::start(&[4, 2])],
            four,
        ),
    ],
};

/// Few bytes, so both directions must agree: a list of methods, and one of them chosen.
fn five(look: &Look<'_>) -> Option<Answer> {
    let count = usize::from(look.u8(1)?);
    if look.to_server {
        if !(1..=8).contains(&count) || look.bytes.len() > count.saturating_add(2) {
            return Some(Answer::No);
        }
        let methods = look.range(2, count)?;
        return Answer::likely(methods.iter().all(|&method| !(10..0x80).contains(&method)));
    }
    let offered = look.reply.first() == Some(&5)
        && usize::from(look.reply.get(1).copied()?).saturating_add(2) == look.reply.len();
    let chosen = look.u8(1)?;
    // 255: none of them will do.
    let known = look.reply.get(2..)?.contains(&chosen) || chosen == 0xff;
    Answer::when(offered && known)
}

/// A port, an address, a name that ends in 0. 4A: an address 0.0.0.x and a host's name.
fn four(look: &Look<'_>) -> Option<Answer> {
    let port = look.be16(2)?;
    let is_named = look.be32(4)? < 256;
    look.u8(8)?;
    let rest = look.from(8);
    let end = rest.iter().position(|&byte| byte == 0);
    let name = rest.get(..end.unwrap_or(rest.len()))?;
    if port == 0 || name.len() > 128 || !name.iter().all(|byte| (b'!'..=b'~').contains(byte)) {
        return Some(Answer::No);
    }
    let end = end?.saturating_add(9);
    if is_named {
        return Answer::when(look.u8(end)?.is_ascii_alphanumeric());
    }
    // Nothing may follow before the answer, which has 8 bytes.
    if look.bytes.len() > end {
        return Some(Answer::No);
    }
    // More may come with the next segment, so that only the end of the turn tells.
    if !look.ended {
        return None;
    }
    if look.reply.len() >= 8 {
        return Answer::when(look.reply.first() == Some(&0));
    }
    Answer::when(look.on_port(&[1080]))
}
