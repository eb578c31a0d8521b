//! Cassandra's binary protocol §2: version, flags, stream, opcode, length.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "cassandra",
    groups: &[Group::Database],
    ports: &[9042],
    rules: &[
        Rule::check("cassandra-frame", On::Tcp, LEADS, check),
        // Between nodes: a magic number, then flags and a checksum.
        Rule::pattern("cassandra-internode", On::Tcp, r"\xca\x55\x2d\xfa"),
    ],
};

const LEADS: &[Lead] = &[
    Lead::ANY.masked(0, 0xfe, 4).masked(1, 0xe0, 0).and(5, &[0]),
    Lead::ANY.masked(0, 0xff, 3).masked(1, 0xe0, 0).and(5, &[0]),
    Lead::ANY
        .masked(0, 0xfe, 0x84)
        .masked(1, 0xe0, 0)
        .and(5, &[0]),
    Lead::ANY
        .masked(0, 0xff, 0x83)
        .masked(1, 0xe0, 0)
        .and(5, &[0]),
];

fn check(look: &Look<'_>) -> Option<Answer> {
    let code = look.u8(4)?;
    let len = look.be32(5)?;
    // A stream begins with OPTIONS or STARTUP and their answers.
    match code {
        5 => Answer::when(len == 0 && look.be16(2)? < 256),
        1 => {
            // A map of strings, "CQL_VERSION" among them.
            let count = look.be16(9)?;
            Answer::when(
                (1..16).contains(&count)
                    && (10..512).contains(&len)
                    && look.u8(13)?.is_ascii_uppercase(),
            )
        }
        6 | 3 => {
            let count = look.be16(9)?;
            Answer::when(
                (1..16).contains(&count)
                    && (10..2048).contains(&len)
                    && look.be16(11)? < 64
                    && look.u8(13)?.is_ascii_uppercase(),
            )
        }
        2 => Answer::when(len == 0 && look.be16(2)? < 256),
        _ => Some(Answer::No),
    }
}
