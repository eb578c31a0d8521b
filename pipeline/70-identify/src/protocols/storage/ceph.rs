//! Ceph's messenger, versions 1 and 2: a banner.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "ceph",
    groups: &[Group::Files],
    ports: &[6789, 3300],
    rules: &[Rule::pattern("ceph-banner", On::Tcp, r"ceph v(027|2\n)")],
};

#[cfg(test)]
mod tests {
    use crate::testing::{client, server};

    #[test]
    fn its_first_words_tell() {
        assert_eq!(server(b"ceph v027\0\0"), Some("ceph"));
        assert_eq!(client(b"ceph v2\n\x10\0"), Some("ceph"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(server(b"ceph v127\0\0"), Some("ceph"));
    }
}
