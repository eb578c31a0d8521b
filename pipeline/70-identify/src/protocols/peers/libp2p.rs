//! libp2p: the first line of multistream, with its length.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "libp2p",
    groups: &[Group::Peers],
    ports: &[4001],
    rules: &[Rule::pattern(
        "multistream",
        On::Tcp,
        r"\x13/multistream/1\.0\.0\n",
    )],
};

#[cfg(test)]
mod tests {
    use crate::testing::client;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            client(b"\x13/multistream/1.0.0\n\x07/noise\n"),
            Some("libp2p")
        );
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(client(b"\x14/multistream/1.0.0\n"), Some("libp2p"));
    }
}
