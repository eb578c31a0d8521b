//! Numbers and lines that machines send to be watched.

mod amanda;
mod check_mk;
mod collectd;
mod gelf;
mod graphite;
mod lumberjack;
mod relp;
mod splunk;
mod statsd;
mod zabbix;

use crate::Protocol;

pub(super) const ALL: &[&Protocol] = &[
    &amanda::PROTOCOL,
    &check_mk::PROTOCOL,
    &collectd::PROTOCOL,
    &gelf::PROTOCOL,
    &graphite::PROTOCOL,
    &lumberjack::PROTOCOL,
    &relp::PROTOCOL,
    &splunk::PROTOCOL,
    &statsd::PROTOCOL,
    &zabbix::PROTOCOL,
];
