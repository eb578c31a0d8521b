//! Keys for IPsec. RFC 7296 §3.1, RFC 2408 §3.1: identifiers, version, length.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "ike",
    groups: &[Group::Tunnel, Group::Encrypted],
    ports: &[500, 4500],
    rules: &[Rule::check("ike-header", On::Udp, LEADS, check)],
};

/// The version, which behind four zero bytes (RFC 3948 §2.2) lies further on.
const LEADS: &[Lead] = &[
    Lead::ANY.len_min(28).far(17, 0xff, 0x10),
    Lead::ANY.len_min(28).far(17, 0xff, 0x20),
    Lead::start(&[0; 4]).len_min(28).far(21, 0xff, 0x10),
    Lead::start(&[0; 4]).len_min(28).far(21, 0xff, 0x20),
];

fn check(look: &Look<'_>) -> Option<Answer> {
    // RFC 3948 §2.2: on port 4500 four zero bytes come first.
    let at = if look.be32(0)? == 0 { 4 } else { 0 };
    let mut cursor = look.cursor(at);
    let is_set = cursor.take(8)?.iter().any(|&byte| byte != 0);
    cursor.skip(8)?;
    let payload = cursor.u8()?;
    let version = cursor.u8()?;
    let exchange = cursor.u8()?;
    let flags = cursor.u8()?;
    cursor.skip(4)?;
    let len = cursor.len32()?;
    let is_known = match version {
        0x10 => matches!(exchange, 1..=6 | 32 | 33) && payload <= 20 && flags < 8,
        0x20 => matches!(exchange, 34..=39) && matches!(payload, 0 | 33..=54) && flags & 0xc7 == 0,
        _ => false,
    };
    Answer::when(is_set && is_known && len == look.len.saturating_sub(at) && len >= 28)
}
