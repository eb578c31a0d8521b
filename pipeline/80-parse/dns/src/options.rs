//! What can be set.

/// Limits and wishes; the defaults suit a machine that sees a resolver's traffic.
#[derive(Clone, Debug)]
pub struct DnsOptions {
    /// Whether to tell of every message ([`crate::DNS`], [`crate::MDNS`], [`crate::LLMNR`]).
    pub events: bool,
    /// Whether to tell of every transaction ([`crate::DNS_LOG`]).
    pub log: bool,
    /// Connections followed at once in a shard.
    pub shard_connections_max: u32,
    /// Bytes of messages over TCP that are not yet whole, in a shard.
    pub shard_bytes_max: u32,
    /// Requests that wait for a response, in a shard.
    pub shard_requests_max: u32,
    /// Requests that wait for a response, of one connection.
    pub requests_max: u32,
    /// How long a request waits, in nanoseconds of capture time.
    pub wait_nanos: u64,
}

impl Default for DnsOptions {
    fn default() -> Self {
        Self {
            events: true,
            log: true,
            shard_connections_max: 1 << 14,
            shard_bytes_max: 1 << 20,
            shard_requests_max: 1 << 14,
            requests_max: 64,
            wait_nanos: 30_000_000_000,
        }
    }
}
