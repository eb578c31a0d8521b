//! PostgreSQL's protocol 3 §55.7: a start-up packet, or a request for TLS.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "postgresql",
    groups: &[Group::Database],
    ports: &[5432],
    rules: &[
        Rule::check("postgresql-start", On::Tcp, &[Lead::start(&[0, 0])], client),
        Rule::check(
            "postgresql-auth",
            On::Tcp,
            &[Lead::start(&[b'R', 0, 0, 0])],
            server,
        ),
    ],
};

fn client(look: &Look<'_>) -> Option<Answer> {
    let len = look.be32(0)?;
    let code = look.be32(4)?;
    Answer::when(match code {
        // TLS, cancel, GSS.
        80_877_103 | 80_877_104 => len == 8,
        80_877_102 => len == 16,
        0x0003_0000 | 0x0003_0002 => (9..=2000).contains(&len) && look.u8(8)?.is_ascii_lowercase(),
        _ => false,
    })
}

fn server(look: &Look<'_>) -> Option<Answer> {
    let len = look.be32(1)?;
    let kind = look.be32(5)?;
    Answer::when(match kind {
        0 | 2 | 7 | 9 => len == 8,
        3 => len == 8,
        5 => len == 12,
        10..=12 => (8..=512).contains(&len),
        _ => false,
    })
}
