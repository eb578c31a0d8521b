//! Addresses for hosts. RFC 2131 §2: 236 bytes, then the magic cookie.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "dhcp",
    groups: &[Group::Naming],
    ports: &[67, 68],
    rules: &[Rule::check(
        "dhcp-cookie",
        On::Udp,
        &[
            Lead::start(&[1]).len_min(240),
            Lead::start(&[2]).len_min(240),
        ],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    Answer::when(look.u8(2)? <= 16 && look.be32(236)? == 0x6382_5363)
}

#[cfg(test)]
mod tests {
    use crate::testing::datagram;

    fn discover() -> Vec<u8> {
        let mut bytes = vec![1, 1, 6, 0, 9, 9, 9, 9];
        bytes.resize(236, 0);
        bytes.extend([0x63, 0x82, 0x53, 0x63, 53, 1, 1, 255]);
        bytes
    }

    #[test]
    fn the_cookie_tells() {
        assert_eq!(datagram(&discover()), Some("dhcp"));
    }

    #[test]
    fn a_near_miss_does_not() {
        let mut bytes = discover();
        bytes[239] = 0x64;
        assert_eq!(datagram(&bytes), None);
    }
}
