//! Discovery of UPnP devices. UPnP device architecture §1: HTTP-like datagrams.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "ssdp",
    groups: &[Group::Naming],
    ports: &[1900],
    rules: &[
        Rule::pattern(
            "ssdp-request",
            On::Udp,
            r"(?i)(M-SEARCH|NOTIFY) \* HTTP/1\.[01]\r?\n",
        ),
        Rule::pattern("ssdp-answer", On::Udp, r"(?i)HTTP/1\.[01] 200 OK\r?\n"),
    ],
};
