//! Viber: a length, a mark, and a number of the message; its calls' first datagram.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "viber",
    groups: &[Group::Chat],
    ports: &[5242, 4244, 7985, 7987],
    rules: &[
        Rule::check(
            "viber-message",
            On::Tcp,
            &[Lead::ANY.and(6, &[0xfc, 0xff]).len_min(12)],
            message,
        ),
        Rule::check(
            "viber-call",
            On::Udp,
            &[
                Lead::at(2, &[1, 0, 5, 0]).len_min(34),
                Lead::at(2, &[0x19, 0]).len_min(34),
            ],
            call,
        ),
    ],
};

fn message(look: &Look<'_>) -> Option<Answer> {
    let len = look.le16(0)?;
    let [kind, flags, _, high] = look.array(8)?;
    Answer::when((12..2048).contains(&len) && (3..=5).contains(&kind) && flags == 0x80 && high == 0)
}

fn call(look: &Look<'_>) -> Option<Answer> {
    if look.le16(2)? == 0x19 {
        let is_padded = look.len == 34 && look.be16(32)? == 0;
        return Answer::likely(is_padded);
    }
    Answer::when(look.le32(24)? == 50)
}

#[cfg(test)]
mod tests {
    use crate::testing::client;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            client(&[
                24, 0, 0, 0, 0, 0, 0xfc, 0xff, 5, 0x80, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
            ]),
            Some("viber")
        );
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            client(&[
                24, 0, 0, 0, 0, 0, 0xfc, 0xff, 5, 0x81, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
            ]),
            Some("viber")
        );
    }
}
