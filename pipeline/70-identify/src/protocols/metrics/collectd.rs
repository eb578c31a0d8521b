//! collectd's network plugin: parts of a type and a length, the first names the host.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "collectd",
    groups: &[Group::Management],
    ports: &[25826],
    rules: &[Rule::check(
        "collectd-parts",
        On::Udp,
        &[Lead::start(&[0, 0]).len_min(12)],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let mut cursor = look.cursor(2);
    let len = cursor.len16()?;
    let name = cursor.take(len.checked_sub(4)?)?;
    let (last, name) = name.split_last()?;
    let is_name = *last == 0 && !name.is_empty() && name.iter().all(|byte| byte.is_ascii_graphic());
    let next = cursor.be16()?;
    let size = cursor.be16()?;
    let is_part = matches!(next, 1..=9 | 0x100 | 0x101) && size > 4;
    Answer::when(is_name && is_part)
}

#[cfg(test)]
mod tests {
    use crate::testing::datagram;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            datagram(b"\0\0\0\x09host\0\x00\x01\0\x0c\0\0\0\0\0\0\0\0"),
            Some("collectd")
        );
    }

    /// A name ends in zero, where its part does.
    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            datagram(b"\0\0\0\x09hosts\x00\x01\0\x0c\0\0\0\0\0\0\0\0"),
            Some("collectd")
        );
    }
}
