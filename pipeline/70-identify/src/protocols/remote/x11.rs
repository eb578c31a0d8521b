//! X11. Its protocol, §8: order of bytes, version 11, lengths of a name and a key.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "x11",
    groups: &[Group::Remote],
    ports: &[6000],
    rules: &[
        Rule::check(
            "x11-hello",
            On::Tcp,
            &[
                Lead::start(b"B\0\0\x0b\0\0").len_min(12),
                Lead::start(b"l\0\x0b\0\0\0").len_min(12),
            ],
            hello,
        ),
        Rule::check(
            "x11-accept",
            On::Tcp,
            &[
                Lead::start(&[1, 0, 0, 11, 0, 0]).len_min(8),
                Lead::start(&[1, 0, 11, 0, 0, 0]).len_min(8),
            ],
            accept,
        ),
    ],
};

fn hello(look: &Look<'_>) -> Option<Answer> {
    let is_high = look.u8(0)? == b'B';
    let read = |at| {
        if is_high {
            look.be16(at)
        } else {
            look.le16(at)
        }
    };
    Answer::when(read(6)? <= 64 && read(8)? <= 512 && read(10)? == 0)
}

fn accept(look: &Look<'_>) -> Option<Answer> {
    let is_high = look.u8(2)? == 0;
    let words = if is_high {
        look.be16(6)?
    } else {
        look.le16(6)?
    };
    Answer::when((8..16_384).contains(&words))
}

#[cfg(test)]
mod tests {
    use crate::testing::{client, server};

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            client(b"l\0\x0b\0\0\0\x12\0\x10\0\0\0MIT-MAGIC-COOKIE-1"),
            Some("x11")
        );
        assert_eq!(server(&[1, 0, 0, 11, 0, 0, 0, 60]), Some("x11"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            client(b"l\0\x0b\0\0\0\x12\0\x10\0\x01\0MIT-MAGIC-COOKIE-1"),
            Some("x11")
        );
        assert_ne!(server(&[1, 0, 0, 12, 0, 0, 0, 60]), Some("x11"));
    }
}
