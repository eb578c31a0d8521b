//! AIM and ICQ: OSCAR's frames (FLAP): a mark, a channel, a number, a length.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "aim",
    groups: &[Group::Chat],
    ports: &[5190],
    rules: &[
        Rule::check("flap-hello", On::Tcp, HELLO, hello),
        Rule::check("flap-frames", On::Tcp, FRAMES, frames),
        Rule::pattern("flap-on", On::Tcp, r"FLAPON\r\n\r\n"),
    ],
};

/// The first frame of either side, on the channel that begins a connection.
const HELLO: &[Lead] = &[Lead::start(&[0x2a, 1]).and(6, &[0, 0]).len_min(10)];
/// Data, errors, the end, keep-alives: the capture began late.
const FRAMES: &[Lead] = &[
    Lead::start(&[0x2a, 2]).len_min(12),
    Lead::start(&[0x2a, 5]).len_min(12),
];

/// It says the version, which is 1, and perhaps who comes: that does not fill a large frame.
fn hello(look: &Look<'_>) -> Option<Answer> {
    let len = look.be16(4)?;
    Answer::when(look.be32(6)? == 1 && (4..=2048).contains(&len))
}

/// A frame that ends where the next one of the same side begins, with the next number.
fn frames(look: &Look<'_>) -> Option<Answer> {
    let next = usize::from(look.be16(4)?).checked_add(6)?;
    if next.saturating_add(6) > crate::STREAM_BYTES_MAX {
        return Some(Answer::No);
    }
    let [mark, channel] = look.array(next)?;
    let number = look.be16(2)?.wrapping_add(1);
    Answer::when(
        mark == 0x2a && matches!(channel, 1..=5) && look.be16(next.checked_add(2)?)? == number,
    )
}

#[cfg(test)]
mod tests {
    use crate::testing::{client, server};

    #[test]
    fn its_first_words_tell() {
        assert_eq!(client(b"*\x01\x3a\xd0\0\x04\0\0\0\x01"), Some("aim"));
        assert_eq!(server(b"*\x01\0\x01\0\x04\0\0\0\x01*\x02"), Some("aim"));
        let two = b"*\x02\x12\x34\0\x0a\0\x01\0\x02\0\0\0\0\0\x02*\x02\x12\x35\0\x02ab";
        assert_eq!(client(two), Some("aim"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_eq!(client(b"*\x01\x3a\xd0\0\x04\0\0\0\x02"), None);
        assert_eq!(client(b"*\x01\x3a\xd0\0\x03\0\0\0\x01"), None);
        let two = b"*\x02\x12\x34\0\x0a\0\x01\0\x02\0\0\0\0\0\x02*\x02\x12\x34\0\x02ab";
        assert_eq!(client(two), None);
    }
}
