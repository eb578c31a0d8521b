//! Small devices.

mod coap;
mod mqtt;
mod tplink;

use crate::table::Protocol;

pub(super) const ALL: &[&Protocol] = &[&coap::PROTOCOL, &mqtt::PROTOCOL, &tplink::PROTOCOL];
