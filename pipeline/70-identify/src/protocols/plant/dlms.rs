//! DLMS over IP. IEC 62056-47: version 1, two addresses, a length that fits.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "dlms",
    groups: &[Group::Industrial],
    ports: &[4059],
    rules: &[
        Rule::check(
            "dlms-wrapper",
            On::Tcp,
            &[Lead::start(&[0, 1, 0]).masked(4, 0xff, 0).len_min(10)],
            check,
        ),
        Rule::check(
            "dlms-wrapper-udp",
            On::Udp,
            &[Lead::start(&[0, 1, 0]).masked(4, 0xff, 0).len_min(10)],
            check,
        ),
    ],
};

/// An association (0x60, 0x61) has a length of its own; requests and answers follow later.
fn check(look: &Look<'_>) -> Option<Answer> {
    let len = look.be16(6)?;
    let [tag, inner] = look.array(8)?;
    let is_inside = u16::from(inner).checked_add(2) == Some(len) && inner < 128;
    let is_service = matches!(tag, 0xc0..=0xc7) && matches!(inner, 1..=3) && len < 2048;
    Some(match tag {
        0x60 | 0x61 if is_inside => Answer::Yes,
        _ if is_service && look.on_port(&[4059]) => Answer::Yes,
        _ => Answer::No,
    })
}

#[cfg(test)]
mod tests {
    use crate::testing::client;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            client(&[0, 1, 0, 16, 0, 1, 0, 4, 0x60, 2, 0xa1, 0]),
            Some("dlms")
        );
    }

    /// The two lengths agree.
    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            client(&[0, 1, 0, 16, 0, 1, 0, 5, 0x60, 2, 0xa1, 0]),
            Some("dlms")
        );
    }
}
