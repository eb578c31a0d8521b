//! The options of the parser.

/// What is reported, and the limits of a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FtpOptions {
    /// Whether the log has every command, not only those that Zeek logs.
    pub(crate) all_commands: bool,
    /// Bytes kept of a line; the rest is skipped.
    pub(crate) line_bytes_max: u32,
    /// Waiting commands of one connection.
    pub(crate) commands_max: u32,
    /// Bytes kept of the replies to one command.
    pub(crate) reply_bytes_max: u32,
    /// Lines kept of the replies to one command.
    pub(crate) reply_lines_max: u16,
}

impl Default for FtpOptions {
    fn default() -> Self {
        Self {
            all_commands: false,
            // Suricata's default.
            line_bytes_max: 4096,
            commands_max: 1024,
            reply_bytes_max: 16 << 10,
            reply_lines_max: 256,
        }
    }
}
