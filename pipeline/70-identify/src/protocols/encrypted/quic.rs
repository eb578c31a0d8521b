//! QUIC. RFC 9000 §17.2: long headers; the older Google variant; version negotiation.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "quic",
    groups: &[Group::Encrypted, Group::Web],
    ports: &[443],
    rules: &[
        Rule::check("quic-long", On::Udp, LONG, long),
        Rule::check("gquic", On::Udp, GOOGLE, google),
    ],
};

/// Versions, as [`is_version`] has them, and those that ask for negotiation or are it.
const LONG: &[Lead] = &[
    long_header().and(1, &[0, 0, 0, 1]),
    long_header().and(1, &[0x6b, 0x33, 0x43, 0xcf]),
    long_header().and(1, &[0x70, 0x9a, 0x50, 0xc4]),
    long_header().and(1, &[0xff, 0, 0]),
    long_header().and(1, &[0xfa, 0xce, 0xb0]),
    long_header().and(1, b"Q0"),
    long_header().and(1, b"T0"),
    long_header().and(1, &[0; 4]),
    long_header()
        .masked(1, 0x0f, 0x0a)
        .masked(2, 0x0f, 0x0a)
        .masked(3, 0x0f, 0x0a)
        .masked(4, 0x0f, 0x0a),
];

const fn long_header() -> Lead {
    Lead::ANY.masked(0, 0x80, 0x80).len_min(20)
}

const GOOGLE: &[Lead] = &[
    Lead::ANY.masked(0, 0xc9, 0x09).len_min(20),
    Lead::ANY.masked(0, 0xcd, 0x0c).len_min(20),
    Lead::ANY.masked(0, 0xcd, 0x08).len_min(20),
];

/// Versions that exist: 1, 2, drafts, Facebook's, Google's, and greased ones (RFC 9000 §15).
pub(crate) const fn is_version(version: u32) -> bool {
    matches!(version, 1 | 0x6b33_43cf | 0x709a_50c4)
        || version >> 8 == 0x00ff_0000
        || version >> 8 == 0x00fa_ceb0
        || is_google(version)
}

const fn is_google(version: u32) -> bool {
    let [letter, zero, tens, ones] = version.to_be_bytes();
    matches!(letter, b'Q' | b'T') && zero == b'0' && tens.is_ascii_digit() && ones.is_ascii_digit()
}

fn long(look: &Look<'_>) -> Option<Answer> {
    let mut cursor = look.cursor(0);
    let first = cursor.u8()?;
    let version = cursor.be32()?;
    if is_google(version) && version < 0x5130_3436 {
        // Q043 and before: other bits, the same place of the version only by chance.
        return Some(Answer::No);
    }
    if version == 0 {
        return negotiation(look);
    }
    // RFC 9000 §15: 0x?a?a?a?a asks for negotiation.
    let is_forced = version & 0x0f0f_0f0f == 0x0a0a_0a0a && look.len >= 1200;
    if !(is_version(version) || is_forced) || (first & 0x40 == 0 && !is_google(version)) {
        return Some(Answer::No);
    }
    let is_short_ids = is_google(version) && version <= 0x5130_3438;
    let to = if is_short_ids {
        let lens = cursor.u8()?;
        let len = |half: u8| {
            if half == 0 {
                0
            } else {
                usize::from(half).saturating_add(3)
            }
        };
        cursor.skip(len(lens >> 4))?;
        cursor.skip(len(lens & 15))?;
        return Answer::when(cursor.left() > 16);
    } else {
        cursor.len8()?
    };
    cursor.skip(to)?;
    let from = cursor.len8()?;
    // RFC 9000 §17.2: connection identifiers of at most 20 bytes.
    if to > 20 || from > 20 || (to == 0 && from == 0) {
        return Some(Answer::No);
    }
    cursor.skip(from)?;
    // RFC 9369 §3.2: version 2 has other numbers for the types.
    let kind = first >> 4 & 3;
    let initial = if version == 0x6b33_43cf { 1 } else { 0 };
    let retry = if version == 0x6b33_43cf { 0 } else { 3 };
    if kind == initial {
        let token = varint(&mut cursor)?;
        cursor.skip(token)?;
    }
    if kind != retry {
        let len = varint(&mut cursor)?;
        return Answer::when(len >= 16 && len <= cursor.left());
    }
    Answer::when(cursor.left() >= 16)
}

/// RFC 9000 §17.2.1: a list of versions, some of which are known.
fn negotiation(look: &Look<'_>) -> Option<Answer> {
    let mut cursor = look.cursor(5);
    let to = cursor.len8()?;
    cursor.skip(to)?;
    let from = cursor.len8()?;
    cursor.skip(from)?;
    let mut known = false;
    if to > 20 || from > 20 || !cursor.left().is_multiple_of(4) {
        return Some(Answer::No);
    }
    for _ in 0..16 {
        let Some(version) = cursor.be32() else { break };
        known |= is_version(version);
    }
    Answer::when(known)
}

/// RFC 9000 §16.
fn varint(cursor: &mut crate::Cursor<'_>) -> Option<usize> {
    let first = cursor.u8()?;
    let mut value = usize::from(first & 0x3f);
    for _ in 1..1u8.wrapping_shl(u32::from(first >> 6)) {
        value = value.checked_shl(8)? | cursor.len8()?;
    }
    Some(value)
}

/// Up to Q043: flags, an identifier of 8 bytes, the version, a packet number.
fn google(look: &Look<'_>) -> Option<Answer> {
    let flags = look.u8(0)?;
    if flags & 1 != 0 {
        let version = look.be32(9)?;
        return Answer::when(is_google(version) && version < 0x5130_3434);
    }
    // A server's packet: only its answer to a client's connection identifier tells.
    let mine = look.array::<8>(1)?;
    let theirs = look.reply.get(1..9)?;
    let asked = look.reply.get(9).copied() == Some(b'Q');
    Answer::when(asked && theirs == mine)
}

#[cfg(test)]
mod tests {
    use crate::testing::datagram;

    /// RFC 9001 A.2: a client's Initial, its protected part left empty.
    fn initial() -> Vec<u8> {
        let mut bytes = vec![0xc0, 0, 0, 0, 1, 8];
        bytes.extend([
            0x83, 0x94, 0xc8, 0xf0, 0x3e, 0x51, 0x57, 8, 0, 0, 0x44, 0x9e,
        ]);
        bytes.resize(1200, 0);
        bytes
    }

    #[test]
    fn a_long_header_tells() {
        assert_eq!(datagram(&initial()), Some("quic"));
        assert_eq!(datagram(b"\x09abcdefghQ043\x01zzzzzzzzzz"), Some("quic"));
    }

    /// RFC 9000 §17.2: a version that exists, a length that fits.
    #[test]
    fn a_near_miss_does_not() {
        for (at, byte) in [(4, 3), (16, 0x45), (5, 21)] {
            let mut bytes = initial();
            bytes[at] = byte;
            assert_eq!(datagram(&bytes), None, "byte {at}");
        }
    }
}
