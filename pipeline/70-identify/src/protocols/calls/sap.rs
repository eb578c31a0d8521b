//! Announcements of sessions. RFC 2974 §3: version 1, a source, SDP.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "sap",
    groups: &[Group::Media],
    ports: &[9875],
    rules: &[Rule::check(
        "sap-announcement",
        On::Udp,
        &[Lead::ANY.masked(0, 0xe2, 0x20).len_min(12)],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    // An address of 4 or 16 bytes; a signature in words of four.
    let address = if look.u8(0)? & 0x10 == 0 { 8usize } else { 20 };
    let at = usize::from(look.u8(1)?)
        .checked_mul(4)?
        .checked_add(address)?;
    let is_named = look.range(at, 16) == Some(b"application/sdp\0");
    Answer::when(is_named || matches!(look.range(at, 4)?, b"v=0\r" | b"v=0\n"))
}

#[cfg(test)]
mod tests {
    use crate::testing::datagram;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            datagram(b"\x20\0\x12\x34\x0a\0\0\x01application/sdp\0v=0\r\n"),
            Some("sap")
        );
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            datagram(b"\x20\0\x12\x34\x0a\0\0\x01application/sdr\0v=0\r\n"),
            Some("sap")
        );
    }
}
