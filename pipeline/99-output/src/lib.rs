//! Records to files: formatted on the workers, merged by time, written once.
//!
//! ```text
//!  worker 0: Formatter ──RecordBatch──┐            ┌─► eve.json   (all types)
//!  worker 1: Formatter ──RecordBatch──┼─► Merger ──┼─► conn.log, weird.log, …
//!  input:    Formatter ──RecordBatch──┘  (by key)  └─► conn.parquet, …
//!               ▲                           │
//!               └────── empty batches ──────┘
//! ```
//!
//! EVE's lines may go to another program instead (`stream`), Parquet's files to a bucket
//! (`bucket`). Streams of bytes, and files that connections carry, go to files of their own:
//! [`StreamFiles`], [`ExtractedFiles`].
//!
//! Owns the formats, the order of the output and the files. Guarantees that the files are
//! byte-identical for any number of workers, and that a failure leaves whole records behind.
//! Does not decide threads: [`Merger`] and [`Writers`] are plain structures that the engine
//! drives from where it likes.

mod appender;
mod assemble;
mod batch;
#[cfg(feature = "s3")]
mod bucket;
#[cfg(not(feature = "s3"))]
#[path = "bucket/none.rs"]
mod bucket;
mod error;
mod extracted_files;
mod files;
mod format;
mod merge;
mod messages;
mod page;
mod stream;
mod stream_files;
mod text;

pub use assemble::{AssembleError, Assembled, assemble, divided_logs};
pub use batch::{RecordBatch, RecordLine};
pub use error::{FileError, OutputError, StreamFilesError};
pub use extracted_files::{ExtractedFiles, earlier_extracted};
pub use files::{
    BatchSink, Disk, Earlier, FileInfo, MessageCount, OutputSummary, Storage, TableSchema, Target,
    Writers,
};
pub use format::{Formatter, MessageSchemas};
pub use merge::Merger;
pub use page::records_page;
pub use stream::{StreamHooks, Tell};
pub use stream_files::{GAP_FILL_MAX, Gaps, StreamFiles, StreamFilesOptions, StreamId, gap_note};
pub use text::{eve_time, file_name_time};
