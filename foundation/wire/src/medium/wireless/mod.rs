//! Wireless LAN: frames, and the headers that a capture puts in front of them.

mod ieee80211;
mod prism;
mod radiotap;

pub(super) use ieee80211::parse;
pub(super) use prism::{parse_avs, parse_prism};
pub(super) use radiotap::parse_radiotap;

use flowpin_packet::{Layer, Malformed, Reason, bad};

const fn refuse(reason: Reason, offset: u16) -> Malformed {
    bad(Layer::Ieee80211, reason, offset)
}
