//! S1AP. TS 36.412 §7: 18 in SCTP; TS 36.413: what a message begins with.

use super::chunk::begins_message;
use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "s1ap",
    groups: &[Group::Management, Group::Tunnel],
    ports: &[],
    rules: &[Rule::check(
        "s1ap-chunk",
        On::Sctp,
        &[Lead::ANY.len_min(12)],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    begins_message(look, &[18])
}

#[cfg(test)]
mod tests {
    use super::super::chunk::{data, told};

    #[test]
    fn its_first_words_tell() {
        assert_eq!(told(&data(18, &[0, 17, 0, 0x2d])), Some("s1ap"));
    }

    /// The payload must be what its protocol number says.
    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(told(&data(18, &[1, 17, 0, 0x2d])), Some("s1ap"));
        assert_ne!(told(&data(0, &[0, 17, 0, 0x2d])), Some("s1ap"));
    }
}
