//! Diameter. RFC 6733 §3, §4.1: version 1, a command, a first element within its length.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "diameter",
    groups: &[Group::Access],
    ports: &[3868],
    rules: &[
        Rule::check(
            "diameter-message",
            On::Tcp,
            &[Lead::start(&[1]).masked(4, 0x0f, 0).len_min(28)],
            check,
        ),
        Rule::check(
            "diameter-chunk",
            On::Sctp,
            &[Lead::ANY.len_min(12)],
            chunked,
        ),
    ],
};

fn chunked(look: &Look<'_>) -> Option<Answer> {
    match super::chunk::payload(look)? {
        Some((_, at)) => check(&look.within(at)),
        None => Some(Answer::No),
    }
}

fn check(look: &Look<'_>) -> Option<Answer> {
    let [version, a, b, c] = look.array(0)?;
    let len = u32::from_be_bytes([0, a, b, c]);
    let [flags, ..] = look.array::<4>(4)?;
    let is_header = version == 1 && len >= 28 && len.is_multiple_of(4) && flags & 0x0f == 0;
    // RFC 6733 §4.1: a first element: reserved bits of its flags, its length.
    let first = look.be24(25)?;
    let is_element = look.u8(24)? & 0x1f == 0 && first >= 8 && first.checked_add(20)? <= len;
    let is_code = (1..1 << 16).contains(&look.be32(20)?);
    let command = look.be24(5)?;
    let is_command = (257..=400).contains(&command) || (0x80_0000..0x80_0200).contains(&command);
    Answer::when(is_header && is_element && is_code && is_command)
}

#[cfg(test)]
mod tests {
    use super::super::chunk::{data, told};
    use crate::testing::client;

    /// A request for capabilities that names its host and says it is so long.
    fn request(len: u8) -> Vec<u8> {
        let mut bytes = vec![
            1, 0, 0, len, 0x80, 0, 1, 1, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8,
        ];
        bytes.extend([0, 0, 1, 8, 0x40, 0, 0, 20]);
        bytes.extend(b"host.example");
        bytes
    }

    #[test]
    fn its_first_words_tell() {
        assert_eq!(client(&request(40)), Some("diameter"));
        assert_eq!(told(&data(46, &request(40))), Some("diameter"));
    }

    /// RFC 6733 §3: the length is a multiple of four.
    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(client(&request(42)), Some("diameter"));
        assert_ne!(told(&data(45, &request(42))), Some("diameter"));
    }
}
