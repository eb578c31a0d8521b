//! IPsec's payload behind a translator. RFC 3948 §2.2: no zero in front, numbers that count up.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "esp-udp",
    groups: &[Group::Encrypted, Group::Tunnel],
    ports: &[4500],
    rules: &[Rule::check(
        "esp-sequence",
        On::Udp,
        &[Lead::ANY.len_min(28).on_ports(&[4500])],
        check,
    )
    .ranked(150)],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let before = Look {
        bytes: look.earlier,
        ..*look
    };
    let Some(earlier) = before.be64(0) else {
        return Some(Answer::No);
    };
    // RFC 4303 §2: an index above 255, a number that grows by one or a few.
    let grown = look.be64(0)?.wrapping_sub(earlier);
    Answer::when(look.be32(0)? > 255 && (1..=64).contains(&grown) && look.be32(4)? < 1 << 24)
}

#[cfg(test)]
mod tests {
    use crate::testing::datagrams;

    fn packet(number: u8) -> Vec<u8> {
        let mut bytes = vec![0xc1, 2, 3, 4, 0, 0, 0, number];
        bytes.resize(64, number.wrapping_mul(77) | 0x80);
        bytes
    }

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            datagrams(&[(true, &packet(7)), (true, &packet(8))], (4500, 4500)),
            Some("esp-udp")
        );
    }

    /// RFC 4303 §2.2: the number grows.
    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            datagrams(&[(true, &packet(7)), (true, &packet(6))], (4500, 4500)),
            Some("esp-udp")
        );
        assert_ne!(
            datagrams(&[(true, &packet(7)), (true, &packet(8))], (4501, 4501)),
            Some("esp-udp")
        );
    }
}
