//! Telnet. RFC 854: negotiation of options in sequences of three bytes.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "telnet",
    groups: &[Group::Remote],
    ports: &[23],
    rules: &[Rule::check(
        "telnet-options",
        On::Tcp,
        &[Lead::start(&[0xff]).masked(1, 0xf8, 0xf8)],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let mut at = 0usize;
    for count in 0..3u8 {
        let Some([escape, verb, option]) = look.array::<3>(at) else {
            let is_enough = count >= 2 || (count == 1 && look.on_port(&[23]));
            return if look.ended {
                Answer::when(is_enough)
            } else {
                None
            };
        };
        // RFC 854: WILL, WONT, DO, DONT; a text may follow after some.
        if escape != 0xff || !(0xfb..=0xfe).contains(&verb) || (option > 50 && option != 255) {
            return Answer::when(count >= 2);
        }
        at = at.checked_add(3)?;
    }
    Some(Answer::Yes)
}
