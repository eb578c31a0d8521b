//! OLSR. RFC 3626 §3.3: a packet's length, messages that fill it.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "olsr",
    groups: &[Group::Routing],
    ports: &[698],
    rules: &[Rule::check(
        "olsr-messages",
        On::Udp,
        &[Lead::ANY.masked(0, 0xf8, 0).len_min(16)],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    if look.len16_at(0)? != look.len {
        return Some(Answer::No);
    }
    let mut at = 4usize;
    let mut count = 0u8;
    while at < look.len {
        let kind = look.u8(at)?;
        let size = look.len16_at(at.checked_add(2)?)?;
        let [left, hops] = look.array(at.checked_add(8)?)?;
        // The standard's four, and what its programs add.
        let is_kind = matches!(kind, 1..=5 | 128..=137 | 200..=203);
        if !is_kind || size < 12 || (left, hops) == (0, 0) {
            return Some(Answer::No);
        }
        at = at.checked_add(size)?;
        count = count.saturating_add(1);
    }
    let is_enough = count > 1 || look.on_port(&[698]);
    Some(match (at == look.len, is_enough) {
        (true, true) => Answer::Yes,
        (true, false) => Answer::Likely,
        _ => Answer::No,
    })
}

#[cfg(test)]
mod tests {
    use crate::testing::datagrams;

    const HELLO: [u8; 24] = [
        0, 24, 0, 7, 1, 0x86, 0, 20, 10, 0, 0, 1, 1, 0, 0, 9, 0, 0, 5, 3, 0, 0, 0, 0,
    ];

    #[test]
    fn its_first_words_tell() {
        assert_eq!(datagrams(&[(true, &HELLO)], (698, 698)), Some("olsr"));
    }

    /// The messages fill the packet.
    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(datagrams(&[(true, &HELLO[..23])], (698, 698)), Some("olsr"));
    }
}
