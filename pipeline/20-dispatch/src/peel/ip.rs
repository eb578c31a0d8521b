//! IPv4 and IPv6 headers, and fragments of either.

use super::{Network, Peel, Step, Watch, offset};
use flowpin_packet::{FragmentRef, Layer, Malformed, PeelContext, Reason, bad};
use flowpin_wire::checksum::{ChecksumVerdict, verify_ipv4_header};
use flowpin_wire::ip::{Extensions, FragmentHeader, Ipv4Packet, Ipv6Packet};
use flowpin_wire::ip_protocol;

impl<W: Watch> Peel<'_, W> {
    pub(super) fn ipv4(&mut self) -> Result<Step, Malformed> {
        let packet = Ipv4Packet::parse(self.rest(), self.wire_len())?;
        let header_len = packet.header_len();
        if self.verify && self.error.is_none() {
            match verify_ipv4_header(&packet) {
                ChecksumVerdict::Bad => return Err(bad(Layer::Ipv4, Reason::Checksum, 10)),
                verdict => self.ip_checksum_offloaded |= verdict == ChecksumVerdict::Offloaded,
            }
        }
        let final_destination = match packet.options() {
            [] => packet.destination(),
            _ => packet.final_destination(),
        };
        let network = Network {
            l3: offset(self.at)?,
            ipv6: false,
            source: u128::from(u32::from_be_bytes(packet.source())),
            destination: u128::from(u32::from_be_bytes(packet.destination())),
            final_destination: u128::from(u32::from_be_bytes(final_destination)),
            ip_len: packet.packet_len(),
            identification: packet.identification(),
            unsegmented: packet.is_offloaded(),
            later_fragment: packet.fragment_offset() != 0,
        };
        self.network = Some(network);
        let start = self.at;
        self.enter(header_len, Some(packet.payload_len() as usize));
        if packet.is_fragment() && self.error.is_none() {
            let fragment = FragmentHeader {
                offset: packet.fragment_offset(),
                more_fragments: packet.more_fragments(),
                identification: u32::from(packet.identification()),
            };
            return self.fragment(&network, start, header_len, fragment, packet.protocol());
        }
        if packet.protocol() != ip_protocol::AH || network.later_fragment {
            return self.transport(&network, packet.protocol());
        }
        match Extensions::parse(ip_protocol::AH, self.rest(), self.wire_len()) {
            Ok(extensions) => {
                self.enter(extensions.header_len(), None);
                self.transport(&network, extensions.protocol())
            }
            Err(refused) if self.is_truncation(refused) => self.bare(&network, ip_protocol::AH),
            Err(refused) => Err(refused),
        }
    }

    pub(super) fn ipv6(&mut self) -> Result<Step, Malformed> {
        let packet = Ipv6Packet::parse(self.rest(), self.wire_len())?;
        let mut network = Network {
            l3: offset(self.at)?,
            ipv6: true,
            source: u128::from_be_bytes(packet.source()),
            destination: u128::from_be_bytes(packet.destination()),
            final_destination: u128::from_be_bytes(packet.destination()),
            ip_len: packet.packet_len(),
            identification: 0,
            unsegmented: packet.is_offloaded(),
            later_fragment: false,
        };
        self.network = Some(network);
        let start = self.at;
        self.enter(packet.header_len(), Some(packet.payload_len() as usize));
        let extensions = match Extensions::parse(packet.next_header(), self.rest(), self.wire_len())
        {
            Ok(extensions) => extensions,
            Err(refused) if self.is_truncation(refused) => {
                return self.bare(&network, packet.next_header());
            }
            Err(refused) => return Err(refused),
        };
        if let Some(destination) = extensions.final_destination() {
            network.final_destination = u128::from_be_bytes(destination);
        }
        self.enter(extensions.header_len(), None);
        if let Some(fragment) = extensions.fragment() {
            if self.error.is_none() {
                let unfragmentable = self.at.saturating_sub(start).saturating_sub(FRAGMENT_LEN);
                let protocol = extensions.protocol();
                return self.fragment(&network, start, unfragmentable, fragment, protocol);
            }
            network.later_fragment = fragment.offset != 0;
        }
        self.transport(&network, extensions.protocol())
    }

    /// Describes the fragment whose payload starts here.
    fn fragment(
        &self,
        network: &Network,
        header_start: usize,
        unfragmentable_len: usize,
        fragment: FragmentHeader,
        protocol: u8,
    ) -> Result<Step, Malformed> {
        let too_long = bad(Layer::Fragment, Reason::TooLong, 0);
        let short = |len: usize| u16::try_from(len).map_err(|_| too_long);
        let wire_len = self.wire_end.saturating_sub(self.at);
        let header = self.bytes.get(header_start..).unwrap_or_default();
        Ok(Step::Fragment(FragmentRef {
            // The caller knows where the bytes start.
            frame_start: 0,
            header_start: u32::from(network.l3),
            payload_start: u32::from(offset(self.at)?),
            unfragmentable_len: short(unfragmentable_len)?,
            next_header_at: if network.ipv6 {
                fragment_announced_at(header)
            } else {
                0
            },
            captured_len: short(self.rest().len())?,
            payload_len: short(wire_len)?,
            offset: fragment.offset,
            more: fragment.more_fragments,
            ipv6: network.ipv6,
            protocol,
            id: fragment.identification,
            ip_len: network.ip_len,
            context: PeelContext {
                layers: self.layers,
                flags: self.flags,
                ..PeelContext::default()
            },
            ..FragmentRef::default()
        }))
    }
}

/// Where, from the start of an IPv6 header, the byte stands that announces the Fragment header.
fn fragment_announced_at(packet: &[u8]) -> u16 {
    let mut announced_at = 6usize;
    let mut header_at = Ipv6Packet::HEADER_LEN;
    for _ in 0..Extensions::COUNT_MAX {
        let Some(&protocol) = packet.get(announced_at) else {
            break;
        };
        let Some(&[_, units]) = packet.get(header_at..).and_then(|rest| rest.first_chunk()) else {
            break;
        };
        let len = match protocol {
            ip_protocol::FRAGMENT => break,
            ip_protocol::AH => (usize::from(units) + 2) * 4,
            _ => (usize::from(units) + 1) * 8,
        };
        announced_at = header_at;
        header_at += len;
    }
    u16::try_from(announced_at).unwrap_or(6)
}

/// Length of IPv6's Fragment header.
const FRAGMENT_LEN: usize = 8;
