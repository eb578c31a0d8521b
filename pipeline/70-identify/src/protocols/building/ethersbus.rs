//! Ether-S-Bus (SAIA): length, version, type, and a checksum at the end.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "ethersbus",
    groups: &[Group::Industrial],
    ports: &[5050],
    rules: &[Rule::check(
        "ethersbus-telegram",
        On::Udp,
        &[Lead::start(&[0, 0]).masked(4, 0xfe, 0).len_min(11)],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let len = usize::try_from(look.be32(0)?).ok()?;
    let kind = look.u8(5)?;
    let attribute = look.u8(8)?;
    if len != look.len || kind != 0 || attribute > 2 {
        return Some(Answer::No);
    }
    let body = look.range(0, len.checked_sub(2)?)?;
    Answer::when(crc(body) == look.be16(len.checked_sub(2)?)?)
}

/// CRC-16 with polynomial 0x1021, from 0.
fn crc(bytes: &[u8]) -> u16 {
    let mut crc = 0u16;
    for &byte in bytes {
        crc ^= u16::from(byte) << 8;
        for _ in 0..8 {
            crc = if crc & 0x8000 == 0 {
                crc << 1
            } else {
                crc << 1 ^ 0x1021
            };
        }
    }
    crc
}

#[cfg(test)]
mod tests {
    use super::crc;
    use crate::testing::datagram;

    fn telegram() -> Vec<u8> {
        let mut bytes = vec![0, 0, 0, 13, 1, 0, 0, 1, 0, 5, 6];
        bytes.extend(crc(&bytes).to_be_bytes());
        bytes
    }

    #[test]
    fn its_checksum_tells() {
        assert_eq!(datagram(&telegram()), Some("ethersbus"));
    }

    #[test]
    fn a_near_miss_does_not() {
        let mut bytes = telegram();
        bytes[9] ^= 1;
        assert_eq!(datagram(&bytes), None);
    }
}
