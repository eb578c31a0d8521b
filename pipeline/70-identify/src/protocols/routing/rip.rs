//! RIP. RFC 2453 §4, RFC 2080 §2.1: entries of 20 bytes, their families and metrics.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "rip",
    groups: &[Group::Routing],
    ports: &[520, 521],
    rules: &[Rule::check(
        "rip-entries",
        On::Udp,
        &[
            Lead::start(&[1])
                .masked(1, 0xfc, 0)
                .and(2, &[0, 0])
                .len_min(24),
            Lead::start(&[2])
                .masked(1, 0xfc, 0)
                .and(2, &[0, 0])
                .len_min(24),
        ],
        entries,
    )],
};

fn entries(look: &Look<'_>) -> Option<Answer> {
    let version = look.u8(1)?;
    let mut cursor = look.cursor(4);
    if !cursor.left().is_multiple_of(20) || !matches!(version, 1 | 2) {
        return Some(Answer::No);
    }
    while !cursor.is_end() {
        let family = cursor.be16()?;
        let tag = cursor.be16()?;
        let middle = cursor.take(12)?;
        let metric = cursor.be32()?;
        let is_one = match (version, family) {
            // A request for the whole table.
            (_, 0) => metric == 16,
            (1, 2) => tag == 0 && middle.iter().skip(4).all(|&byte| byte == 0) && metric <= 16,
            (2, 2) => metric <= 16,
            // RFC 2453 §4.1: who sent it.
            (2, 0xffff) => matches!(tag, 2 | 3),
            _ => return ng(look),
        };
        if !is_one {
            return ng(look);
        }
    }
    Some(Answer::Yes)
}

/// RFC 2080 §2.1: a prefix, a tag, its length, a metric (255 before a next hop).
fn ng(look: &Look<'_>) -> Option<Answer> {
    let mut cursor = look.cursor(4);
    while !cursor.is_end() {
        cursor.take(18)?;
        let (len, metric) = (cursor.u8()?, cursor.u8()?);
        let is_metric = (1..=16).contains(&metric) || metric == 0xff;
        if len > 128 || !is_metric || look.u8(1)? != 1 {
            return Some(Answer::No);
        }
    }
    Some(if look.on_port(&[521]) {
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
            datagram(&[
                2, 2, 0, 0, 0, 2, 0, 0, 10, 1, 0, 0, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3
            ]),
            Some("rip")
        );
    }

    /// RFC 2453 §3.6: 16 is the highest metric.
    #[test]
    fn a_near_miss_does_not() {
        assert_ne!(
            datagram(&[
                2, 2, 0, 0, 0, 2, 0, 0, 10, 1, 0, 0, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 17
            ]),
            Some("rip")
        );
    }
}
