//! Limits on files for a whole run: how many one shard writes, and how long they are together.

use crate::options::BodyOptions;

/// The files that one shard has written.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FileQuota {
    files: u64,
    bytes: u64,
}

impl FileQuota {
    /// Whether one more file is allowed; if so, it counts.
    pub(super) const fn begin(&mut self, options: &BodyOptions) -> bool {
        let has_room = self.files < options.shard_files_max && self.room(options) > 0;
        if has_room {
            self.files = self.files.saturating_add(1);
        }
        has_room
    }

    /// How many of `len` more bytes are allowed; these count.
    pub(super) fn take(&mut self, len: u64, options: &BodyOptions) -> u64 {
        let taken = len.min(self.room(options));
        self.bytes = self.bytes.saturating_add(taken);
        taken
    }

    const fn room(&self, options: &BodyOptions) -> u64 {
        options.shard_file_bytes_max.saturating_sub(self.bytes)
    }
}

/// The file of one body: its bytes go to the sink, within the quota of its shard.
pub(super) struct FileOutput<'a, S> {
    pub(super) sink: &'a mut S,
    pub(super) quota: &'a mut FileQuota,
    pub(super) options: &'a BodyOptions,
    /// Which of its connection's files it is.
    pub(super) number: u64,
    /// Whether the body becomes a file at all.
    pub(super) is_file: bool,
    /// Bytes beyond the quota.
    pub(super) left_out: u64,
}
