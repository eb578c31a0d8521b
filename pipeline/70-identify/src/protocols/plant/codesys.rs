//! CODESYS 3 over TCP: a magic number, a length.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "codesys",
    groups: &[Group::Industrial],
    ports: &[11740],
    rules: &[Rule::check(
        "codesys-block",
        On::Tcp,
        &[Lead::start(&[0, 1, 0x17, 0xe8]).len_min(8)],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    Answer::when((8..1 << 16).contains(&look.le32(4)?))
}

#[cfg(test)]
mod tests {
    use crate::testing::client;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            client(&[0, 1, 0x17, 0xe8, 0x20, 0, 0, 0, 0xc5]),
            Some("codesys")
        );
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            client(&[0, 1, 0x17, 0xe8, 0x20, 0, 0, 1, 0xc5]),
            Some("codesys")
        );
    }
}
