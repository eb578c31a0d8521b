//! Omron's FINS: a header's flags, gateways, a command; four letters over TCP.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "fins",
    groups: &[Group::Industrial],
    ports: &[9600],
    rules: &[
        Rule::check(
            "fins-command",
            On::Udp,
            &[Lead::ANY
                .masked(0, 0xbe, 0x80)
                .and(1, &[0])
                .masked(2, 0xf8, 0)
                .len_min(12)],
            check,
        ),
        Rule::pattern(
            "fins-frame",
            On::Tcp,
            r"FINS\x00\x00[\x00-\x08].\x00\x00\x00[\x00-\x06]",
        ),
    ],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let gateways = look.u8(2)?;
    let is_command = matches!(
        look.be16(10)?,
        0x0101..=0x0105 | 0x0201..=0x0203 | 0x0220 | 0x0304..=0x0308 | 0x0401 | 0x0402 | 0x0403
            | 0x0501 | 0x0502 | 0x0601 | 0x0602 | 0x0620 | 0x0701 | 0x0702 | 0x0920
            | 0x2101..=0x2103 | 0x2201..=0x220f | 0x2301 | 0x2302 | 0x230a
    );
    Answer::when(is_command && matches!(gateways, 2 | 7) && look.u8(3)? < 128)
}

#[cfg(test)]
mod tests {
    use crate::testing::{client, datagram};

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            datagram(&[0x80, 0, 2, 0, 1, 0, 0, 2, 0, 7, 1, 1, 0x82, 0, 0, 0, 0, 1]),
            Some("fins")
        );
        assert_eq!(
            client(b"FINS\0\0\0\x0c\0\0\0\0\0\0\0\0\0\0\0\0"),
            Some("fins")
        );
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            datagram(&[
                0x80, 0, 2, 0, 1, 0, 0, 2, 0, 7, 1, 0x11, 0x82, 0, 0, 0, 0, 1
            ]),
            Some("fins")
        );
        assert_ne!(client(b"FINS\0\0\0\x0c\0\0\0\x09"), Some("fins"));
    }
}
