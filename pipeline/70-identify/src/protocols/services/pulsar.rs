//! Pulsar: a length within a length, and a command that connects.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "pulsar",
    groups: &[Group::Messaging],
    ports: &[6650],
    rules: &[Rule::check(
        "pulsar-connect",
        On::Tcp,
        &[Lead::at(4, &[0, 0]).len_min(12)],
        check,
    )],
};

/// In Protocol Buffers: the command's type (2 or 3), then the field of that number.
fn check(look: &Look<'_>) -> Option<Answer> {
    let [tag, kind, field, _] = look.array(8)?;
    let is_sized = look.be32(4)?.checked_add(4)? == look.be32(0)?;
    Answer::when(is_sized && tag == 8 && matches!((kind, field), (2, 0x12) | (3, 0x1a)))
}

#[cfg(test)]
mod tests {
    use crate::testing::client;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            client(b"\0\0\0\x15\0\0\0\x11\x08\x02\x12\x0d\x0a\x062.10.1\x20\x0a\0"),
            Some("pulsar")
        );
    }

    /// The lengths differ by four.
    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            client(b"\0\0\0\x15\0\0\0\x12\x08\x02\x12\x0d\x0a\x062.10.1\x20\x0a\0"),
            Some("pulsar")
        );
    }
}
