//! OpenVPN: an opcode, session identifiers, acknowledgements; an HMAC or encryption around them.

use crate::{Answer, Cursor, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "openvpn",
    groups: &[Group::Tunnel, Group::Encrypted],
    ports: &[1194],
    rules: &[
        Rule::check("openvpn-reset-udp", On::Udp, UDP, datagram),
        Rule::check("openvpn-reset-tcp", On::Tcp, TCP, stream),
    ],
};

/// Hard resets (client's 7, server's 8, client's third version 10) with any key number; the first
/// acknowledgement and control packet for those that came too late.
const UDP: &[Lead] = &[
    Lead::masked(Lead::ANY, 0, 0xf8, 7 << 3).len_min(14),
    Lead::masked(Lead::ANY, 0, 0xf8, 8 << 3).len_min(14),
    Lead::masked(Lead::ANY, 0, 0xf8, 10 << 3).len_min(14),
    Lead::masked(Lead::ANY, 0, 0xf8, 4 << 3).len_min(14),
    Lead::masked(Lead::ANY, 0, 0xf8, 5 << 3).len_min(14),
];
const TCP: &[Lead] = &[
    Lead::at(0, &[0]).masked(2, 0xf8, 7 << 3),
    Lead::at(0, &[0]).masked(2, 0xf8, 8 << 3),
    Lead::at(0, &[0]).masked(2, 0xf8, 10 << 3),
];

fn stream(look: &Look<'_>) -> Option<Answer> {
    let len = look.len16_at(0)?;
    let whole = look.range(2, len)?;
    let inner = Look {
        bytes: whole,
        len,
        ..*look
    };
    packet(&inner, look.reply.get(2..).unwrap_or_default(), look.ended)
}

fn datagram(look: &Look<'_>) -> Option<Answer> {
    packet(look, look.reply, true)
}

fn packet(look: &Look<'_>, reply: &[u8], ended: bool) -> Option<Answer> {
    if is_counts(look) {
        return Some(Answer::No);
    }
    let mut cursor = look.cursor(0);
    let opcode = cursor.u8()? >> 3;
    let mine = cursor.take(8)?;
    if mine.iter().all(|&byte| byte == 0) {
        return Some(Answer::No);
    }
    let theirs = reply.get(1..9).unwrap_or_default();
    if opcode != 8 && is_plain(cursor, opcode).is_some() && look.len <= 512 && opcode == 7 {
        return Some(Answer::Yes);
    }
    // The server's reset acknowledges the client's, which had number 0.
    if opcode == 8 && look.len == 26 && look.u8(9)? == 1 && look.be32(10)? == 0 {
        return Answer::when(look.be32(22)? == 0);
    }
    // tls-auth: an HMAC of 16, 20, 32 or 64 bytes before packet number 1 and a time.
    for hmac in [16usize, 20, 32, 64] {
        let mut after = cursor;
        after.skip(hmac)?;
        if is_numbered(after).is_some() && matches!(opcode, 7 | 8) {
            return Some(Answer::Yes);
        }
    }
    // tls-crypt: packet number and time in clear, then an HMAC and what is encrypted.
    if is_numbered(cursor).is_some() && matches!(opcode, 7 | 8 | 10) && look.len >= 54 {
        return Some(Answer::Yes);
    }
    // A server's packet acknowledges the client's session.
    if theirs.len() == 8 && look.from(9).windows(8).take(80).any(|part| part == theirs) {
        return Some(Answer::Yes);
    }
    if reply.is_empty() && !ended {
        return None;
    }
    Some(Answer::No)
}

/// One question and few records, as DNS has it (RFC 1035 §4.1.1): a session's random number is
/// nothing of the kind. A first label of one letter looks like packet 1 and a time.
fn is_counts(look: &Look<'_>) -> bool {
    look.be16(4) == Some(1) && look.u8(6) == Some(0) && look.u8(8) == Some(0)
}

/// No acknowledgements, packet 0, and nothing more.
fn is_plain(mut cursor: Cursor<'_>, _opcode: u8) -> Option<()> {
    (cursor.u8()? == 0 && cursor.be32()? == 0 && cursor.is_end()).then_some(())
}

/// Packet number 1, a time between 2005 and 2069.
fn is_numbered(mut cursor: Cursor<'_>) -> Option<()> {
    let number = cursor.be32()?;
    let time = cursor.be32()?;
    let is_key_time = matches!(number, 1 | 0x0a01_0001 | 0x0f00_0001);
    (is_key_time && (0x4200_0000..0xbb00_0000).contains(&time)).then_some(())
}

#[cfg(test)]
mod tests {
    use crate::testing::{client, datagram};

    /// RFC 1035 §4.1.1: an identifier may look like an opcode.
    #[test]
    fn a_dns_query_for_a_name_of_one_letter_is_none() {
        for id in [0x38, 0x42, 0x57] {
            let mut query = vec![id, 0x75];
            query.extend(b"\x01\0\0\x01\0\0\0\0\0\0\x01Z\x14bbbbbbbbbbbbbbbbbbbb");
            query.extend(b"\x0fccccccccccccccc\x04test\0\0\x1c\0\x01");
            assert_eq!(datagram(&query), Some("dns"), "{id:x}");
            let mut framed = vec![0, query.len() as u8];
            framed.extend(query);
            assert_eq!(client(&framed), Some("dns"), "{id:x}");
        }
    }
}
