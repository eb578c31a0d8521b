//! More of plants and vehicles.

mod codesys;
mod dlms;
mod doip;
mod fins;
mod fox;
mod m_bus;
mod pcworx;
mod profinet;
mod slmp;
mod synchrophasor;

use crate::Protocol;

pub(super) const ALL: &[&Protocol] = &[
    &codesys::PROTOCOL,
    &dlms::PROTOCOL,
    &doip::PROTOCOL,
    &fins::PROTOCOL,
    &fox::PROTOCOL,
    &m_bus::PROTOCOL,
    &pcworx::PROTOCOL,
    &profinet::PROTOCOL,
    &slmp::PROTOCOL,
    &synchrophasor::PROTOCOL,
];
