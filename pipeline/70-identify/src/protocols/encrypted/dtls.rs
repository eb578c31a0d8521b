//! DTLS. RFC 6347 §4.1, RFC 9147 §4: TLS records with epoch and sequence number, over UDP.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "dtls",
    groups: &[Group::Encrypted],
    ports: &[],
    rules: &[Rule::check("dtls-records", On::Udp, LEADS, check)],
};

/// Versions 1.0 and 1.2; 0x0100 is an early one that some still speak.
const LEADS: &[Lead] = &[
    Lead::at(1, &[0xfe, 0xff]).masked(0, 0xf0, 0x10).len_min(13),
    Lead::at(1, &[0xfe, 0xfd]).masked(0, 0xf0, 0x10).len_min(13),
    Lead::at(1, &[0x01, 0x00]).masked(0, 0xf0, 0x10).len_min(13),
];

fn check(look: &Look<'_>) -> Option<Answer> {
    let mut cursor = look.cursor(0);
    let mut count = 0u8;
    while cursor.left() > 0 && count < 8 {
        let Some(kind) = cursor.u8() else { break };
        let version = cursor.be16()?;
        let epoch = cursor.be16()?;
        let sequence = cursor.be16()?;
        cursor.skip(4)?;
        let len = cursor.len16()?;
        let is_known = matches!(version, 0xfeff | 0xfefd | 0x0100);
        if !(20..=25).contains(&kind) || !is_known || sequence != 0 || epoch > 64 {
            return Some(if count > 0 { Answer::Yes } else { Answer::No });
        }
        if len == 0 || len > cursor.left() {
            return Some(Answer::No);
        }
        cursor.skip(len)?;
        count = count.saturating_add(1);
    }
    Answer::when(count > 0)
}
