//! Transport Layer Security. RFC 8446 §5.1: records; §4: the handshake in the first of them.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "tls",
    groups: &[Group::Encrypted],
    ports: &[443, 465, 563, 636, 853, 989, 990, 992, 993, 995, 5061, 8443],
    rules: &[
        Rule::check(
            "tls-handshake",
            On::Tcp,
            &[Lead::start(&[22, 3])],
            handshake,
        ),
        Rule::check("tls-alert", On::Tcp, &[Lead::start(&[21, 3])], alert),
        Rule::check(
            "tls-midway",
            On::Tcp,
            &[Lead::start(&[23, 3]), Lead::start(&[20, 3])],
            midway,
        ),
        Rule::check(
            "ssl-2-hello",
            On::Tcp,
            &[Lead::masked(Lead::at(2, &[1]), 0, 0x80, 0x80)],
            ssl2,
        ),
    ],
};

/// Type, length, version, random and length of the session of a hello (RFC 8446 §4.1.2).
const HELLO_HEAD: usize = 4 + 2 + 32 + 1;

/// A hello: its fields agree. Waits for the whole of it, for what it tells.
fn handshake(look: &Look<'_>) -> Option<Answer> {
    let Some(message) = Beginning::of(look) else {
        return Some(Answer::No);
    };
    let [kind, high, middle, low, major, minor, rest @ ..] = message.head;
    if message.len == 0 {
        return None;
    }
    if !matches!(kind, 1 | 2) {
        // Without the hello: the capture began late. Encrypted: the handshake's end.
        return midway(look);
    }
    if message.len < 4 {
        return None;
    }
    let len = u32::from_be_bytes([0, high, middle, low]) as usize;
    if !(38..=65_536).contains(&len) {
        return Some(Answer::No);
    }
    if message.len < HELLO_HEAD {
        return None;
    }
    // 0x7fxx: drafts of 1.3 in a server's hello.
    let is_known = matches!((major, minor), (3, 0..=4) | (0x7f, _));
    let [.., session] = rest;
    if !is_known || session > 32 {
        return Some(Answer::No);
    }
    let is_whole = message.len >= len.saturating_add(4);
    (look.ended || is_whole).then_some(Answer::Yes)
}

/// What the handshake records at the beginning of a side carry.
///
/// A message may be cut over records anywhere (RFC 8446 §5.1), also inside its header: a hello in
/// records of a single byte is one that servers read. They also skip records without content, and
/// as the RFC says, do not look at the records' versions.
struct Beginning {
    /// The first bytes; zeros after `len`.
    head: [u8; HELLO_HEAD],
    /// How many bytes there are, also after `head`.
    len: usize,
}

impl Beginning {
    /// None if these are no such records, or others come before the head of a message is whole.
    fn of(look: &Look<'_>) -> Option<Self> {
        let (mut head, mut len, mut at) = ([0; HELLO_HEAD], 0usize, 0usize);
        while let Some([kind, major, _, high, low]) = look.array::<5>(at) {
            let record = usize::from(u16::from_be_bytes([high, low]));
            // A record holds 2^14 bytes; older versions allowed 2^11 more.
            if kind != 22 || major != 3 || record > 18_432 {
                return (len >= HELLO_HEAD).then_some(Self { head, len });
            }
            at = at.saturating_add(5);
            let body = look.from(at);
            let body = body.get(..record).unwrap_or(body);
            for (to, from) in head.iter_mut().skip(len).zip(body) {
                *to = *from;
            }
            len = len.saturating_add(body.len());
            at = at.saturating_add(record);
        }
        Some(Self { head, len })
    }
}

/// RFC 8446 §6: level and description.
fn alert(look: &Look<'_>) -> Option<Answer> {
    let [_, minor, high, low, level, what] = look.array(1)?;
    let _ = what;
    if minor > 4 || high != 0 {
        return Some(Answer::No);
    }
    // In clear: two bytes; encrypted: an explicit nonce and a tag around them.
    let is_clear = low == 2 && matches!(level, 1 | 2) && matches!(what, 0..=120);
    let fills = look.ended && look.bytes.len() == usize::from(low).saturating_add(5);
    Some(if is_clear || (fills && (18..=64).contains(&low)) {
        Answer::Yes
    } else if (18..=64).contains(&low) && !look.ended {
        return None;
    } else if (18..=64).contains(&low) {
        Answer::Likely
    } else {
        Answer::No
    })
}

