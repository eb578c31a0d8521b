//! What is wrong with the form of an accepted IPv6 packet: destination options (RFC 8200 §4.6), and
//! messages of ICMPv6 that are shorter than their type needs.

use super::Ipv6Packet;
use crate::Cursor;
use crate::ip_protocol::{AH, DESTINATION_OPTIONS, FRAGMENT, HOP_BY_HOP, ICMPV6, ROUTING};
use crate::transport::IcmpMessage;
use flowpin_packet::{Layer, Malformed, Reason, bad};

/// Calls `tell` with each flaw of a packet, from its IP header on.
///
/// Of destination options: [`Reason::OptionCut`] if one reaches beyond its header,
/// [`Reason::OptionLength`] if a home address has not the length of one, and
/// [`Reason::OptionRepeated`] if there are two (RFC 6275 §6.3). Of ICMPv6: a message of neighbour
/// discovery (RFC 4861 §4) or a listener report (RFC 3810 §5.2) that ends before its fixed fields
/// or its records do. Offsets count from the layer's own header.
///
/// ```
/// use flowpin_packet::{Layer, Reason, bad};
/// use flowpin_wire::ip::v6_flaws;
/// // A router advertisement of eight bytes.
/// let mut packet = vec![0x60, 0, 0, 0, 0, 8, 58, 255];
/// packet.extend([0; 32]);
/// packet.extend([134, 0, 0, 0, 64, 0, 7, 8]);
/// let mut told = Vec::new();
/// v6_flaws(&packet, &mut |flaw| told.push(flaw));
/// assert_eq!(told, [bad(Layer::Icmpv6, Reason::RouterAdvertisementShort, 8)]);
/// ```
pub fn v6_flaws(packet: &[u8], tell: &mut dyn FnMut(Malformed)) {
    let Ok(packet) = Ipv6Packet::parse(packet, usize::MAX) else {
        return;
    };
    let mut protocol = packet.next_header();
    let mut rest = packet.payload();
    let mut wire_len = packet.payload_len() as usize;
    let mut at = 0usize;
    for _ in 0..HEADERS_MAX {
        let len = match (protocol, rest.first_chunk()) {
            (ICMPV6, _) => return message(rest, wire_len, tell),
            (HOP_BY_HOP | ROUTING | DESTINATION_OPTIONS, Some(&[_, units])) => {
                usize::from(units).saturating_add(1) << 3
            }
            // RFC 6946: a fragment that is the whole datagram; others are no packets yet.
            (FRAGMENT, Some(_)) => 8,
            // RFC 4302 §2.2.
            (AH, Some(&[_, units])) => usize::from(units).saturating_add(2) << 2,
            _ => return,
        };
        let Some((header, behind)) = rest.split_at_checked(len) else {
            return;
        };
        if protocol == DESTINATION_OPTIONS {
            options(header, at, tell);
        }
        protocol = header.first().copied().unwrap_or_default();
        rest = behind;
        wire_len = wire_len.saturating_sub(len);
        at = at.saturating_add(len);
    }
}

/// The options of a whole header, which begins `at` bytes behind the first extension header.
fn options(header: &[u8], at: usize, tell: &mut dyn FnMut(Malformed)) {
    let mut cursor = Cursor::within(header, OPTIONS, header.len());
    let mut has_home = false;
    while !cursor.is_end() {
        let offset = u16::try_from(at.saturating_add(cursor.at())).unwrap_or(u16::MAX);
        let mut tell = |reason| tell(bad(Layer::Ipv6Extension, reason, offset));
        let Some(kind) = cursor.u8() else { return };
        if kind == PAD {
            continue;
        }
        let Some(option) = cursor.len8().and_then(|len| cursor.take(len)) else {
            return tell(Reason::OptionCut);
        };
        if kind != HOME_ADDRESS {
            continue;
        }
        if option.len() != ADDRESS_LEN {
            tell(Reason::OptionLength);
        } else if core::mem::replace(&mut has_home, true) {
            tell(Reason::OptionRepeated);
        }
    }
}

/// A message of ICMPv6, of which `wire_len` bytes were on the wire.
fn message(bytes: &[u8], wire_len: usize, tell: &mut dyn FnMut(Malformed)) {
    let Some(&kind) = bytes.first() else { return };
    let (least, reason) = match kind {
        134 => (16, Reason::RouterAdvertisementShort),
        135 => (24, Reason::NeighborSolicitationShort),
        136 => (24, Reason::NeighborAdvertisementShort),
        137 => (40, Reason::RedirectShort),
        LISTENER_REPORT => (reported(bytes, wire_len), Reason::ListenerReportShort),
        _ => return,
    };
    if wire_len < least {
        let end = u16::try_from(wire_len).unwrap_or(u16::MAX);
        tell(bad(Layer::Icmpv6, reason, end));
    }
}

