//! WS-Discovery. Its §2.4: SOAP in a datagram, in the name space of discovery.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "ws-discovery",
    groups: &[Group::Naming],
    ports: &[3702],
    rules: &[Rule::check(
        "ws-discovery-soap",
        On::Udp,
        &[Lead::start(b"<")],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let is_there = |name: &[u8]| look.bytes.windows(name.len()).any(|part| part == name);
    Answer::when(is_there(b"/ws/2005/04/discovery") || is_there(b"/ws-dd/ns/discovery/2009/01"))
}

#[cfg(test)]
mod tests {
    use crate::testing::datagram;

    fn probe(space: &str) -> Option<&'static str> {
        let space = format!("http://schemas.xmlsoap.org/ws/{space}");
        datagram(format!("<?xml version=\"1.0\"?><e:Envelope xmlns:d=\"{space}\">").as_bytes())
    }

    #[test]
    fn the_name_space_tells() {
        assert_eq!(probe("2005/04/discovery"), Some("ws-discovery"));
    }

    #[test]
    fn another_name_space_does_not() {
        assert_ne!(probe("2004/08/addressing"), Some("ws-discovery"));
    }
}
