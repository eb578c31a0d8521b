//! Small devices.

mod coap;
mod lifx;
mod miio;
mod mqtt;
mod mqtt_sn;
mod tplink;
mod tuya;
mod wiz;
mod zep;

use crate::Protocol;

pub(super) const ALL: &[&Protocol] = &[
    &coap::PROTOCOL,
    &lifx::PROTOCOL,
    &miio::PROTOCOL,
    &mqtt::PROTOCOL,
    &mqtt_sn::PROTOCOL,
    &tplink::PROTOCOL,
    &tuya::PROTOCOL,
    &wiz::PROTOCOL,
    &zep::PROTOCOL,
];
