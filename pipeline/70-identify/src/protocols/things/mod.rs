//! Small devices.

mod coap;
mod mqtt;

use crate::table::Protocol;

pub(super) const ALL: &[&Protocol] = &[&coap::PROTOCOL, &mqtt::PROTOCOL];
