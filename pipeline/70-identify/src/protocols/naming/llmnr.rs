//! Link-local name resolution. RFC 4795 §2.1: messages of DNS on port 5355.

use super::{dns, message};
use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "llmnr",
    groups: &[Group::Naming],
    ports: &[5355],
    rules: &[
        Rule::check(
            "llmnr-message",
            On::Udp,
            &[Lead::at(4, &[0]).len_min(12).on_ports(&[5355])],
            check,
        ),
        // RFC 4795 §2.4: a response that was too long is asked for again over TCP.
        Rule::check(
            "llmnr-stream",
            On::Tcp,
            &[Lead::at(6, &[0]).len_min(14).on_ports(&[5355])],
            dns::framed,
        ),
    ],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    Some(message::check(look))
}

#[cfg(test)]
mod tests {
    use crate::testing::stream;

    /// RFC 4795 §2.4: over TCP a message has its length before it, as in DNS.
    #[test]
    fn a_query_over_tcp_is_told_from_dns_by_its_port() {
        let query = b"\0\x17\x12\x34\0\0\0\x01\0\0\0\0\0\0\x05happy\0\0\x01\0\x01";
        assert_eq!(stream(&[(true, query)], (50_000, 5355)), Some("llmnr"));
        assert_eq!(stream(&[(true, query)], (50_000, 53)), Some("dns"));
    }
}
