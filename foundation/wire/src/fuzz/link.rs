//! Layer 2.

use super::{check_payload, packet};
use crate::link::{
    CiscoMetadata, EthernetFrame, ExtenderTag, FabricPathTag, LlcHeader, MplsStack, PppFrame,
    PppoeSession, ServiceTag, VlanTag, VnTag, looks_like_ethernet,
};

/// Every view of layer 2 over the same bytes.
pub fn fuzz_link(data: &[u8]) {
    let Some((bytes, wire_len)) = packet(data) else {
        return;
    };
    looks_like_ethernet(bytes);
    if let Ok(view) = EthernetFrame::parse(bytes) {
        check_payload(bytes, view.header_len(), view.payload());
    }
    if let Ok(view) = LlcHeader::parse(bytes) {
        check_payload(bytes, view.header_len(), view.payload());
    }
    if let Ok(view) = VlanTag::parse(bytes) {
        check_payload(bytes, view.header_len(), view.payload());
        assert!(view.vlan_id() < 4096);
    }
    if let Ok(view) = ServiceTag::parse(bytes) {
        check_payload(bytes, view.header_len(), view.payload());
    }
    if let Ok(view) = VnTag::parse(bytes) {
        check_payload(bytes, view.header_len(), view.payload());
    }
    if let Ok(view) = ExtenderTag::parse(bytes) {
        check_payload(bytes, view.header_len(), view.payload());
    }
    if let Ok(view) = CiscoMetadata::parse(bytes) {
        check_payload(bytes, view.header_len(), view.payload());
    }
    if let Ok(view) = FabricPathTag::parse(bytes) {
        check_payload(bytes, view.header_len(), view.payload());
    }
    if let Ok(view) = MplsStack::parse(bytes) {
        check_payload(bytes, view.header_len(), view.payload());
        assert!((1..=MplsStack::DEPTH_MAX).contains(&view.depth()));
    }
    if let Ok(view) = PppFrame::parse(bytes) {
        check_payload(bytes, view.header_len(), view.payload());
    }
    if let Ok(view) = PppoeSession::parse(bytes, wire_len) {
        check_payload(bytes, view.header_len(), view.payload());
        assert!(view.payload().len() <= usize::from(view.payload_len()));
    }
}
