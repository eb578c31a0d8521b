//! PROFINET's context manager: DCE RPC, and one of its own interfaces.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "profinet",
    groups: &[Group::Industrial],
    ports: &[34964],
    rules: &[Rule::check(
        "profinet-interface",
        On::Udp,
        &[Lead::start(&[4]).masked(1, 0xf0, 0).len_min(80)],
        check,
    )
    .ranked(50)],
};

/// An interface's identifier at 24, in either order of bytes: device, controller, supervisor,
/// server.
fn check(look: &Look<'_>) -> Option<Answer> {
    let first = look.array::<8>(24)?;
    let rest = look.array::<8>(32)?;
    let is_little = look.u8(4)? & 0x10 != 0;
    let place = if is_little {
        let [which, 0, 0xa0, 0xde, 0x97, 0x6c, 0xd1, 0x11] = first else {
            return Some(Answer::No);
        };
        which
    } else {
        let [0xde, 0xa0, 0, which, 0x6c, 0x97, 0x11, 0xd1] = first else {
            return Some(Answer::No);
        };
        which
    };
    let is_rest = rest == [0x82, 0x71, 0, 0xa0, 0x24, 0x42, 0xdf, 0x7d];
    Answer::when(is_rest && (1..=4).contains(&place))
}

#[cfg(test)]
mod tests {
    use crate::testing::datagram;

    fn call(byte: u8) -> Vec<u8> {
        let mut bytes = vec![4, 0, 0x20, 0, 0x10, 0, 0, 0];
        bytes.resize(24, 1);
        bytes.extend([1, 0, 0xa0, 0xde, 0x97, byte, 0xd1, 0x11]);
        bytes.extend([0x82, 0x71, 0, 0xa0, 0x24, 0x42, 0xdf, 0x7d]);
        bytes.resize(80, 0);
        bytes
    }

    #[test]
    fn its_first_words_tell() {
        assert_eq!(datagram(&call(0x6c)), Some("profinet"));
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(datagram(&call(0x6d)), Some("profinet"));
    }
}
