//! SSTP. MS-SSTP §3.2.4.1: the request by which the tunnel opens.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "sstp",
    groups: &[Group::Tunnel],
    ports: &[443],
    rules: &[Rule::pattern(
        "sstp-request",
        On::Tcp,
        r"SSTP_DUPLEX_POST /",
    )],
};

#[cfg(test)]
mod tests {
    use crate::testing::client;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            client(b"SSTP_DUPLEX_POST /sra_{BA195980-CD49-458b-9E23-C84EE0ADCD75}/ HTTP/1.1\r\n"),
            Some("sstp")
        );
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(client(b"SSTP_SIMPLEX_POST / HTTP/1.1\r\n"), Some("sstp"));
    }
}