/// How many bytes a listener report has by what it says itself, as far as it was captured.
fn reported(bytes: &[u8], wire_len: usize) -> usize {
    let mut cursor = Cursor::within(bytes, COUNT, bytes.len());
    let Some(count) = cursor.be16() else {
        return IcmpMessage::HEADER_LEN;
    };
    let mut end = IcmpMessage::HEADER_LEN;
    for _ in 0..count {
        // RFC 3810 §5.2: type, length of auxiliary data in words, number of sources, group.
        let record = bytes.get(end..).and_then(|rest| rest.first_chunk());
        let (words, sources) = match record {
            Some(&[_, words, high, low]) => (words, u16::from_be_bytes([high, low])),
            None => return end.saturating_add(RECORD),
        };
        let sources = usize::from(sources).saturating_mul(ADDRESS_LEN);
        let more = sources.saturating_add(usize::from(words) << 2);
        end = end.saturating_add(RECORD).saturating_add(more);
        if end > wire_len || end > bytes.len() {
            break;
        }
    }
    // What was not captured is not missed.
    if end > bytes.len() && bytes.len() < wire_len {
        return 0;
    }
    end
}

/// Headers that are looked at.
const HEADERS_MAX: usize = 16;
/// Where a header's options begin.
const OPTIONS: usize = 2;
const PAD: u8 = 0;
/// RFC 6275 §6.3.
const HOME_ADDRESS: u8 = 201;
const ADDRESS_LEN: usize = 16;
/// RFC 3810 §5.2, version 2.
const LISTENER_REPORT: u8 = 143;
/// Where it says how many records there are.
const COUNT: usize = 6;
/// A record without sources and auxiliary data.
const RECORD: usize = 20;

#[cfg(test)]
mod tests {
    use super::v6_flaws;
    use flowpin_packet::{Layer, Malformed, Reason, bad};
    use proptest::prelude::*;

    fn of(next_header: u8, payload: &[u8]) -> Vec<Malformed> {
        let mut packet = vec![0x60, 0, 0, 0];
        packet.extend(u16::try_from(payload.len()).unwrap().to_be_bytes());
        packet.extend([next_header, 64]);
        packet.extend([7; 32]);
        packet.extend(payload);
        let mut told = Vec::new();
        v6_flaws(&packet, &mut |flaw| told.push(flaw));
        told
    }

    fn extension(reason: Reason, offset: u16) -> Malformed {
        bad(Layer::Ipv6Extension, reason, offset)
    }

    /// RFC 6275 §6.3: one home address of 16 bytes.
    #[test]
    fn home_addresses_have_their_length_and_stand_once() {
        let home = |len: u8| [&[201, len][..], &[3; 16]].concat();
        let header = |options: &[u8]| {
            let mut header = vec![17, 0];
            header.extend(options);
            header.resize(header.len().next_multiple_of(8), 0);
            header[1] = u8::try_from(header.len() / 8 - 1).unwrap();
            header
        };
        let padded = |options: &[u8]| [&[1, 2, 0, 0][..], options].concat();
        assert!(of(60, &header(&padded(&home(16)))).is_empty());
        let twice = header(&[home(16), home(16)].concat());
        assert_eq!(of(60, &twice), [extension(Reason::OptionRepeated, 20)]);
        let short = header(&padded(&[201, 1, 9]));
        assert_eq!(of(60, &short), [extension(Reason::OptionLength, 6)]);
        let cut = header(&padded(&[202, 144, 9]));
        assert_eq!(of(60, &cut), [extension(Reason::OptionCut, 6)]);
        // Behind another header, counted from the first one.
        let behind = [&[60, 0, 1, 4, 0, 0, 0, 0][..], &cut].concat();
        assert_eq!(of(0, &behind), [extension(Reason::OptionCut, 14)]);
    }

    /// RFC 4861 §4.2 to §4.5, RFC 3810 §5.2: each message has its fixed fields and its records.
    #[test]
    fn messages_are_as_long_as_their_type_needs() {
        for (kind, least, reason) in [
            (134, 16, Reason::RouterAdvertisementShort),
            (135, 24, Reason::NeighborSolicitationShort),
            (136, 24, Reason::NeighborAdvertisementShort),
            (137, 40, Reason::RedirectShort),
        ] {
            let mut message = vec![0; least];
            message[0] = kind;
            assert!(of(58, &message).is_empty());
            message.pop();
            let end = u16::try_from(least - 1).unwrap();
            assert_eq!(of(58, &message), [bad(Layer::Icmpv6, reason, end)]);
        }
        // Two records, the second of one source and one word.
        let mut report = vec![143, 0, 0, 0, 0, 0, 0, 2];
        report.extend([4, 0, 0, 0]);
        report.extend([0xff; 16]);
        report.extend([3, 1, 0, 1]);
        report.extend([0xff; 36]);
        assert!(of(58, &report).is_empty());
        report.pop();
        let end = u16::try_from(report.len()).unwrap();
        let short = bad(Layer::Icmpv6, Reason::ListenerReportShort, end);
        assert_eq!(of(58, &report), [short]);
    }

    proptest! {
        /// Any bytes end.
        #[test]
        fn any_bytes_end(
            next in prop::sample::select(vec![0_u8, 43, 44, 51, 58, 60]),
            payload in prop::collection::vec(any::<u8>(), 0..200),
        ) {
            prop_assert!(of(next, &payload).len() <= payload.len());
        }
    }
}
