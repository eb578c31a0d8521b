//! Setting up calls. RFC 3261 §7: requests and status lines; RFC 5626 §3.5.1: empty lines before
//! them keep a connection alive.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "sip",
    groups: &[Group::Media],
    ports: &[5060, 5061],
    rules: &[
        Rule::pattern("sip-udp", On::Udp, LINE),
        Rule::pattern("sip-tcp", On::Tcp, LINE),
    ],
};

const LINE: &str = concat!(
    r"(\r?\n)*(SIP/2\.0 [1-6][0-9][0-9] |(INVITE|ACK|BYE|CANCEL|REGISTER|OPTIONS|SUBSCRIBE",
    r"|NOTIFY|REFER|MESSAGE|INFO|PRACK|UPDATE|PUBLISH|SERVICE) (sips?|tel|SIP):)",
);

#[cfg(test)]
mod tests {
    use crate::testing::{client, datagram, server, stream};

    const REQUEST: &[u8] = b"OPTIONS sip:a@b SIP/2.0\r\n";
    const ANSWER: &[u8] = b"SIP/2.0 200 OK\r\n";

    /// RFC 5626 §3.5.1: either side may begin with empty lines, as many as there were pings.
    #[test]
    fn empty_lines_may_come_first() {
        for empty in [b"\r\n".as_slice(), b"\n", &b"\r\n\r\n".repeat(200)] {
            let (asked, answered) = ([empty, REQUEST].concat(), [empty, ANSWER].concat());
            assert_eq!(client(&asked), Some("sip"));
            assert_eq!(server(&answered), Some("sip"));
            assert_eq!(datagram(&asked), Some("sip"));
            let turns = [(true, empty), (false, b"\r\n"), (true, REQUEST)];
            assert_eq!(stream(&turns, (50_000, 50_001)), Some("sip"));
        }
        assert_eq!(client(b"\r\nOPTIONS a SIP/2.0\r\n"), None);
        assert_eq!(client(b"\r\n\r\n"), None);
    }
}
