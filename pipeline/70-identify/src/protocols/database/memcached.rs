//! Memcached: text commands and answers; the binary header.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "memcached",
    groups: &[Group::Database],
    ports: &[11211],
    rules: &[
        Rule::pattern(
            "memcached-text",
            On::Tcp,
            concat!(
                r"((set|add|replace|append",
                r"|prepend) [!-~]+ [0-9]{1,10} [0-9]{1,10} [0-9]{1,9}( noreply)?\r\n",
                r"|gets? [!-~]+( [!-~]+)*\r\n|stats( [a-z]+)?\r\n|version\r\n",
                r"|VALUE [!-~]+ [0-9]+ [0-9]+\r\n|STAT pid [0-9]+\r\n|STORED\r\n)",
            ),
        ),
        Rule::check(
            "memcached-binary",
            On::Tcp,
            &[
                Lead::start(&[0x80]).and(5, &[0, 0, 0]),
                Lead::start(&[0x81]).and(5, &[0]),
            ],
            binary,
        ),
    ],
};

fn binary(look: &Look<'_>) -> Option<Answer> {
    let [_, code, key_high, key_low] = look.array(0)?;
    let extras = look.u8(4)?;
    let body = look.be32(8)?;
    let key = u32::from(u16::from_be_bytes([key_high, key_low]));
    let is_sized = body >= key.saturating_add(u32::from(extras)) && body < 1 << 20 && key <= 250;
    Answer::when(is_sized && code < 0x50 && extras <= 24 && look.be64(16)? < 1 << 32)
}
