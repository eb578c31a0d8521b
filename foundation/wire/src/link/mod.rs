//! Layer 2: frames, tags and the framings that carry packets over a link.
//!
//! Each view has `next()`, which says what `payload()` is, and `header_len()`, which says where
//! it starts.

mod bridge_tags;
mod ethernet;
mod llc;
mod mpls;
mod ppp;
mod pppoe;
mod tags;
mod vlan;

pub use bridge_tags::{CiscoMetadata, ExtenderTag};
pub use ethernet::{EthernetFrame, looks_like_ethernet};
pub use llc::LlcHeader;
pub use mpls::{MplsLabel, MplsStack};
pub use ppp::PppFrame;
pub use pppoe::PppoeSession;
pub use tags::{FabricPathTag, ServiceTag, VnTag};
pub use vlan::VlanTag;
