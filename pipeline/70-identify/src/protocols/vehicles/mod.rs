//! Positions, ships, aircraft, robots.

mod gpsd;
mod mavlink;
mod nmea;
mod ntrip;
mod rtps;
mod sbs_1;
mod tcpcl;

use crate::Protocol;

pub(super) const ALL: &[&Protocol] = &[
    &gpsd::PROTOCOL,
    &mavlink::PROTOCOL,
    &nmea::PROTOCOL,
    &ntrip::PROTOCOL,
    &rtps::PROTOCOL,
    &sbs_1::PROTOCOL,
    &tcpcl::PROTOCOL,
];
