//! Buildings, meters, vehicles.

mod bacnet;
mod c1222;
mod ethersbus;
mod knx;
mod socketcan;
mod someip;

use crate::Protocol;

pub(super) const ALL: &[&Protocol] = &[
    &bacnet::PROTOCOL,
    &c1222::PROTOCOL,
    &ethersbus::PROTOCOL,
    &knx::PROTOCOL,
    &socketcan::PROTOCOL,
    &someip::PROTOCOL,
];
