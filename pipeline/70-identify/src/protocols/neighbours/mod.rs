//! How makers find their own devices.

mod dahua;
mod epson;
mod mndp;
mod nsdp;
mod synology;
mod ubiquiti;

use crate::Protocol;

pub(super) const ALL: &[&Protocol] = &[
    &dahua::PROTOCOL,
    &epson::PROTOCOL,
    &mndp::PROTOCOL,
    &nsdp::PROTOCOL,
    &synology::PROTOCOL,
    &ubiquiti::PROTOCOL,
];
