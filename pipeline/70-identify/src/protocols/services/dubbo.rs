//! Dubbo: two bytes of magic, flags, a status, a length.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "dubbo",
    groups: &[Group::Messaging],
    ports: &[20880],
    rules: &[Rule::check(
        "dubbo-header",
        On::Tcp,
        &[Lead::start(&[0xda, 0xbb]).len_min(16)],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let [flags, status] = look.array(2)?;
    let is_request = flags & 0x80 != 0;
    let is_status = if is_request {
        status == 0
    } else {
        matches!(status, 20 | 30..=100)
    };
    Answer::when(is_status && flags & 0x1f != 0 && look.be32(12)? <= 8 << 20)
}

#[cfg(test)]
mod tests {
    use crate::testing::client;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            client(b"\xda\xbb\xc2\0\0\0\0\0\0\0\0\x01\0\0\0\x40\x052.0.2"),
            Some("dubbo")
        );
    }

    /// A request has no status.
    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            client(b"\xda\xbb\xc2\x07\0\0\0\0\0\0\0\x01\0\0\0\x40\x052.0.2"),
            Some("dubbo")
        );
    }
}
