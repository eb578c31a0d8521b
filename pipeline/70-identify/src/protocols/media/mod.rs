//! Voice and pictures, and what sets them up.

mod rtcp;
mod rtmp;
mod rtp;
mod rtsp;
mod sip;
mod stun;

use crate::table::Protocol;

pub(super) const ALL: &[&Protocol] = &[
    &rtcp::PROTOCOL,
    &rtmp::PROTOCOL,
    &rtp::PROTOCOL,
    &rtsp::PROTOCOL,
    &sip::PROTOCOL,
    &stun::PROTOCOL,
];
