//! What is inside SCTP. RFC 9260 §3.3.1: data chunks carry the number of their protocol.

use crate::{Answer, Look};

/// The first data chunk's payload protocol, and where its payload begins.
///
/// `None` where it was cut off, `Some(None)` where there is none.
pub(super) fn payload(look: &Look<'_>) -> Option<Option<(u32, usize)>> {
    let mut at = 0usize;
    for _ in 0..8 {
        let Some([kind, _]) = look.array(at) else {
            return Some(None);
        };
        match kind {
            // RFC 9260 §3.3.1: length, number, stream, place, protocol.
            0 => return Some(Some((look.be32(at.checked_add(12)?)?, at.checked_add(16)?))),
            // RFC 8260 §2.1: the same with a message's number.
            0x40 => return Some(Some((look.be32(at.checked_add(16)?)?, at.checked_add(20)?))),
            _ => {}
        }
        let len = usize::from(look.be16(at.checked_add(2)?)?);
        if len < 4 {
            return Some(None);
        }
        // RFC 9260 §3.2: padded to four bytes.
        at = at.checked_add(len.checked_next_multiple_of(4)?)?;
    }
    Some(None)
}

/// Whether the first data chunk is of one of these protocols, and begins as the messages between
/// the parts of a mobile network do (S1AP, X2AP, NGAP; TS 36.413 §9.3.2 and its like, in aligned
/// PER): a kind (initiating, successful, unsuccessful), a procedure, a criticality.
pub(super) fn begins_message(look: &Look<'_>, protocols: &[u32]) -> Option<Answer> {
    let Some((protocol, at)) = payload(look)? else {
        return Some(Answer::No);
    };
    if !protocols.contains(&protocol) {
        return Some(Answer::No);
    }
    let [kind, _, criticality] = look.array(at)?;
    Answer::when(matches!(kind, 0 | 0x20 | 0x40) && matches!(criticality, 0 | 0x40 | 0x80))
}

/// What a packet of these chunks is.
#[cfg(test)]
pub(super) fn told(bytes: &[u8]) -> Option<&'static str> {
    use crate::testing::{searches, whose};
    use crate::{On, Search, Step};
    let mut searches = searches();
    let whose = whose(On::Sctp, true, (50_000, 50_001));
    let step = searches.datagram(&mut Search::default(), whose, bytes, bytes.len());
    match step {
        Step::Verdict(verdict) => crate::protocols::all()
            .nth(usize::from(verdict.protocol.0))
            .map(|protocol| protocol.name),
        _ => None,
    }
}

/// An acknowledgement, then a data chunk.
#[cfg(test)]
pub(super) fn data(protocol: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![3, 0, 0, 16, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0];
    let len = u8::try_from(16 + payload.len()).unwrap();
    bytes.extend([0, 3, 0, len, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, protocol]);
    bytes.extend(payload);
    bytes
}
