//! The file of one body, within the quota of its shard.

use crate::options::BodyOptions;
use flowpin_content::FileQuota;

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
