//! Thrift's binary protocol, framed or not: version 1, a kind of message, a name.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "thrift",
    groups: &[Group::Messaging],
    ports: &[9090],
    rules: &[
        Rule::check(
            "thrift-framed",
            On::Tcp,
            &[Lead::at(4, &[0x80, 1, 0]).masked(7, 0xf8, 0).len_min(16)],
            framed,
        ),
        Rule::check(
            "thrift-message",
            On::Tcp,
            &[Lead::start(&[0x80, 1, 0]).masked(3, 0xf8, 0).len_min(12)],
            bare,
        ),
    ],
};

fn framed(look: &Look<'_>) -> Option<Answer> {
    if look.be32(0)? > 1 << 28 {
        return Some(Answer::No);
    }
    bare(&look.within(4))
}

fn bare(look: &Look<'_>) -> Option<Answer> {
    let len = look.be32(4)?;
    if !(1..=128).contains(&len) || !(1..=4).contains(&look.u8(3)?) {
        return Some(Answer::No);
    }
    let name = look.range(8, usize::try_from(len).ok()?)?;
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':');
    Answer::when(name.iter().all(is_letter))
}

#[cfg(test)]
mod tests {
    use crate::testing::client;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            client(b"\0\0\0\x11\x80\x01\0\x01\0\0\0\x04ping\0\0\0\0\0"),
            Some("thrift")
        );
        assert_eq!(
            client(b"\x80\x01\0\x01\0\0\0\x04ping\0\0\0\0\0"),
            Some("thrift")
        );
    }

    /// A name is letters.
    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            client(b"\0\0\0\x11\x80\x01\0\x01\0\0\0\x04p\0ng\0\0\0\0\0"),
            Some("thrift")
        );
    }
}
