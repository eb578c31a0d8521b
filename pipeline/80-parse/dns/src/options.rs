//! The options of the parser.

/// Limits and settings; the defaults suit a machine that sees the traffic of a resolver.
#[derive(Clone, Debug)]
pub struct DnsOptions {
    /// Whether to report every message ([`crate::DNS`], [`crate::MDNS`], [`crate::LLMNR`]).
    pub events: bool,
    /// Whether to report every transaction ([`crate::DNS_LOG`]).
    pub log: bool,
    /// Maximum number of open connections per shard.
    pub shard_connections_max: u32,
    /// Maximum number of bytes of incomplete messages over TCP per shard.
    pub shard_bytes_max: u32,
    /// Maximum number of pending requests per shard.
    pub shard_requests_max: u32,
    /// Maximum number of pending requests per connection.
    pub requests_max: u32,
    /// How long a request waits for its response, in nanoseconds of capture time.
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
