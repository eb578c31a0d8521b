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
        return Answer::when(on_port && look.len >= 8 && look.len.is_multiple_of(4));
    }
    let [stratum, poll, precision] = look.array(1)?;
    // 2^-1 to 2^-39 seconds, or not told.
    let is_precise = precision == 0 || precision > 0xd8;
    let is_packet = look.len >= 48 && stratum <= 16 && poll <= 17 && is_precise;
    Answer::when(is_packet && on_port)
}
