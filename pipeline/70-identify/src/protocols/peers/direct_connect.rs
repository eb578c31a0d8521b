//! Direct Connect: the lock and key of its hubs and peers, and ADC's features.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "direct-connect",
    groups: &[Group::Peers],
    ports: &[411, 412],
    rules: &[
        Rule::pattern("nmdc-lock", On::Tcp, r"\$Lock [!-~]+ Pk="),
        Rule::pattern("nmdc-name", On::Tcp, r"\$(MyNick|ValidateNick) [!-{}~]+\|"),
        Rule::pattern(
            "nmdc-supports",
            On::Tcp,
            r"\$Supports [A-Z][A-Za-z0-9]+[ |]",
        ),
        Rule::pattern("adc-support", On::Tcp, r"[CH]SUP (AD|RM)[A-Z0-9]{4}"),
        Rule::pattern("nmdc-search", On::Udp, r"\$SR [!-{}~]+ [^|]+\x05"),
    ],
};

#[cfg(test)]
mod tests {
    use crate::testing::{client, server};

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            server(b"$Lock EXTENDEDPROTOCOLABCABCABC Pk=DCPLUSPLUS0.674|"),
            Some("direct-connect")
        );
        assert_eq!(client(b"HSUP ADBASE ADTIGR\n"), Some("direct-connect"));
        assert_eq!(client(b"$MyNick someone|"), Some("direct-connect"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(client(b"$Lock step"), Some("direct-connect"));
        assert_ne!(client(b"HSUP BASE\n"), Some("direct-connect"));
    }
}
