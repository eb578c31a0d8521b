//! IP: both versions' headers, and the extension headers of version 6.

mod extension;
mod options;
mod v4;
mod v6;
mod v6_flaws;

pub use extension::{Extensions, FragmentHeader};
pub use options::option_flaws;
pub use v4::Ipv4Packet;
pub use v6::Ipv6Packet;
pub use v6_flaws::v6_flaws;
