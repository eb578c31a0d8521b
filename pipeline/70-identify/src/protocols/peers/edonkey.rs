//! eDonkey and eMule: a mark, a length, a message that fits both.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "edonkey",
    groups: &[Group::Peers],
    ports: &[4662, 4672],
    rules: &[
        Rule::check(
            "edonkey-hello",
            On::Tcp,
            &[Lead::start(&[0xe3]).and(3, &[0, 0]).len_min(7)],
            hello,
        ),
        Rule::check(
            "emule-information",
            On::Tcp,
            &[Lead::start(&[0xc5]).and(3, &[0, 0]).len_min(12)],
            information,
        ),
        Rule::check(
            "kad-message",
            On::Udp,
            &[Lead::start(&[0xe4]).len_min(2)],
            kad,
        ),
    ],
};

fn hello(look: &Look<'_>) -> Option<Answer> {
    let len = look.le32(1)?;
    let [code, next] = look.array(5)?;
    if !matches!(code, 1 | 0x4c) || !(30..2048).contains(&len) {
        return Some(Answer::No);
    }
    // Hash, identifier, port, how many tags. To another client its length stands before the hash.
    let at = if code == 1 && next == 16 { 29 } else { 28 };
    let tags = look.le32(at)?;
    Answer::when((1..32).contains(&tags))
}

/// Version of the program, version of the protocol (1), tags.
fn information(look: &Look<'_>) -> Option<Answer> {
    let len = look.le32(1)?;
    let [code, _, version] = look.array(5)?;
    let is_one = matches!(code, 1 | 2) && version == 1 && len < 2048;
    Answer::when(is_one && (1..32).contains(&look.le32(8)?))
}

/// Kademlia: messages without content or of a fixed length; an answer's code follows a question's.
fn kad(look: &Look<'_>) -> Option<Answer> {
    let code = look.u8(1)?;
    let is_sized = match code {
        1 | 0x60 => look.len == 2,
        0x61 => look.len == 4,
        0x20 => look.len == 35,
        0x29 => look.len > 18 && look.len.wrapping_sub(19).is_multiple_of(25),
        _ => false,
    };
    let before = look.reply.get(1).copied().unwrap_or(0);
    let is_pair = look.reply.first() == Some(&0xe4) && (before ^ 1 == code || before ^ 9 == code);
    Some(match (is_sized, is_pair) {
        (true, true) => Answer::Yes,
        (true, false) => Answer::Likely,
        _ => Answer::No,
    })
}

#[cfg(test)]
mod tests {
    use crate::testing::{client, datagrams};

    const PORTS: (u16, u16) = (50_000, 50_001);

    /// A hello to another client.
    fn sent(hash: u8) -> Vec<u8> {
        let mut bytes = vec![0xe3, 60, 0, 0, 0, 1, hash];
        bytes.resize(23, 5);
        bytes.extend([1, 2, 3, 4, 0x36, 0x12, 5, 0, 0, 0]);
        bytes.resize(65, 2);
        bytes
    }

    #[test]
    fn its_first_words_tell() {
        assert_eq!(client(&sent(0x10)), Some("edonkey"));
        assert_eq!(
            datagrams(
                &[(true, &[0xe4, 0x60]), (false, &[0xe4, 0x61, 0x10, 0x12])],
                PORTS
            ),
            Some("edonkey")
        );
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(client(&sent(0x40)), Some("edonkey"));
        assert_ne!(
            datagrams(&[(true, &[0xe4, 0x60, 0])], PORTS),
            Some("edonkey")
        );
    }
}
