//! How much of one shard's bodies was handed on as files: a limit on a whole run.

use crate::options::BodyOptions;

/// What one shard has handed on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Kept {
    files: u64,
    bytes: u64,
}

impl Kept {
    /// Whether one more file may be; if so, it counts.
    pub(super) const fn begin(&mut self, options: &BodyOptions) -> bool {
        let has_room = self.files < options.shard_files_max && self.room(options) > 0;
        if has_room {
            self.files = self.files.saturating_add(1);
        }
        has_room
    }

    /// How many of so many more bytes may be; these count.
    pub(super) fn take(&mut self, len: u64, options: &BodyOptions) -> u64 {
        let taken = len.min(self.room(options));
        self.bytes = self.bytes.saturating_add(taken);
        taken
    }

    const fn room(&self, options: &BodyOptions) -> u64 {
        options.shard_file_bytes_max.saturating_sub(self.bytes)
    }
}