/// Records in the middle of a connection: the second must begin where the first ends.
fn midway(look: &Look<'_>) -> Option<Answer> {
    let mut at = 0usize;
    for count in 0..2 {
        let Some([kind, major, minor, high, low]) = look.array::<5>(at) else {
            // One record that ends where the bytes end: 38 bits have agreed.
            return if look.ended {
                Answer::when(count > 0 && at == look.bytes.len())
            } else {
                None
            };
        };
        let len = usize::from(u16::from_be_bytes([high, low]));
        if !(20..=24).contains(&kind) || major != 3 || minor > 4 || len == 0 || len > 18_432 {
            return Some(Answer::No);
        }
        at = at.saturating_add(len).saturating_add(5);
        // Too far away to be seen.
        if at.saturating_add(5) > crate::STREAM_BYTES_MAX {
            return Some(Answer::Likely);
        }
    }
    Some(Answer::Yes)
}

/// RFC 5246 appendix E.2: a version 2 hello that offers version 3.
fn ssl2(look: &Look<'_>) -> Option<Answer> {
    let len = look.be16(0)? & 0x7fff;
    let version = look.be16(3)?;
    let (ciphers, session, challenge) = (look.be16(5)?, look.be16(7)?, look.be16(9)?);
    let sum = 9u32
        .saturating_add(u32::from(ciphers))
        .saturating_add(u32::from(session))
        .saturating_add(u32::from(challenge));
    let is_known = matches!(version, 2 | 0x0300..=0x0303);
    Answer::when(
        is_known
            && sum == u32::from(len)
            && ciphers > 0
            && ciphers % 3 == 0
            && matches!(session, 0 | 16)
            && (16..=32).contains(&challenge),
    )
}

#[cfg(test)]
mod tests {
    use crate::testing::{client, server};

    /// A hello without what follows its session.
    fn hello(kind: u8) -> Vec<u8> {
        let (version, random, rest) = ([3, 3], [7; 32], [0; 20]);
        let body = [&version[..], &random, &[0], &rest].concat();
        let len = u8::try_from(body.len()).unwrap();
        [&[kind, 0, 0, len][..], &body].concat()
    }

    /// `message` in records of `len` bytes.
    fn records(message: &[u8], len: usize) -> Vec<u8> {
        let each = message.chunks(len).flat_map(|part| {
            let len = u8::try_from(part.len()).unwrap();
            [&[22, 3, 1, 0, len][..], part].concat()
        });
        each.collect()
    }

    /// RFC 8446 §5.1: messages may be cut over records anywhere.
    #[test]
    fn a_hello_is_one_in_records_of_any_length() {
        for len in 1..59 {
            assert_eq!(client(&records(&hello(1), len)), Some("tls"), "{len}");
            assert_eq!(server(&records(&hello(2), len)), Some("tls"), "{len}");
        }
    }

    /// Servers skip records without content, and read any version of a record.
    #[test]
    fn records_without_content_and_versions_of_records_do_not_matter() {
        let (begin, rest) = (records(&hello(1)[..3], 3), records(&hello(1)[3..], 59));
        let other = [&[22, 3, 9][..], &rest[3..]].concat();
        let parts = [&[22, 3, 9, 0, 0][..], &begin, &[22, 3, 0, 0, 0], &other];
        assert_eq!(client(&parts.concat()), Some("tls"));
    }

    /// Records of other types do not come inside a message.
    #[test]
    fn a_near_miss_is_none() {
        let (begin, rest) = (records(&hello(1)[..3], 3), records(&hello(1)[3..], 59));
        let alert = [21, 3, 1, 0, 2, 1, 0];
        assert_eq!(client(&[&begin[..], &alert, &rest].concat()), None);
        assert_eq!(client(&records(&[1, 0, 0, 37, 3, 3, 0, 0], 2)), None);
        assert_eq!(client(&records(&hello(1)[..30], 5)), None);
    }
}
