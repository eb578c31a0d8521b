//! The options of the parser.

/// Limits and output options; the defaults suit a machine that sees many sessions.
#[derive(Clone, Copy, Debug)]
pub struct FtpOptions {
    /// Whether the log has every command, not only those that Zeek logs.
    pub all_commands: bool,
    /// Connections followed at the same time in each shard.
    pub shard_connections_max: u32,
    /// Bytes of commands and replies kept in each shard.
    pub shard_bytes_max: u32,
    /// Bytes kept of a line; the rest is skipped.
    pub line_bytes_max: u32,
    /// Waiting commands of one connection.
    pub commands_max: u32,
    /// Bytes kept of the replies to one command.
    pub reply_bytes_max: u32,
    /// Lines kept of the replies to one command.
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
