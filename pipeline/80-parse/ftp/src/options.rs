//! What can be set.

/// Limits and wishes; the defaults suit a machine that sees many sessions.
#[derive(Clone, Copy, Debug)]
pub struct FtpOptions {
    /// Whether the log has every command, not only those that Zeek logs.
    pub all_commands: bool,
    /// Connections followed at once in a shard.
    pub shard_connections_max: u32,
    /// Bytes of commands and replies that are kept in a shard.
    pub shard_bytes_max: u32,
    /// Bytes of a line that are kept; what stands behind them is passed over.
    pub line_bytes_max: u32,
    /// Commands of one connection that wait for their reply.
    pub commands_max: u32,
    /// Bytes of the replies to one command that are kept.
    pub reply_bytes_max: u32,
    /// Lines of them.
    pub reply_lines_max: u32,
}

impl Default for FtpOptions {
    fn default() -> Self {
        Self {
            all_commands: false,
            shard_connections_max: 1 << 12,
            shard_bytes_max: 1 << 20,
            // Suricata's default.
            line_bytes_max: 4096,
            commands_max: 1024,
            reply_bytes_max: 16 << 10,
            reply_lines_max: 256,
        }
    }
}
