//! AJP 1.3: a mark for each side, a length, a request that names HTTP.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "ajp",
    groups: &[Group::Web],
    ports: &[8009],
    rules: &[
        Rule::check(
            "ajp-request",
            On::Tcp,
            &[Lead::start(&[0x12, 0x34]).len_min(5)],
            request,
        ),
        Rule::check(
            "ajp-response",
            On::Tcp,
            &[Lead::start(b"AB").len_min(5)],
            response,
        ),
    ],
};

fn request(look: &Look<'_>) -> Option<Answer> {
    let len = look.be16(2)?;
    Answer::when(match look.u8(4)? {
        2 => (1..=28).contains(&look.u8(5)?) && look.be16(6)? == 8 && look.has(8, b"HTTP/1.")?,
        // Are you there?
        10 => len == 1,
        _ => false,
    })
}

fn response(look: &Look<'_>) -> Option<Answer> {
    let len = look.be16(2)?;
    Answer::when(match look.u8(4)? {
        4 => (100..600).contains(&look.be16(5)?) && look.be16(7)? < 256 && len < 8192,
        9 => len == 1,
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use crate::testing::{client, server};

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            client(b"\x12\x34\0\x40\x02\x02\0\x08HTTP/1.1\0\0\x01/"),
            Some("ajp")
        );
        assert_eq!(server(b"AB\0\x20\x04\0\xc8\0\x02OK\0"), Some("ajp"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            client(b"\x12\x34\0\x40\x02\x02\0\x08HTTQ/1.1\0\0\x01/"),
            Some("ajp")
        );
        assert_ne!(server(b"AB\0\x20\x04\x03\xc8\0\x02OK\0"), Some("ajp"));
    }
}
