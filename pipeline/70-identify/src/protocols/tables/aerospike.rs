//! Aerospike: version 2, one of three kinds, a length of six bytes.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "aerospike",
    groups: &[Group::Database],
    ports: &[3000],
    rules: &[Rule::check(
        "aerospike-header",
        On::Tcp,
        &[Lead::start(&[2])
            .masked(1, 0xfc, 0)
            .and(2, &[0, 0, 0])
            .len_min(11)],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let first = look.array::<3>(8)?;
    let len = look.be24(5)?;
    Answer::when(match look.u8(1)? {
        // Names of what is asked for, one a line.
        1 => {
            let is_text = first
                .iter()
                .all(|&byte| byte.is_ascii_lowercase() || byte == b'\n');
            is_text && (2..1 << 16).contains(&len)
        }
        // A message has a header of 22 bytes; so have logins, of 16, with zeros in front.
        2 => len >= 16 && first[0] == 0 && first[1] == 0 && matches!(first[2], 0 | 1 | 0x14),
        3 => first[0] == 22 && len >= 22 && first[1] & 0xc0 != 0xc0,
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use crate::testing::client;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            client(b"\x02\x03\0\0\0\0\0\x18\x16\x01\0\0\0"),
            Some("aerospike")
        );
        assert_eq!(client(b"\x02\x01\0\0\0\0\0\x05node\n"), Some("aerospike"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            client(b"\x02\x03\0\0\0\0\0\x18\x17\x01\0\0\0"),
            Some("aerospike")
        );
    }
}
