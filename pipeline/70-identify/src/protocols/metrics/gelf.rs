//! Graylog's format: chunks with their number and how many, or JSON with a version.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "gelf",
    groups: &[Group::Management],
    ports: &[12201],
    rules: &[
        Rule::check(
            "gelf-chunk",
            On::Udp,
            &[Lead::start(&[0x1e, 0x0f]).len_min(13)],
            chunk,
        ),
        Rule::pattern(
            "gelf-message",
            On::Udp,
            r#"\{ ?"version" ?: ?"1\.[01]", ?"(host|short_message|level|timestamp)""#,
        ),
        Rule::pattern(
            "gelf-stream",
            On::Tcp,
            r#"\{ ?"version" ?: ?"1\.[01]", ?"(host|short_message|level|timestamp)""#,
        ),
    ],
};

/// An identifier (8 bytes), which part of how many: 128 at most. The first begins with its packing.
fn chunk(look: &Look<'_>) -> Option<Answer> {
    let [part, parts] = look.array(10)?;
    let is_one = part < parts && (2..=128).contains(&parts);
    let is_packed = matches!(look.be16(12)?, 0x1f8b | 0x789c | 0x7801 | 0x78da);
    Some(match (is_one, part == 0 && is_packed) {
        (true, true) => Answer::Yes,
        (true, false) => Answer::Likely,
        _ => Answer::No,
    })
}

#[cfg(test)]
mod tests {
    use crate::testing::{client, datagram};

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            datagram(b"\x1e\x0f12345678\x00\x02\x1f\x8b\x08"),
            Some("gelf")
        );
        assert_eq!(
            client(b"{\"version\":\"1.1\",\"host\":\"a\"}\0"),
            Some("gelf")
        );
    }

    /// A part has a number below their count.
    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            datagram(b"\x1e\x0f12345678\x02\x02\x1f\x8b\x08"),
            Some("gelf")
        );
    }
}
