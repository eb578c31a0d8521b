//! Gnutella 0.6: CONNECT, and GUESS over UDP.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "gnutella",
    groups: &[Group::Peers],
    ports: &[6346],
    rules: &[
        Rule::pattern(
            "gnutella-connect",
            On::Tcp,
            r"GNUTELLA(/0\.[46]| CONNECT/0\.[46]| PONG|)",
        ),
        Rule::pattern(
            "gnutella-get",
            On::Tcp,
            r"GET /(uri-res/N2R\?urn:sha1:|get/[0-9]+/)",
        ),
        Rule::pattern("gnutella-guess", On::Udp, r"GND[\x00-\x03]"),
    ],
};
