//! Network block devices: the server's magic words, the client's options.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "nbd",
    groups: &[Group::Files],
    ports: &[10809],
    rules: &[
        Rule::pattern(
            "nbd-greeting",
            On::Tcp,
            r"NBDMAGIC(IHAVEOPT|\x00\x00\x42\x02\x81\x86\x12\x53)",
        ),
        Rule::pattern("nbd-option", On::Tcp, r"\x00\x00\x00[\x00-\x03]IHAVEOPT"),
    ],
};

#[cfg(test)]
mod tests {
    use crate::testing::{client, server};

    #[test]
    fn its_first_words_tell() {
        assert_eq!(server(b"NBDMAGICIHAVEOPT\0\x03"), Some("nbd"));
        assert_eq!(client(b"\0\0\0\x03IHAVEOPT\0\0\0\x07"), Some("nbd"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(server(b"NBDMAGICIHAVENOT\0\x03"), Some("nbd"));
    }
}
