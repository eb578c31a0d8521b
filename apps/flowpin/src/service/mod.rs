//! A run as a service: its counters for Prometheus, its signs of life for systemd.

mod metrics;
mod notify;

pub(crate) use metrics::Metrics;
pub(crate) use notify::Notifier;
