//! Limits on files for a whole run: how many one shard writes, and how long they are together.

/// Limits of one shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuotaOptions {
    /// Files whose bytes the sink gets.
    pub files: u64,
    /// Bytes of files that the sink gets, gaps among them.
    pub bytes: u64,
}

/// The files that one shard has written.
#[derive(Clone, Copy, Debug, Default)]
pub struct FileQuota {
    files: u64,
    bytes: u64,
}

impl FileQuota {
    /// Whether one more file is allowed; if so, it counts.
    pub const fn begin(&mut self, most: QuotaOptions) -> bool {
        let has_room = self.files < most.files && self.room(most) > 0;
        if has_room {
            self.files = self.files.saturating_add(1);
        }
        has_room
    }

    /// How many of `len` more bytes are allowed; these count.
    pub fn take(&mut self, len: u64, most: QuotaOptions) -> u64 {
        let taken = len.min(self.room(most));
        self.bytes = self.bytes.saturating_add(taken);
        taken
    }

    const fn room(&self, most: QuotaOptions) -> u64 {
        most.bytes.saturating_sub(self.bytes)
    }
}
