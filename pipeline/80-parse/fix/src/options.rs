//! What can be set.

use crate::Dictionary;
use std::sync::{Arc, LazyLock};

/// Limits and wishes; the defaults suit a machine that sees many sessions.
#[derive(Clone, Debug)]
pub struct FixOptions {
    /// Names and types.
    pub dictionary: Arc<Dictionary>,
    /// Whether records have every field, not only the common ones.
    pub all_fields: bool,
    /// Connections followed at once in a shard.
    pub shard_connections_max: u32,
    /// Bytes of messages that are not yet whole, in a shard.
    pub shard_bytes_max: u32,
    /// Bytes of one message; a longer one is passed over.
    pub message_bytes_max: u32,
    /// Fields of one message; more are left out.
    pub fields_max: u32,
    /// Requests without a report that are remembered, in a shard.
    pub shard_orders_max: u32,
}

impl Default for FixOptions {
    fn default() -> Self {
        Self {
            dictionary: Arc::clone(&BUNDLED),
            all_fields: false,
            shard_connections_max: 1 << 12,
            shard_bytes_max: 1 << 20,
            message_bytes_max: 1 << 16,
            fields_max: 4096,
            shard_orders_max: 1 << 11,
        }
    }
}

/// The bundled table, made once for all workers: it takes a millisecond.
static BUNDLED: LazyLock<Arc<Dictionary>> = LazyLock::new(|| Arc::new(Dictionary::bundled()));
