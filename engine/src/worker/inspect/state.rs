//! What each consumer knows of a connection, in sixteen bytes.

use crate::worker::identify::{Identity, Phase};
use crate::worker::parse::Binding;
use flowpin_packet::Shard;

/// What each consumer knows of a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct State {
    /// Its parser, if it has one.
    pub(super) binding: Binding,
    pub(super) identity: Identity,
}

// Another consumer's state has its own slab, by the same handle.
/// Memory for a connection, by its handle.
pub(in crate::worker) const CONNECTION_BYTES: u32 = 16;
const _: () = assert!(size_of::<State>() == CONNECTION_BYTES as usize);

impl State {
    pub(super) fn new(phase: Phase, shard: Shard) -> Self {
        Self {
            binding: Binding::default(),
            identity: Identity::new(phase, shard),
        }
    }

    /// Whether no consumer wants its bytes.
    #[inline]
    pub(super) fn is_idle(&self) -> bool {
        self.identity.is_done() && self.binding.is_none() && !self.is_released()
    }

    /// Whether its parser released it because it was closed: if it goes on after all, it gets
    /// another one.
    #[inline]
    pub(super) fn is_released(&self) -> bool {
        let identity = &self.identity;
        identity.are_both_over()
            && identity.is_done()
            && self.binding.is_none()
            && identity.is_known()
    }
}
