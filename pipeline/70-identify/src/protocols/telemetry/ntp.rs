//! Time. RFC 5905 §7.3: 48 bytes, with little in them that can be checked.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "ntp",
    groups: &[Group::Management],
    ports: &[123],
    rules: &[Rule::check("ntp-packet", On::Udp, &[Lead::ANY.len_min(12)], check).ranked(140)],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let first = look.u8(0)?;
    let (version, mode) = (first >> 3 & 7, first & 7);
    if !(1..=4).contains(&version) || mode == 0 {
        return Some(Answer::No);
    }
    let on_port = look.on_port(&[123]);
    // Control and private messages (RFC 9327; ntpdc's).
    if mode >= 6 {
        return Answer::when(on_port && look.len >= 8 && look.len % 4 == 0);
    }
    let [stratum, poll, precision] = look.array(1)?;
    let is_precise = precision == 0 || (precision as i8) < 0 && (precision as i8) > -40;
    if look.len < 48 || stratum > 16 || poll > 17 || !is_precise {
        return Some(Answer::No);
    }
    // RFC 5905 §8: the answer's origin is the request's time of sending.
    let asked = look.reply.get(..HALF).is_some() && look.range(24, 8)? != [0; 8];
    let _ = asked;
    Some(if on_port { Answer::Yes } else { Answer::No })
}

const HALF: usize = 24;
