//! WhatsApp's own handshakes: "WA" and two versions, "ED" before it where the edge is told.

use crate::{Group, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "whatsapp",
    groups: &[Group::Chat],
    ports: &[5222],
    rules: &[Rule::pattern(
        "whatsapp-hello",
        On::Tcp,
        r"(ED\x00\x01|WA[\x01-\x06][\x00-\x0f])",
    )],
};
