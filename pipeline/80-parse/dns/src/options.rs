//! The options of the parser.

/// What is reported, and the limits of a connection.
#[derive(Clone, Debug)]
pub(crate) struct DnsOptions {
    /// Whether to report every message (`DNS`, `MDNS`, `LLMNR`).
    pub(crate) events: bool,
    /// Whether to report every transaction (`DNS_LOG`).
    pub(crate) log: bool,
    /// Maximum number of pending requests per connection.
    pub(crate) requests_max: u32,
    /// How long a request waits for its response, in nanoseconds of capture time.
    pub(crate) wait_nanos: u64,
}

impl Default for DnsOptions {
    fn default() -> Self {
        Self {
            events: true,
            log: true,
            requests_max: 64,
            wait_nanos: 30_000_000_000,
        }
    }
}
