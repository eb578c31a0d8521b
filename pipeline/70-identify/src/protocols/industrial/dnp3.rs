//! DNP3. IEEE 1815 §9.2: two start bytes, a length, addresses, and a checksum over them.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "dnp3",
    groups: &[Group::Industrial],
    ports: &[20000],
    rules: &[
        Rule::check("dnp3-link-tcp", On::Tcp, &[Lead::start(&[5, 0x64])], check),
        Rule::check(
            "dnp3-link-udp",
            On::Udp,
            &[Lead::start(&[5, 0x64]).len_min(10)],
            check,
        ),
    ],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let header = look.range(0, 8)?;
    Answer::when(look.u8(2)? >= 5 && crc(header) == look.le16(8)?)
}

/// IEEE 1815 §9.2.5.5: polynomial 0x3D65, reflected, inverted.
fn crc(bytes: &[u8]) -> u16 {
    let mut crc = 0u16;
    for &byte in bytes {
        crc ^= u16::from(byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 {
                crc >> 1 ^ 0xa6bc
            } else {
                crc >> 1
            };
        }
    }
    !crc
}
