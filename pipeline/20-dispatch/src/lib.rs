//! Peels tunnels and pins each packet to its shard.
mod checksum;
mod clock;
mod dispatcher;
mod fast;
mod hash;
mod key;
mod ports;
mod quality;
mod transport;

pub use checksum::{ChecksumVerdict, verify};
pub use clock::{Clock, ClockStats};
pub use dispatcher::{DispatchOptions, Dispatched, Dispatcher};
pub use quality::{NonIpCounts, Quality};
pub use transport::decode;
