//! Who opened a connection. RFC 1413 §3: two ports, and the answer to them.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "ident",
    groups: &[Group::Naming, Group::Access],
    ports: &[113],
    rules: &[
        Rule::pattern(
            "ident-answer",
            On::Tcp,
            r"[0-9]{1,5} ?, ?[0-9]{1,5} ?: ?(USERID|ERROR) ?: ?",
        ),
        Rule::check(
            "ident-question",
            On::Tcp,
            &[Lead::ANY.masked(0, 0xf0, 0x30).len_min(5).on_ports(&[113])],
            question,
        ),
    ],
};

fn question(look: &Look<'_>) -> Option<Answer> {
    for (count, byte) in look.bytes.iter().take(16).enumerate() {
        match byte {
            b'0'..=b'9' | b',' | b' ' | b'\r' => {}
            b'\n' => return Answer::when(count >= 4),
            _ => return Some(Answer::No),
        }
    }
    if look.bytes.len() < 16 {
        None
    } else {
        Some(Answer::No)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{server, stream};

    #[test]
    fn its_first_words_tell() {
        assert_eq!(server(b"6193, 23 : USERID : UNIX : me\r\n"), Some("ident"));
        assert_eq!(
            stream(&[(true, b"6193, 23\r\n")], (50_000, 113)),
            Some("ident")
        );
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(server(b"6193, 23 : USER : UNIX\r\n"), Some("ident"));
        assert_ne!(
            stream(&[(true, b"6193, 23\r\n")], (50_000, 114)),
            Some("ident")
        );
    }
}
