//! Fields of packets that not all packets have: options, VLAN tags, checksums.

use super::Packet;
use flowpin_packet::PacketKind;
use flowpin_rule::{ChecksumOf, HeaderNumber, NumberCheck};
use flowpin_wire::checksum::{ChecksumVerdict, PseudoHeader, verify_ipv4_header, verify_transport};
use flowpin_wire::ip::Ipv4Packet;
use flowpin_wire::transport::{TcpOption, TcpOptions};

/// Whether a number is as it should be; false where the packet has none.
pub(super) fn number_holds(packet: &Packet<'_>, which: HeaderNumber, check: NumberCheck) -> bool {
    let found: Option<u64> = match which {
        HeaderNumber::Mss => option(packet, |option| match option {
            TcpOption::MaximumSegmentSize(size) => Some(size.into()),
            _ => None,
        }),
        HeaderNumber::WindowScale => option(packet, |option| match option {
            TcpOption::WindowScale(shift) => Some(shift.into()),
            _ => None,
        }),
        HeaderNumber::Mtu => mtu(packet),
        HeaderNumber::VlanLayers => Some(vlans(packet).count() as u64),
        HeaderNumber::Vlan(None) => return vlans(packet).any(|id| check.holds(id)),
        HeaderNumber::Vlan(Some(depth)) => {
            let count = vlans(packet).count();
            let from_inside = usize::from(depth.unsigned_abs());
            let nth = match depth {
                0.. => usize::try_from(depth).ok(),
                _ => count.checked_sub(from_inside),
            };
            nth.and_then(|nth| vlans(packet).nth(nth))
        }
    };
    found.is_some_and(|number| check.holds(number))
}

fn vlans<'p>(packet: &'p Packet<'_>) -> impl Iterator<Item = u64> + 'p {
    let tags = packet.vlans.iter().filter(|&&id| id != NO_VLAN);
    tags.map(|&id| id.into())
}

/// A value of TCP's options.
fn option(packet: &Packet<'_>, value: impl Fn(TcpOption<'_>) -> Option<u64>) -> Option<u64> {
    if packet.meta.kind != PacketKind::Tcp {
        return None;
    }
    let options = packet.between(packet.meta.l4_offset, packet.meta.payload_offset);
    TcpOptions::new(options.get(TCP_HEADER..)?).find_map(value)
}

/// RFC 4443 §3.2.
fn mtu(packet: &Packet<'_>) -> Option<u64> {
    if packet.meta.protocol != ICMPV6 || packet.icmp()?.0 != TOO_BIG {
        return None;
    }
    let word = packet.between(packet.meta.l4_offset, u16::MAX).get(4..8)?;
    let word: [u8; 4] = word.try_into().ok()?;
    Some(u32::from_be_bytes(word).into())
}

/// Whether the packet has an IPv4 option of this kind, or any.
pub(super) fn has_ip_option(packet: &Packet<'_>, wanted: Option<u8>) -> bool {
    let Some(header) = ipv4(packet) else {
        return false;
    };
    let mut rest = header.options();
    while let [kind, after @ ..] = rest {
        if wanted.is_none_or(|wanted| wanted == *kind) {
            return true;
        }
        rest = match (*kind, after) {
            (0, _) => return false,
            (1, after) => after,
            (_, [len, ..]) if *len >= 2 => rest.get(usize::from(*len)..).unwrap_or_default(),
            _ => return false,
        };
    }
    false
}

/// Whether a checksum is as a rule asks: where it cannot be told, it is neither right nor wrong.
pub(super) fn checksum_holds(packet: &Packet<'_>, of: ChecksumOf, is_right: bool) -> bool {
    let verdict = match of {
        ChecksumOf::Ipv4 => ipv4(packet).map(|header| verify_ipv4_header(&header)),
        ChecksumOf::OverIpv4(protocol) => ipv4(packet)
            .filter(|_| packet.meta.protocol == protocol)
            .map(|header| {
                let pseudo = PseudoHeader::v4(header.source(), header.final_destination());
                transport(packet, pseudo)
            }),
        ChecksumOf::OverIpv6(protocol) => addresses_of_v6(packet)
            .filter(|_| packet.meta.protocol == protocol)
            .map(|(from, to)| transport(packet, PseudoHeader::v6(from, to))),
    };
    match verdict {
        Some(ChecksumVerdict::Good) => is_right,
        Some(ChecksumVerdict::Bad | ChecksumVerdict::Offloaded) => !is_right,
        Some(ChecksumVerdict::NotChecked) | None => false,
    }
}

fn transport(packet: &Packet<'_>, pseudo: PseudoHeader) -> ChecksumVerdict {
    let meta = packet.meta;
    let headers = meta.l4_offset.saturating_sub(meta.l3_offset);
    let len = meta.ip_len.saturating_sub(headers.into());
    let bytes = packet.between(meta.l4_offset, u16::MAX);
    verify_transport(pseudo, meta.protocol, bytes, len)
}

/// Of an ICMP error, what is described is the packet that it quotes: it has no header here.
fn ipv4<'a>(packet: &Packet<'a>) -> Option<Ipv4Packet<'a>> {
    if packet.is_ipv6() || packet.meta.kind == PacketKind::IcmpError {
        return None;
    }
    Ipv4Packet::parse(packet.between(packet.meta.l3_offset, u16::MAX), usize::MAX).ok()
}

/// RFC 8200 §3.
fn addresses_of_v6(packet: &Packet<'_>) -> Option<([u8; 16], [u8; 16])> {
    if !packet.is_ipv6() || packet.meta.kind == PacketKind::IcmpError {
        return None;
    }
    let header = packet.between(packet.meta.l3_offset, u16::MAX);
    let from = header.get(8..24)?.try_into().ok()?;
    let to = header.get(24..40)?.try_into().ok()?;
    Some((from, to))
}

/// RFC 9293 §3.1.
const TCP_HEADER: usize = 20;
const ICMPV6: u8 = 58;
const TOO_BIG: u64 = 2;
/// No such tag.
const NO_VLAN: u16 = u16::MAX;
