//! NetFlow 5, 9 and IPFIX. RFC 3954 §5.1, RFC 7011 §3.1: counts and lengths that fill the datagram.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "netflow",
    groups: &[Group::Management],
    ports: &[2055, 4739, 9995, 9996],
    rules: &[
        Rule::check(
            "netflow-records",
            On::Udp,
            &[
                Lead::start(&[0, 1]),
                Lead::start(&[0, 5]),
                Lead::start(&[0, 7]),
            ],
            fixed,
        ),
        Rule::check(
            "netflow-9",
            On::Udp,
            &[Lead::start(&[0, 9]).len_min(24)],
            nine,
        ),
        Rule::check(
            "ipfix",
            On::Udp,
            &[Lead::start(&[0, 10]).len_min(20)],
            ipfix,
        ),
    ],
};

fn fixed(look: &Look<'_>) -> Option<Answer> {
    let (header, record) = match look.be16(0)? {
        1 => (16usize, 52usize),
        5 => (24, 48),
        _ => (24, 52),
    };
    let count = usize::from(look.be16(2)?);
    let len = count.checked_mul(record)?.checked_add(header)?;
    Answer::when((1..=30).contains(&count) && look.len == len && is_time(look.be32(8)?))
}

fn nine(look: &Look<'_>) -> Option<Answer> {
    let count = look.be16(2)?;
    if !(1..=255).contains(&count) || !is_time(look.be32(8)?) {
        return Some(Answer::No);
    }
    sets(look, 20)
}

fn ipfix(look: &Look<'_>) -> Option<Answer> {
    if usize::from(look.be16(2)?) != look.len || !is_time(look.be32(4)?) {
        return Some(Answer::No);
    }
    sets(look, 16)
}

fn sets(look: &Look<'_>, at: usize) -> Option<Answer> {
    let mut cursor = look.cursor(at);
    for _ in 0..32 {
        if cursor.left() < 4 {
            break;
        }
        let id = cursor.be16()?;
        let len = cursor.len16()?.checked_sub(4)?;
        if (id > 3 && id < 256) || len > cursor.left() {
            return Some(Answer::No);
        }
        cursor.skip(len)?;
    }
    Answer::when(cursor.left() < 4)
}

/// Between 1995 and 2069.
fn is_time(seconds: u32) -> bool {
    (0x2f00_0000..0xbb00_0000).contains(&seconds)
}
