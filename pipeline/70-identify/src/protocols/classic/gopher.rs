//! Gopher. RFC 1436 §3.8: a menu's lines, in four fields.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "gopher",
    groups: &[Group::Web],
    ports: &[70],
    rules: &[Rule::pattern(
        "gopher-menu",
        On::Tcp,
        r"[0-9+ghiIsT][^\t\r\n]+\t[^\t\r\n]*\t[A-Za-z0-9.\-]+\t[0-9]{1,5}(\t\+)?\r\n",
    )],
};

#[cfg(test)]
mod tests {
    use crate::testing::server;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            server(b"1About us\t/about\ta.example\t70\r\n"),
            Some("gopher")
        );
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            server(b"1About us\t/about\ta.example\tx\r\n"),
            Some("gopher")
        );
    }
}
