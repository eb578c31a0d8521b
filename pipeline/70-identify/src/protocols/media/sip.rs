//! Setting up calls. RFC 3261 §7: requests and status lines.

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
    r"(SIP/2\.0 [1-6][0-9][0-9] |(INVITE|ACK|BYE|CANCEL|REGISTER|OPTIONS|SUBSCRIBE",
    r"|NOTIFY|REFER|MESSAGE|INFO|PRACK|UPDATE|PUBLISH|SERVICE) (sips?|tel|SIP):)",
);
