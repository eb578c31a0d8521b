//! Oracle's transparent network substrate: length, type, and a version in CONNECT.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "oracle",
    groups: &[Group::Database],
    ports: &[1521],
    rules: &[Rule::check(
        "tns-packet",
        On::Tcp,
        &[
            Lead::at(2, &[0, 0]).masked(4, 0xf0, 0).and(5, &[0]),
            Lead::at(0, &[0, 0]).masked(4, 0xf0, 0),
        ],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let short = look.be16(0)?;
    let len = if short == 0 {
        look.be32(0)?
    } else {
        u32::from(short)
    };
    let [kind, _, check_high, check_low] = look.array(4)?;
    if check_high != 0 || check_low != 0 {
        return Some(Answer::No);
    }
    Answer::when(match kind {
        // A version of the protocol, and one that is compatible.
        1 => {
            (300..=330).contains(&look.be16(8)?)
                && (200..=330).contains(&look.be16(10)?)
                && len >= 34
        }
        2 => (300..=330).contains(&look.be16(8)?) && len >= 24,
        // Redirect and refuse name a description; resend is empty.
        4 | 5 => look.from(10).windows(2).take(8).any(|part| part == b"(D"),
        11 => len == 8 && look.reply.get(4) == Some(&1),
        _ => false,
    })
}
