//! IAX. RFC 5456 §8.1.1: a full frame that sets up, elements that fill it.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "iax2",
    groups: &[Group::Media],
    ports: &[4569],
    rules: &[Rule::check(
        "iax-frame",
        On::Udp,
        &[Lead::ANY.masked(0, 0x80, 0x80).len_min(12).far(10, 0xff, 6)],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let [sent, received, kind, command] = look.array(8)?;
    // RFC 5456 §8.4: control frames of IAX itself.
    if kind != 6 || !(1..=40).contains(&command) {
        return Some(Answer::No);
    }
    let mut cursor = look.cursor(12);
    while !cursor.is_end() {
        let element = cursor.u8()?;
        let len = cursor.len8()?;
        if !(1..=0x38).contains(&element) || len > cursor.left() {
            return Some(Answer::No);
        }
        cursor.skip(len)?;
    }
    // RFC 5456 §6.2.2: a new call comes with its version, and is the first.
    let is_new = command == 1 && sent == 0 && received == 0 && look.be32(12)? == 0x0b02_0002;
    Some(if is_new || look.on_port(&[4569]) {
        Answer::Yes
    } else {
        Answer::Likely
    })
}

#[cfg(test)]
mod tests {
    use crate::testing::datagram;

    #[test]
    fn its_first_words_tell() {
        assert_eq!(
            datagram(&[0x80, 1, 0, 0, 0, 0, 0, 3, 0, 0, 6, 1, 11, 2, 0, 2]),
            Some("iax2")
        );
    }

    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            datagram(&[0x80, 1, 0, 0, 0, 0, 0, 3, 0, 0, 6, 1, 11, 3, 0, 2]),
            Some("iax2")
        );
    }
}
