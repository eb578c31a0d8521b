//! Service location. RFC 2608 §8: version, function, and the length of the datagram.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "slp",
    groups: &[Group::Naming],
    ports: &[427],
    rules: &[
        Rule::check(
            "slp-datagram",
            On::Udp,
            &[Lead::start(&[1]), Lead::start(&[2])],
            check,
        ),
        Rule::check("slp-stream", On::Tcp, &[Lead::start(&[2])], check),
    ],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let [version, function] = look.array(0)?;
    let (len, language) = if version == 2 {
        (usize::try_from(look.be24(2)?).ok()?, look.be16(12)?)
    } else {
        (usize::from(look.be16(2)?), 2)
    };
    if !(1..=11).contains(&function) || len < 12 || !look.is_long(len)? {
        return Some(Answer::No);
    }
    // RFC 2165 §4: the language code stands where version 2 has its tag.
    let letters = if version == 2 {
        look.array::<2>(14)?
    } else {
        look.array::<2>(6)?
    };
    let is_language = (1..=8).contains(&language) && letters.iter().all(u8::is_ascii_lowercase);
    Answer::when(is_language)
}
