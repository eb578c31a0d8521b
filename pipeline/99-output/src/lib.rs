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
//! Owns the formats, the order of the output and the files. Guarantees that the files are
//! byte-identical for any number of workers, and that a failure leaves whole records behind.
//! Does not decide threads: [`Merger`] and [`Writers`] are plain structures that the engine
//! drives from where it likes.

mod batch;
mod error;
mod files;
mod format;
mod merge;
mod messages;
mod page;
mod text;

pub use batch::{RecordBatch, RecordLine};
pub use error::OutputError;
pub use files::{Disk, Earlier, FileInfo, MessageCount, OutputSummary, Storage, Target, Writers};
pub use format::{Formatter, MessageSchemas};
pub use merge::Merger;
pub use page::records_page;
