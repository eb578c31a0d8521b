//! M-Bus over IP. EN 13757-2: a long frame, its length twice, a sum at the end.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "m-bus",
    groups: &[Group::Industrial, Group::Things],
    ports: &[],
    rules: &[
        Rule::check(
            "m-bus-frame",
            On::Tcp,
            &[Lead::start(&[0x68]).and(3, &[0x68]).len_min(9)],
            check,
        ),
        Rule::check(
            "m-bus-frame-udp",
            On::Udp,
            &[Lead::start(&[0x68]).and(3, &[0x68]).len_min(9)],
            check,
        ),
    ],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let [len, again] = look.array(1)?;
    let content = usize::from(len);
    if len != again || len < 3 {
        return Some(Answer::No);
    }
    let all = look.range(4, content)?;
    let [sum, stop] = look.array(content.checked_add(4)?)?;
    let is_sum = all.iter().fold(0u8, |sum, &byte| sum.wrapping_add(byte)) == sum;
    Answer::when(is_sum && stop == 0x16)
}

#[cfg(test)]
mod tests {
    use crate::testing::{client, datagram};

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            datagram(&[0x68, 3, 3, 0x68, 0x53, 0xfe, 0x50, 0xa1, 0x16]),
            Some("m-bus")
        );
        assert_eq!(
            client(&[0x68, 3, 3, 0x68, 0x53, 0xfe, 0x50, 0xa1, 0x16]),
            Some("m-bus")
        );
    }

    /// The sum must agree.
    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            datagram(&[0x68, 3, 3, 0x68, 0x53, 0xfe, 0x50, 0xa2, 0x16]),
            Some("m-bus")
        );
    }
}
