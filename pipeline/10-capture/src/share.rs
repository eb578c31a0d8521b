//! Shares: packets on the way from who has read them to the process that has their connections,
//! each with its number and stream time.
//!
//! ```text
//!  number 8 │ stream time 8 │ time 8 │ length 4 │ captured 4 │ link type 2 │
//!  queue 4 │ length of the interface's name 1 │ name │ frame
//! ```
//!
//! Numbers are little-endian. A share may end with a mark instead of a packet: how far the input
//! has come.

use crate::link::link_number;
use flowpin_packet::{Frame, InterfaceName, InterfaceNames, LinkType, Timestamp};

/// A packet of a share, or the mark at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) number: u64,
    pub(crate) stream_time: Timestamp,
    /// None: a mark.
    pub(crate) frame: Option<Frame>,
}

/// Appends a packet to a share. `bytes` are those of the frame, `names` those of its source. One of
/// a link type that is not decoded has nothing to tell, and is left out.
pub fn add_to_share(
    share: &mut Vec<u8>,
    (number, stream_time): (u64, Timestamp),
    frame: &Frame,
    bytes: &[u8],
    names: &InterfaceNames,
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
    add_interface(share, names.get(frame.interface).map(|name| &**name));
    share.extend_from_slice(bytes);
}

fn add_interface(share: &mut Vec<u8>, interface: Option<&InterfaceName>) {
    let queue = interface.and_then(InterfaceName::queue);
    share.extend_from_slice(&queue.map_or(NO_QUEUE, u32::from).to_le_bytes());
    let name = interface.map_or("", InterfaceName::name);
    share.push(u8::try_from(name.len()).unwrap_or(0));
    share.extend_from_slice(name.as_bytes());
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
    add_interface(&mut share, None);
    share
}

/// What is at `*at` of a share; none at its end, and where it breaks off. Its interface gets its
/// number by `names`.
pub(crate) fn next_told(share: &[u8], at: &mut usize, names: &InterfaceNames) -> Option<Told> {
    let header = share.get(*at..)?.first_chunk::<HEADER_LEN>()?;
    let [number, stream_time, time] = [0, 8, 16].map(|at| word::<8>(header, at));
    let [number, stream_time, time] = [number, stream_time, time].map(u64::from_le_bytes);
    let wire_len = u32::from_le_bytes(word(header, 24));
    let captured_len = u32::from_le_bytes(word(header, 28));
    let link = u16::from_le_bytes(word(header, 32));
    let queue = u32::from_le_bytes(word(header, 34));
    let [name_len] = word(header, 38);
    let behind = *at + HEADER_LEN;
    let start = behind + usize::from(name_len);
    let stream_time = Timestamp(stream_time);
    if captured_len == MARK {
        *at = start;
        return Some(Told {
            number,
            stream_time,
            frame: None,
        });
    }
    let name = share.get(behind..start)?;
    let end = start.checked_add(captured_len as usize)?;
    if end > share.len() {
        return None;
    }
    *at = end;
    let name = (!name.is_empty())
        .then(|| InterfaceName::new(&String::from_utf8_lossy(name), u16::try_from(queue).ok()));
    let interface = name.flatten().and_then(|name| names.number(name));
    let frame = Frame {
        start: u32::try_from(start).ok()?,
        captured_len,
        wire_len: wire_len.max(captured_len),
        link: LinkType::of_number(link),
        interface: interface.unwrap_or_default(),
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

const HEADER_LEN: usize = 39;
/// All of an interface's queues.
const NO_QUEUE: u32 = u32::MAX;
/// The captured length of a mark, which no packet has.
const MARK: u32 = u32::MAX;

#[cfg(test)]
mod tests {
    use super::{add_to_share, mark_of, next_told};
    use flowpin_packet::{Frame, InterfaceId, InterfaceName, InterfaceNames, LinkType, Timestamp};
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
            let (here, there) = (InterfaceNames::default(), InterfaceNames::default());
            let eth1 = InterfaceName::new("eth1", Some(2)).unwrap();
            let named = here.number(eth1.clone()).unwrap();
            let mut share = Vec::new();
            for ([number, now, time], bytes) in &packets {
                let frame = Frame {
                    start: 0,
                    captured_len: 0,
                    wire_len: 2000,
                    link: LinkType::Ethernet,
                    interface: if number % 2 == 0 { named } else { InterfaceId::NONE },
                    time: Timestamp(*time),
                };
                add_to_share(&mut share, (*number, Timestamp(*now)), &frame, bytes, &here);
            }
            share.extend(mark_of(77, Timestamp(99)));
            let mut at = 0;
            for ([number, now, time], bytes) in &packets {
                let told = next_told(&share, &mut at, &there).unwrap();
                let frame = told.frame.unwrap();
                prop_assert_eq!((told.number, told.stream_time.0), (*number, *now));
                prop_assert_eq!((frame.time.0, frame.wire_len), (*time, 2000));
                let name = there.get(frame.interface).map(|name| &**name);
                prop_assert_eq!(name, (number % 2 == 0).then_some(&eth1));
                prop_assert_eq!(&share[frame.start as usize..at], bytes.as_slice());
            }
            let mark = next_told(&share, &mut at, &there).unwrap();
            prop_assert_eq!((mark.number, mark.stream_time.0, mark.frame), (77, 99, None));
            prop_assert_eq!(next_told(&share, &mut at, &there), None);
            share.truncate(cut.index(share.len()));
            let mut at = 0;
            let mut found = 0;
            while next_told(&share, &mut at, &there).is_some() {
                found += 1;
            }
            prop_assert!(found <= packets.len());
        }
    }
}
