//! Logs, flows and measurements.

mod munin;
mod netflow;
mod ntp;
mod ripe_atlas;
mod sflow;
mod snmp;
mod syslog;

use crate::Protocol;

pub(super) const ALL: &[&Protocol] = &[
    &munin::PROTOCOL,
    &netflow::PROTOCOL,
    &ntp::PROTOCOL,
    &ripe_atlas::PROTOCOL,
    &sflow::PROTOCOL,
    &snmp::PROTOCOL,
    &syslog::PROTOCOL,
];
