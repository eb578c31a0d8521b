//! Shares: packets on the way from who has read them to the process that has their connections,
//! each with its number and stream time.
//!
//! ```text
//!  number 8 │ stream time 8 │ time 8 │ length 4 │ captured 4 │ link type 2 │ frame
//! ```
//!
//! Numbers are little-endian. A share may end with a mark instead of a packet: how far the input
//! has come.

use crate::link::{link_number, link_type};
use flowpin_packet::{Frame, Timestamp};

/// A packet of a share, or the mark at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) number: u64,
    pub(crate) stream_time: Timestamp,
    /// None: a mark.
    pub(crate) frame: Option<Frame>,
}

/// Appends a packet to a share. `bytes` are those of the frame. One of a link type that is not
/// decoded has nothing to tell, and is left out.
pub fn add_to_share(
    share: &mut Vec<u8>,
    (number, stream_time): (u64, Timestamp),
    frame: &Frame,
    bytes: &[u8],
) {
    let captured_len = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    let Some(link) = link_number(frame.link).filter(|_| captured_len != MARK) else {
        return;
    };
    for word in [number, stream_time.0, frame.time.0] {
        share.extend_from_slice(&word.to_le_bytes());
    }
    share.extend_from_slice(&frame.wire_len.to_le_bytes());
    share.extend_from_slice(&captured_len.to_le_bytes());
    share.extend_from_slice(&link.to_le_bytes());
    share.extend_from_slice(bytes);
}

/// A share that says how far the input has come: the number of its last packet, and stream time.
pub fn mark_of(number: u64, stream_time: Timestamp) -> Vec<u8> {
    let mut share = Vec::with_capacity(HEADER_LEN);
    for word in [number, stream_time.0, 0] {
        share.extend_from_slice(&word.to_le_bytes());
    }
    share.extend_from_slice(&0u32.to_le_bytes());
    share.extend_from_slice(&MARK.to_le_bytes());
    share.extend_from_slice(&0u16.to_le_bytes());
    share
}

/// What is at `*at` of a share; none at its end, and where it breaks off.
pub(crate) fn next_told(share: &[u8], at: &mut usize) -> Option<Told> {
    let header = share.get(*at..)?.first_chunk::<HEADER_LEN>()?;
    let [number, stream_time, time] = [0, 8, 16].map(|at| word::<8>(header, at));
    let [number, stream_time, time] = [number, stream_time, time].map(u64::from_le_bytes);
    let wire_len = u32::from_le_bytes(word(header, 24));
    let captured_len = u32::from_le_bytes(word(header, 28));
    let link = u16::from_le_bytes(word(header, 32));
    let start = *at + HEADER_LEN;
    let stream_time = Timestamp(stream_time);
    if captured_len == MARK {
        *at = start;
        return Some(Told {
            number,
            stream_time,
            frame: None,
        });
    }
    let end = start.checked_add(captured_len as usize)?;
    if end > share.len() {
        return None;
    }
    *at = end;
    let frame = Frame {
        start: u32::try_from(start).ok()?,
        captured_len,
        wire_len: wire_len.max(captured_len),
        link: link_type(link),
        time: Timestamp(time),
    };
    Some(Told {
        number,
        stream_time,
        frame: Some(frame),
    })
}

fn word<const N: usize>(header: &[u8; HEADER_LEN], at: usize) -> [u8; N] {
    let bytes = header.get(at..).and_then(|rest| rest.first_chunk());
    bytes.copied().unwrap_or([0; N])
}

const HEADER_LEN: usize = 34;
/// The captured length of a mark, which no packet has.
const MARK: u32 = u32::MAX;

#[cfg(test)]
mod tests {
    use super::{add_to_share, mark_of, next_told};
    use flowpin_packet::{Frame, LinkType, Timestamp};
    use proptest::prelude::*;

    type Packet = ([u64; 3], Vec<u8>);

    fn packet() -> impl Strategy<Value = Packet> {
        (any::<[u64; 3]>(), prop::collection::vec(any::<u8>(), 0..90))
    }

    proptest! {
        /// What goes in comes out; what is cut off or overwritten comes out in part, or not.
        #[test]
        fn shares_hold_packets(
            packets in prop::collection::vec(packet(), 0..9),
            cut in any::<prop::sample::Index>(),
        ) {
            let mut share = Vec::new();
            for ([number, now, time], bytes) in &packets {
                let frame = Frame {
                    start: 0,
                    captured_len: 0,
                    wire_len: 2000,
                    link: LinkType::Ethernet,
                    time: Timestamp(*time),
                };
                add_to_share(&mut share, (*number, Timestamp(*now)), &frame, bytes);
            }
            share.extend(mark_of(77, Timestamp(99)));
            let mut at = 0;
            for ([number, now, time], bytes) in &packets {
                let told = next_told(&share, &mut at).unwrap();
                let frame = told.frame.unwrap();
                prop_assert_eq!((told.number, told.stream_time.0), (*number, *now));
                prop_assert_eq!((frame.time.0, frame.wire_len), (*time, 2000));
                prop_assert_eq!(&share[frame.start as usize..at], bytes.as_slice());
            }
            let mark = next_told(&share, &mut at).unwrap();
            prop_assert_eq!((mark.number, mark.stream_time.0, mark.frame), (77, 99, None));
            prop_assert_eq!(next_told(&share, &mut at), None);
            share.truncate(cut.index(share.len()));
            let mut at = 0;
            let mut found = 0;
            while next_told(&share, &mut at).is_some() {
                found += 1;
            }
            prop_assert!(found <= packets.len());
        }
    }
}
