//! Bidirectional forwarding detection. RFC 5880 §4.1: version 1, a length that fits, states.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "bfd",
    groups: &[Group::Routing],
    ports: &[3784, 3785, 4784],
    rules: &[Rule::check(
        "bfd-control",
        On::Udp,
        &[Lead::ANY.masked(0, 0xe0, 0x20).masked(1, 1, 0).len_min(24)],
        control,
    )],
};

fn control(look: &Look<'_>) -> Option<Answer> {
    let [first, flags, multiplier, len] = look.array(0)?;
    // RFC 5880 §6.8.6: what a receiver must discard; §4.2 to §4.4: a key's kind and its length.
    let is_sized = if flags & 4 == 0 {
        len == 24
    } else {
        (1..=5).contains(&look.u8(24)?) && look.u8(25)?.checked_add(24) == Some(len)
    };
    let is_sized = is_sized && usize::from(len) == look.len;
    let is_one = is_sized && first & 0x1f < 9 && multiplier != 0 && look.be32(4)? != 0;
    // Intervals in microseconds: below ten minutes.
    let is_timed = (1..600_000_000).contains(&look.be32(12)?) && look.be32(16)? < 600_000_000;
    Answer::when(is_one && is_timed && look.be32(20)? < 600_000_000)
}

#[cfg(test)]
mod tests {
    use crate::testing::{datagram, datagrams};

    const CONTROL: &[u8] = &[
        0x20, 0xc0, 3, 24, 0, 0, 0, 1, 0, 0, 0, 2, 0, 15, 66, 64, 0, 15, 66, 64, 0, 0, 0, 0,
    ];

    #[test]
    fn its_first_words_tell() {
        assert_eq!(datagram(CONTROL), Some("bfd"));
    }

    /// A session has a length of its own and a multiplier.
    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(datagram(&CONTROL[..23]), Some("bfd"));
        assert_ne!(
            datagrams(
                &[(
                    true,
                    &[
                        0x20, 0xc0, 0, 24, 0, 0, 0, 1, 0, 0, 0, 2, 0, 15, 66, 64, 0, 15, 66, 64, 0,
                        0, 0, 0
                    ]
                )],
                (50_000, 3784)
            ),
            Some("bfd")
        );
    }
}
