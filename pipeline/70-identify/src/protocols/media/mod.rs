//! Voice and pictures, and what sets them up.

mod agora;
mod rtcp;
mod rtmp;
mod rtp;
mod rtsp;
mod sip;
mod spotify;
mod stun;

use crate::Protocol;

pub(super) const ALL: &[&Protocol] = &[
    &agora::PROTOCOL,
    &rtcp::PROTOCOL,
    &rtmp::PROTOCOL,
    &rtp::PROTOCOL,
    &rtsp::PROTOCOL,
    &sip::PROTOCOL,
    &spotify::PROTOCOL,
    &stun::PROTOCOL,
];
