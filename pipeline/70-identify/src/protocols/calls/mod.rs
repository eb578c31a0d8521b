//! Telephony.

mod megaco;
mod mgcp;
mod skinny;

use crate::table::Protocol;

pub(super) const ALL: &[&Protocol] = &[&megaco::PROTOCOL, &mgcp::PROTOCOL, &skinny::PROTOCOL];
