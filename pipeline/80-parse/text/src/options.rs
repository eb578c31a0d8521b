//! What can be set.

/// Limits of a worker's parsers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextOptions {
    /// Connections followed at once in a shard.
    pub shard_connections_max: u32,
    /// Bytes of captured texts in a shard; as many again for beginnings of tokens.
    pub shard_bytes_max: u64,
    /// Questions that wait for their answers, in a shard.
    pub shard_questions_max: u32,
    /// Questions that wait for their answers, in one direction of a connection.
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
