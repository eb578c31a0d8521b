//! The domain name system. RFC 1035 §4.1: a header of counts, then exactly so many entries.

use super::message;
use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "dns",
    groups: &[Group::Naming],
    ports: &[53],
    rules: &[
        Rule::check("dns-datagram", On::Udp, LEADS, datagram).ranked(120),
        Rule::check("dns-stream", On::Tcp, STREAM_LEADS, stream).ranked(120),
    ],
};

/// The counts are small: their high bytes are 0, or nearly.
const LEADS: &[Lead] = &[Lead::at(4, &[0]).masked(6, 0xf8, 0).len_min(12)];
const STREAM_LEADS: &[Lead] = &[Lead::at(6, &[0]).len_min(14)];

fn datagram(look: &Look<'_>) -> Option<Answer> {
    if look.on_port(&[5353, 5355, 137]) {
        return Some(Answer::No);
    }
    let whole = message::check(look);
    if whole == Answer::No && look.on_port(&[53]) {
        // Damaged: a header with one question still stands, on its port.
        return Answer::when(message::is_header(look)?);
    }
    Some(whole)
}

fn stream(look: &Look<'_>) -> Option<Answer> {
    if look.on_port(&[5355]) {
        return Some(Answer::No);
    }
    framed(look)
}

/// RFC 1035 §4.2.2: over TCP a length of two bytes comes before the message.
pub(super) fn framed(look: &Look<'_>) -> Option<Answer> {
    let len = usize::from(look.be16(0)?);
    if len < 17 {
        return Some(Answer::No);
    }
    let whole = look.range(2, len)?;
    let inner = Look {
        bytes: whole,
        len,
        on: On::Udp,
        ..*look
    };
    Some(message::check(&inner))
}

#[cfg(test)]
mod tests {
    use crate::testing::{client, datagram, server};

    const QUERY: &[u8] = b"\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x07example\x03org\x00\
        \x00\x01\x00\x01";

    #[test]
    fn a_query_tells_over_udp_and_tcp() {
        assert_eq!(datagram(QUERY), Some("dns"));
        let mut framed = vec![0, QUERY.len() as u8];
        framed.extend(QUERY);
        assert_eq!(client(&framed), Some("dns"));
        assert_eq!(server(&framed), Some("dns"));
    }

    /// The entries must end where the datagram ends.
    #[test]
    fn a_query_with_a_byte_too_few_or_with_a_wild_count_does_not() {
        assert_eq!(datagram(&QUERY[..QUERY.len() - 1]), None);
        let mut wild = QUERY.to_vec();
        wild[5] = 3;
        assert_eq!(datagram(&wild), None);
    }
}
