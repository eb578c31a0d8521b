//! X2AP. TS 36.422 §7: 27 in SCTP; TS 36.423: what a message begins with.

use super::chunk::begins_message;
use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "x2ap",
    groups: &[Group::Management, Group::Tunnel],
    ports: &[],
    rules: &[Rule::check(
        "x2ap-chunk",
        On::Sctp,
        &[Lead::ANY.len_min(12)],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    begins_message(look, &[27])
}

#[cfg(test)]
mod tests {
    use super::super::chunk::{data, told};

    #[test]
    fn its_first_words_tell() {
        assert_eq!(told(&data(27, &[0x20, 6, 0, 0x2d])), Some("x2ap"));
    }

    /// The payload must be what its protocol number says.
    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(told(&data(27, &[0x20, 6, 1, 0x2d])), Some("x2ap"));
        assert_ne!(told(&data(0, &[0x20, 6, 0, 0x2d])), Some("x2ap"));
    }
}
