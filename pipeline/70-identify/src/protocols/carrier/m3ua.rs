//! M3UA. RFC 4666 §1.3.1, §3.1: its number in SCTP, version 1, a class, a length.

use super::chunk::payload;
use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "m3ua",
    groups: &[Group::Management, Group::Tunnel],
    ports: &[],
    rules: &[Rule::check(
        "m3ua-chunk",
        On::Sctp,
        &[Lead::ANY.len_min(12)],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let Some((3, at)) = payload(look)? else {
        return Some(Answer::No);
    };
    let [version, spare, class, _] = look.array(at)?;
    let len = look.be32(at.checked_add(4)?)?;
    Answer::when(version == 1 && spare == 0 && class <= 9 && (8..1 << 16).contains(&len))
}

#[cfg(test)]
mod tests {
    use super::super::chunk::{data, told};

    #[test]
    fn its_first_words_tell() {
        assert_eq!(told(&data(3, &[1, 0, 3, 1, 0, 0, 0, 8])), Some("m3ua"));
    }

    /// The payload must be what its protocol number says.
    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(told(&data(3, &[2, 0, 3, 1, 0, 0, 0, 8])), Some("m3ua"));
        assert_ne!(told(&data(0, &[1, 0, 3, 1, 0, 0, 0, 8])), Some("m3ua"));
    }
}
