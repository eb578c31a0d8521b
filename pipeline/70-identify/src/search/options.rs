//! The handle of a search, the origin of its bytes, and its limits.

use crate::On;
use crate::table::ProtocolId;
use flowpin_packet::{Lives, Shard};

/// The search of a connection: empty until state must be kept.
///
/// After a [`Step`](crate::Step) other than undecided, pass it to
/// [`Searches::release`](crate::Searches::release).
///
/// Three bytes, since each of millions of connections has one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Search([u8; 3]);

impl Search {
    pub(super) const NONE: Self = Self([0; 3]);
    /// The maximum per worker.
    pub(super) const COUNT_MAX: u32 = (1 << 24) - 2;

    #[inline]
    pub(super) fn handle(self) -> Option<u32> {
        let Self([a, b, c]) = self;
        u32::from_le_bytes([a, b, c, 0]).checked_sub(1)
    }

    pub(super) fn of(handle: u32) -> Option<Self> {
        let [a, b, c, 0] = handle.checked_add(1)?.to_le_bytes() else {
            return None;
        };
        Some(Self([a, b, c]))
    }
}

/// The origin of bytes.
#[derive(Clone, Copy, Debug)]
pub struct Whose<'a> {
    /// The connection's shard: memory is capped in each.
    pub shard: Shard,
    /// The ports of client and server.
    pub ports: (u16, u16),
    /// The transport.
    pub on: On,
    /// Whether the client sent the bytes.
    pub to_server: bool,
    /// The connection's handle in the connection table.
    pub connection: u32,
    /// Which connections are over, though they were not ended yet: none if nobody knows. What
    /// they have said is not given up to make room for others.
    pub lives: Option<Lives<'a>>,
    /// Their offset in the stream; only used by [`Searches::replay`](crate::Searches::replay).
    pub offset: u64,
    /// Set if the connection has a verdict that is being checked for an alternative.
    pub again: Option<Again>,
}

/// A second search after a verdict: with the built-in rules only, and on each direction alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Again {
    /// The protocol to exclude.
    pub but: Option<ProtocolId>,
}

/// Limits on the state of one worker's searches.
#[derive(Clone, Copy, Debug)]
pub struct SearchOptions {
    /// Bytes kept before verdicts in each shard. If that is used up, the searches that began first
    /// give up.
    pub shard_bytes_max: u64,
    /// Whether datagrams before verdicts are kept as well, for replay.
    pub keeps_datagrams: bool,
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self {
            shard_bytes_max: 1 << 20,
            keeps_datagrams: true,
        }
    }
}
