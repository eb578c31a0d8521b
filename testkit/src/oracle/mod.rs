//! Other programs' answers about a capture, to compare with.

pub mod fragments;
pub mod segments;
pub mod sharkd;
pub mod zeek;

use std::net::IpAddr;

/// A connection as any tool counts it, the lower (address, port) first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Conversation {
    /// `tcp`, `udp`, `sctp`.
    pub protocol: String,
    /// The lower endpoint.
    pub low: (IpAddr, u16),
    /// The higher endpoint.
    pub high: (IpAddr, u16),
    /// Frames and their bytes from low to high.
    pub from_low: (u64, u64),
    /// Frames and their bytes from high to low.
    pub from_high: (u64, u64),
}

impl Conversation {
    /// Puts the lower endpoint first.
    pub fn new(
        protocol: &str,
        a: (IpAddr, u16),
        b: (IpAddr, u16),
        from_a: (u64, u64),
        from_b: (u64, u64),
    ) -> Self {
        let (low, high, from_low, from_high) = if a <= b {
            (a, b, from_a, from_b)
        } else {
            (b, a, from_b, from_a)
        };
        // Between two equal endpoints there is only one direction.
        let (from_low, from_high) = if low == high {
            let sum = (from_low.0 + from_high.0, from_low.1 + from_high.1);
            (sum, (0, 0))
        } else {
            (from_low, from_high)
        };
        Self {
            protocol: protocol.to_owned(),
            low,
            high,
            from_low,
            from_high,
        }
    }

    /// Frames in both directions.
    pub fn frames(&self) -> u64 {
        self.from_low.0 + self.from_high.0
    }

    /// Bytes in both directions.
    pub fn bytes(&self) -> u64 {
        self.from_low.1 + self.from_high.1
    }

    /// Protocol and endpoints, without the counts.
    pub fn tuple(&self) -> (String, (IpAddr, u16), (IpAddr, u16)) {
        (self.protocol.clone(), self.low, self.high)
    }
}
