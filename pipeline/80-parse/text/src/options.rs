//! The options of the parsers.

/// Limits of a worker's parsers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextOptions {
    /// Connections followed at the same time in each shard.
    pub shard_connections_max: u32,
    /// Bytes of captured texts in each shard. Incomplete tokens may take the same amount again.
    pub shard_bytes_max: u64,
    /// Unanswered questions in each shard.
    pub shard_questions_max: u32,
    /// Unanswered questions in one direction of a connection.
    pub questions_max: u32,
    /// Bytes of one text; longer ones are cut.
    pub text_len_max: usize,
    /// Members of one list.
    pub list_len_max: usize,
}

impl Default for TextOptions {
    fn default() -> Self {
        Self {
            shard_connections_max: 1 << 14,
            shard_bytes_max: 1 << 20,
            shard_questions_max: 1 << 13,
            questions_max: 256,
            text_len_max: 4096,
            list_len_max: 32,
        }
    }
}
