//! What is looked at, and how much is kept.

/// Limits and wishes. Limits named after shards hold in each of the 256 shards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HttpOptions {
    /// Connections that are followed in one shard.
    pub shard_connections_max: u32,
    /// Transactions that are open in one shard.
    pub shard_transactions_max: u32,
    /// Bytes of texts and of incomplete lines in one shard.
    pub shard_text_bytes_max: u32,
    /// Requests of one connection that wait for their response.
    pub pipelined_max: u32,
    /// Bytes of a line of a head that are looked at.
    pub line_bytes_max: u32,
    /// Bytes of a head before it is told to be too long; it is read all the same.
    pub head_bytes_max: u32,
    /// Bytes of one value that are kept for its record.
    pub value_bytes_max: u16,
    /// Records have all fields of request and response.
    pub all_fields: bool,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            shard_connections_max: 4096,
            shard_transactions_max: 8192,
            shard_text_bytes_max: 8 << 20,
            pipelined_max: 256,
            line_bytes_max: 16 << 10,
            head_bytes_max: 64 << 10,
            value_bytes_max: 8 << 10,
            all_fields: false,
        }
    }
}
