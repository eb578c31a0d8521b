//! The files: one log per format and record type, each rotated and ended on its own.
//!
//! Owns every open file and the size limit over all of them. Guarantees that after a failure all
//! files hold whole records and the others are ended as their format wants it. Does not order
//! records: they come from the merger.

mod arrow_rows;
mod batches;
mod earlier;
mod frames;
mod log;
mod once;
pub(crate) mod order;
mod parquet_file;
mod parquet_log;
mod parquet_logs;
mod rotation;
mod storage;
mod tables;
mod text_log;
mod writers;
mod writing;

pub use batches::{BatchSink, TableSchema};
pub use earlier::Earlier;
pub use storage::{Disk, Storage, Target};
pub use writers::Writers;

use flowpin_counters::Losses;
use flowpin_record::RecordType;
use std::path::PathBuf;

/// One file, for the summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileInfo {
    /// Where it is.
    pub path: PathBuf,
    /// How long it is, with what still waits in a buffer.
    pub bytes: u64,
    /// How many records are in it.
    pub records: u64,
}

/// The records of one kind of messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageCount {
    /// The name of their schema.
    pub name: String,
    /// Told by parsers, the same whatever formats are chosen: where events and columns tell of the
    /// same, the events, also if only columns are written; of such columns none.
    pub built: u64,
    /// Written, each once, in however many formats.
    pub written: u64,
}

/// What was written, for the summary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutputSummary {
    /// Every file, in the order of formats and record types.
    pub files: Vec<FileInfo>,
    /// Records built by the workers, by type.
    pub built: [u64; RecordType::COUNT],
    /// Records written, by type; each counts once, in however many formats.
    pub written: [u64; RecordType::COUNT],
    /// Messages built and written, by kind.
    pub messages: Vec<MessageCount>,
    /// Only `records_over_limit` can be there.
    pub losses: Losses,
    /// The reader of standard output went away before the end.
    pub reader_left: bool,
    /// What an earlier run had left.
    pub earlier: Earlier,
}
