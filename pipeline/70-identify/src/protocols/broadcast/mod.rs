//! Sound, light and pictures for stages and houses, and their clock.

mod artnet;
mod icecast;
mod mpeg_ts;
mod osc;
mod ptp;
mod rtp_midi;
mod sacn;
mod srt;

use crate::Protocol;

pub(super) const ALL: &[&Protocol] = &[
    &artnet::PROTOCOL,
    &icecast::PROTOCOL,
    &mpeg_ts::PROTOCOL,
    &osc::PROTOCOL,
    &ptp::PROTOCOL,
    &rtp_midi::PROTOCOL,
    &sacn::PROTOCOL,
    &srt::PROTOCOL,
];
