//! SOCKS. RFC 1928 §3, §4, §6: version 5, methods, requests and replies; version 4's request.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "socks",
    groups: &[Group::Tunnel],
    ports: &[1080],
    rules: &[
        Rule::check("socks-5", On::Tcp, &[Lead::start(&[5])], five),
        Rule::check(
            "socks-4",
            On::Tcp,
            &[Lead::start(&[4, 1]), Lead::start(&[4, 2])],
            four,
        ),
    ],
};

/// A list of methods, and one of them chosen. These are few bytes, so both directions must agree,
/// or what follows in one: the request, or the reply to it.
fn five(look: &Look<'_>) -> Option<Answer> {
    if look.to_server {
        return asked(look);
    }
    if look.reply.is_empty() {
        // RFC 1928 §6: nine replies. A password's answer may stand between (RFC 1929 §2).
        let begin = match look.array(0)? {
            [5, 0] => 2,
            [5, 2] if look.has(2, &[1, 0])? => 4,
            _ => return Some(Answer::No),
        };
        return Answer::when(look.u8(begin)? == 5 && look.u8(begin.wrapping_add(1))? <= 8)
            .and_then(|answer| end(look, begin, answer));
    }
    let offered = look.reply.first() == Some(&5)
        && usize::from(look.reply.get(1).copied()?).saturating_add(2) == look.reply.len();
    let chosen = look.u8(1)?;
    // 255: none of them will do.
    let known = look.reply.get(2..)?.contains(&chosen) || chosen == 0xff;
    Answer::when(offered && known)
}

/// RFC 1928 §3, §4: methods, and the request if the client alone is seen. A user's name and
/// password may stand between (RFC 1929 §2).
fn asked(look: &Look<'_>) -> Option<Answer> {
    let count = usize::from(look.u8(1)?);
    if !(1..=8).contains(&count) {
        return Some(Answer::No);
    }
    let methods = look.range(2, count)?;
    if methods.iter().any(|&method| (10..0x80).contains(&method)) {
        return Some(Answer::No);
    }
    let mut at = count.saturating_add(2);
    let Some(next) = look.u8(at) else {
        // Only the end of the turn tells that nothing follows before the answer.
        return look.ended.then_some(Answer::Likely);
    };
    if next == 1 && methods.contains(&2) {
        let user = usize::from(look.u8(at.wrapping_add(1))?);
        at = at.wrapping_add(user).wrapping_add(2);
        let password = usize::from(look.u8(at)?);
        at = at.wrapping_add(password).wrapping_add(1);
    }
    let is_request = look.u8(at)? == 5 && (1..=3).contains(&look.u8(at.wrapping_add(1))?);
    Answer::when(is_request).and_then(|answer| end(look, at, answer))
}

/// What requests and replies end in: a zero, a kind of address, and the address where it is a name.
fn end(look: &Look<'_>, at: usize, so_far: Answer) -> Option<Answer> {
    if so_far == Answer::No {
        return Some(so_far);
    }
    let address = look.from(at.wrapping_add(2));
    let &[zero, kind, len, ..] = address else {
        return None;
    };
    let is_so = match (zero, kind) {
        (0, 1 | 4) => true,
        (0, 3) => {
            let name = address.get(3..)?.get(..usize::from(len))?;
            len > 0 && name.iter().all(|byte| (b'!'..=b'~').contains(byte))
        }
        _ => false,
    };
    Answer::when(is_so)
}

/// A port, an address, a name that ends in 0. 4A: an address 0.0.0.x and a host's name.
fn four(look: &Look<'_>) -> Option<Answer> {
    let port = look.be16(2)?;
    let is_named = look.be32(4)? < 256;
    look.u8(8)?;
    let rest = look.from(8);
    let end = rest.iter().position(|&byte| byte == 0);
    let name = rest.get(..end.unwrap_or(rest.len()))?;
    if port == 0 || name.len() > 128 || !name.iter().all(|byte| (b'!'..=b'~').contains(byte)) {
        return Some(Answer::No);
    }
    let end = end?.saturating_add(9);
    if is_named {
        return Answer::when(look.u8(end)?.is_ascii_alphanumeric());
    }
    // Nothing may follow before the answer, which has 8 bytes.
    if look.bytes.len() > end {
        return Some(Answer::No);
    }
    // More may come with the next segment, so that only the end of the turn tells.
    if !look.ended {
        return None;
    }
    if look.reply.len() >= 8 {
        return Answer::when(look.reply.first() == Some(&0));
    }
    Answer::when(look.on_port(&[1080]))
}

#[cfg(test)]
mod tests {
    use crate::testing::{client, server, stream};

    const ASKED: &[u8] = b"\x05\x01\0\x05\x01\0\x03\x09a.example\0\x50";
    const ANSWERED: &[u8] = b"\x05\0\x05\0\0\x01\x0a\0\0\x01\x12\x34";

    fn both(turns: &[(bool, &[u8])]) -> Option<&'static str> {
        stream(turns, (50_000, 50_001))
    }

    #[test]
    fn either_direction_tells() {
        assert_eq!(client(ASKED), Some("socks"));
        assert_eq!(server(ANSWERED), Some("socks"));
        let (greeting, request) = ASKED.split_at(3);
        let (choice, reply) = ANSWERED.split_at(2);
        let turns = [
            (true, greeting),
            (false, choice),
            (true, request),
            (false, reply),
        ];
        assert_eq!(both(&turns), Some("socks"));
        assert_eq!(both(&turns[..2]), Some("socks"));
    }

    /// RFC 1929 §2: between choice and request.
    #[test]
    fn a_password_may_stand_between() {
        let sent = b"\x05\x02\0\x02\x01\x02me\x06secret\x05\x01\0\x01\x0a\0\0\x01\0\x50";
        assert_eq!(client(sent), Some("socks"));
        assert_eq!(
            server(b"\x05\x02\x01\0\x05\0\0\x01\x0a\0\0\x01\0\x50"),
            Some("socks")
        );
    }

    #[test]
    fn a_near_miss_does_not() {
        for (at, wrong) in [(0, 6), (2, 0x20), (3, 4), (4, 9), (5, 1), (6, 2), (9, 7)] {
            let mut bytes = ASKED.to_vec();
            bytes[at] = wrong;
            assert_eq!(client(&bytes), None, "{at}");
        }
        for (at, wrong) in [(0, 6), (1, 9), (2, 4), (3, 9), (4, 1), (5, 2)] {
            let mut bytes = ANSWERED.to_vec();
            bytes[at] = wrong;
            assert_eq!(server(&bytes), None, "{at}");
        }
        assert_eq!(client(&ASKED[..3]), None, "a greeting alone says little");
        assert_eq!(server(&ANSWERED[..2]), None);
    }
}
