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

/// A hello: its lengths agree inside each other. Waits for the whole of it, for what it tells.
fn handshake(look: &Look<'_>) -> Option<Answer> {
    let mut cursor = look.cursor(1);
    let version = cursor.be16()?;
    let record = cursor.len16()?;
    let kind = cursor.u8()?;
    let len = cursor.len24()?;
    // RFC 8446 §5.1: a record holds 2^14 bytes; older versions allowed 2^11 more.
    if !(0x0300..=0x0304).contains(&version) || !(4..=18_432).contains(&record) {
        return Some(Answer::No);
    }
    match kind {
        1 | 2 => {
            if !(38..=65_536).contains(&len) {
                return Some(Answer::No);
            }
            let inner = cursor.be16()?;
            cursor.skip(32)?;
            let session = cursor.u8()?;
            // 0x7fxx: drafts of 1.3 in a server's hello.
            let known = (0x0300..=0x0304).contains(&inner) || inner >> 8 == 0x7f;
            if !known || session > 32 {
                return Some(Answer::No);
            }
            if look.ended || look.range(9, len).is_some() {
                return Some(Answer::Yes);
            }
            None
        }
        // A certificate or a key exchange without the hello: the capture began late.
        11 | 12 | 14 | 16 | 4 if len.saturating_add(4) <= record => midway(look),
        // Encrypted: the handshake's end, if it fills the record.
        _ => midway(look),
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
