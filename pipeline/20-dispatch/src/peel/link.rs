//! Layer 2: frames, tags, labels and framings.

use super::{NonIp, Peel, Step, Watch};
use flowpin_packet::{LinkType, Malformed, PacketFlags, Reason};
use flowpin_wire::link::{
    CiscoMetadata, EthernetFrame, ExtenderTag, FabricPathTag, LlcHeader, MplsStack, PppFrame,
    PppoeSession, ServiceTag, VlanTag, VnTag,
};
use flowpin_wire::medium::LinkFrame;
use flowpin_wire::{Next, ether_type};

impl<W: Watch> Peel<'_, W> {
    pub(super) fn link(&mut self, next: Next) -> Result<Step, Malformed> {
        let bytes = self.rest();
        match next {
            Next::Ethernet => {
                let frame = EthernetFrame::parse(bytes)?;
                self.typed(frame.header_len(), frame.type_or_length(), frame.next())
            }
            Next::Vlan => {
                let tag = VlanTag::parse(bytes)?;
                if self.error.is_none() {
                    self.flags = self.flags.with(PacketFlags::VLAN);
                    self.watch.vlan(tag.vlan_id());
                }
                self.typed(tag.header_len(), tag.type_or_length(), tag.next())
            }
            Next::VnTag => {
                let tag = VnTag::parse(bytes)?;
                self.typed(tag.header_len(), tag.type_or_length(), tag.next())
            }
            Next::ExtenderTag => {
                let tag = ExtenderTag::parse(bytes)?;
                self.typed(tag.header_len(), tag.type_or_length(), tag.next())
            }
            Next::CiscoMetadata => {
                let tag = CiscoMetadata::parse(bytes)?;
                self.typed(tag.header_len(), tag.type_or_length(), tag.next())
            }
            Next::ServiceTag => {
                self.step_over(ServiceTag::HEADER_LEN, ServiceTag::parse(bytes)?.next())
            }
            Next::FabricPath => self.step_over(
                FabricPathTag::HEADER_LEN,
                FabricPathTag::parse(bytes)?.next(),
            ),
            Next::Llc => self.llc(),
            Next::Mpls => {
                let stack = MplsStack::parse(bytes)?;
                self.step_over(stack.header_len(), stack.next())
            }
            Next::PppoeSession => self.pppoe(),
            Next::Ppp => {
                let frame = PppFrame::parse(bytes)?;
                match frame.next() {
                    Next::Opaque => Ok(Step::NonIp(NonIp::Ppp)),
                    next => self.step_over(frame.header_len(), next),
                }
            }
            Next::Nsh => self.service_header(),
            Next::Link(link) => self.medium(link),
            Next::Arp => Ok(Step::NonIp(NonIp::Arp)),
            _ => Ok(Step::NonIp(NonIp::Other)),
        }
    }

    /// A frame of another link type, or of any at the beginning.
    fn medium(&mut self, link: LinkType) -> Result<Step, Malformed> {
        let wireless = matches!(
            link,
            LinkType::Ieee80211
                | LinkType::Ieee80211Radiotap
                | LinkType::Ieee80211Prism
                | LinkType::Ieee80211Avs
        );
        let other = if wireless {
            NonIp::Ieee80211
        } else {
            NonIp::Other
        };
        match LinkFrame::parse(link, self.rest()) {
            Ok(frame) if frame.next() == Next::Opaque => Ok(Step::NonIp(other)),
            Ok(frame) => self.step_over(frame.header_len(), frame.next()),
            Err(_) if link == LinkType::Unsupported => {
                Ok(Step::NonIp(NonIp::UnsupportedLink(link)))
            }
            // A part of a packet, or several: nothing wrong, and nothing that is read.
            Err(refused) if refused.reason == Reason::Unsupported => Ok(Step::NonIp(other)),
            Err(refused) => Err(refused),
        }
    }

    fn step_over(&mut self, header_len: usize, next: Next) -> Result<Step, Malformed> {
        self.enter(header_len, None);
        Ok(Step::Next(next))
    }

    /// A header that ends with a type, or with the payload's length.
    fn typed(&mut self, header_len: usize, field: u16, next: Next) -> Result<Step, Malformed> {
        if next == Next::Llc {
            // What is longer than the frame is left to the headers inside.
            let rest = self
                .wire_end
                .saturating_sub(self.at)
                .saturating_sub(header_len);
            self.enter(header_len, Some(usize::from(field).min(rest)));
            return Ok(Step::Next(next));
        }
        if next != Next::Opaque {
            return self.step_over(header_len, next);
        }
        Ok(Step::NonIp(match field {
            LLDP => NonIp::Lldp,
            PPPOE_DISCOVERY => NonIp::Ppp,
            _ => NonIp::Other,
        }))
    }

    fn llc(&mut self) -> Result<Step, Malformed> {
        let header = LlcHeader::parse(self.rest())?;
        if header.next() != Next::Opaque {
            return self.step_over(header.header_len(), header.next());
        }
        let spanning_tree = (header.dsap(), header.ssap()) == (STP_SAP, STP_SAP)
            || self.rest().get(3..8) == Some(&PER_VLAN_STP);
        Ok(Step::NonIp(if spanning_tree {
            NonIp::Stp
        } else {
            NonIp::Other
        }))
    }

    fn pppoe(&mut self) -> Result<Step, Malformed> {
        let session = match PppoeSession::parse(self.rest(), self.wire_len()) {
            Ok(session) => session,
            Err(refused) if refused.reason == Reason::Unsupported => {
                return Ok(Step::NonIp(NonIp::Ppp));
            }
            Err(refused) => return Err(refused),
        };
        self.enter(
            session.header_len(),
            Some(usize::from(session.payload_len())),
        );
        Ok(Step::Next(session.next()))
    }
}

const LLDP: u16 = 0x88cc;
const PPPOE_DISCOVERY: u16 = 0x8863;
/// Service access point of the spanning tree protocol (IEEE 802.1D).
const STP_SAP: u8 = 0x42;
/// SNAP organisation and protocol of Cisco's spanning tree per VLAN.
const PER_VLAN_STP: [u8; 5] = [0x00, 0x00, 0x0c, 0x01, 0x0b];

const _: () = assert!(ether_type::PPPOE_SESSION == PPPOE_DISCOVERY + 1);
