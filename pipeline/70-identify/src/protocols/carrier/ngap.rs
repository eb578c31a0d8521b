//! NGAP and its neighbours of 5G. TS 38.412, 38.422, 38.472: their numbers in SCTP.

use super::chunk::begins_message;
use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "ngap",
    groups: &[Group::Management, Group::Tunnel],
    ports: &[],
    rules: &[Rule::check(
        "ngap-chunk",
        On::Sctp,
        &[Lead::ANY.len_min(12)],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    begins_message(look, &[60, 61, 62, 64])
}

#[cfg(test)]
mod tests {
    use super::super::chunk::{data, told};

    #[test]
    fn its_first_words_tell() {
        assert_eq!(told(&data(60, &[0, 21, 0, 0x2d])), Some("ngap"));
    }

    /// The payload must be what its protocol number says.
    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(told(&data(60, &[0, 21, 0x10, 0x2d])), Some("ngap"));
        assert_ne!(told(&data(0, &[0, 21, 0, 0x2d])), Some("ngap"));
    }
}
