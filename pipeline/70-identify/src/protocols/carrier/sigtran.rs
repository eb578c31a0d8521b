//! Other layers of signalling over IP: M2UA, M2PA, SUA, IUA. RFC 3331, 4165, 3868, 4233.

use super::chunk::payload;
use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "sigtran",
    groups: &[Group::Management, Group::Tunnel],
    ports: &[],
    rules: &[Rule::check(
        "sigtran-chunk",
        On::Sctp,
        &[Lead::ANY.len_min(12)],
        check,
    )],
};

fn check(look: &Look<'_>) -> Option<Answer> {
    let Some((1 | 2 | 4 | 5, at)) = payload(look)? else {
        return Some(Answer::No);
    };
    let [version, spare, class, _] = look.array(at)?;
    let len = look.be32(at.checked_add(4)?)?;
    Answer::when(version == 1 && spare == 0 && class <= 11 && (8..1 << 16).contains(&len))
}

#[cfg(test)]
mod tests {
    use super::super::chunk::{data, told};

    #[test]
    fn its_first_words_tell() {
        assert_eq!(told(&data(5, &[1, 0, 11, 1, 0, 0, 0, 17])), Some("sigtran"));
    }

    /// The payload must be what its protocol number says.
    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(told(&data(5, &[1, 0, 12, 1, 0, 0, 0, 17])), Some("sigtran"));
        assert_ne!(told(&data(0, &[1, 0, 11, 1, 0, 0, 0, 17])), Some("sigtran"));
    }
}
