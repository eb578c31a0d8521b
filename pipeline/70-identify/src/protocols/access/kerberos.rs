//! Kerberos. RFC 4120 §5.4: an application tag, a sequence, and version 5 inside.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "kerberos",
    groups: &[Group::Access],
    ports: &[88],
    rules: &[
        Rule::check(
            "kerberos-udp",
            On::Udp,
            &[Lead::masked(Lead::ANY, 0, 0xe0, 0x60).len_min(12)],
            datagram,
        ),
        Rule::check(
            "kerberos-tcp",
            On::Tcp,
            &[Lead::start(&[0, 0]).masked(4, 0xe0, 0x60)],
            stream,
        ),
    ],
};

fn datagram(look: &Look<'_>) -> Option<Answer> {
    message(look, 0)
}

/// RFC 4120 §7.2.2: over TCP a length of four bytes.
fn stream(look: &Look<'_>) -> Option<Answer> {
    message(look, 4)
}

fn message(look: &Look<'_>, at: usize) -> Option<Answer> {
    let mut cursor = look.cursor(at);
    let (tag, len) = cursor.ber()?;
    if !matches!(tag, 0x6a..=0x6f | 0x74..=0x76 | 0x7e) || len < 10 {
        return Some(Answer::No);
    }
    let (sequence, inner) = cursor.ber()?;
    if sequence != 0x30 || inner >= len {
        return Some(Answer::No);
    }
    // [0] or [1] INTEGER 5, [1] or [2] INTEGER of the message's type.
    let version = cursor.take(5)?;
    Answer::when(matches!(version, [0xa0 | 0xa1, 3, 2, 1, 5]))
}
