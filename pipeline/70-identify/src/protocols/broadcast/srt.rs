//! SRT and UDT: a handshake of 64 bytes, its version and kind.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "srt",
    groups: &[Group::Media],
    ports: &[],
    rules: &[Rule::check(
        "srt-handshake",
        On::Udp,
        &[Lead::start(&[0x80, 0, 0, 0, 0, 0, 0, 0]).len_min(64)],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let version = look.be32(16)?;
    let kind = look.be32(36)?;
    // Induction, waving, agreement, conclusion.
    let is_kind = matches!(kind, 0 | 1 | 0xffff_fffd..=0xffff_ffff);
    let is_sized = (64..=1500).contains(&look.be32(28)?);
    Answer::when(matches!(version, 4 | 5) && is_kind && is_sized)
}

#[cfg(test)]
mod tests {
    use crate::testing::datagram;

    fn hello(version: u8) -> Vec<u8> {
        let mut bytes = vec![0x80];
        bytes.resize(16, 0);
        bytes.extend([
            0, 0, 0, version, 0, 0, 0, 2, 1, 2, 3, 4, 0, 0, 5, 0xdc, 0, 0, 0x20, 0, 0, 0,
        ]);
        bytes.extend([0, 1]);
        bytes.resize(64, 0);
        bytes
    }

    #[test]
    fn its_first_words_tell() {
        assert_eq!(datagram(&hello(4)), Some("srt"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(datagram(&hello(6)), Some("srt"));
    }
}
