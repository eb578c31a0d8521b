//! Makes a parallel C program of a sequential one that analyses packets.
//!
//! ```text
//!  compile_commands.json ─► program ─► collect (libclang 19) ─► Model ─► classify ─► report
//!                                                                 │         │
//!                                                                 └► rewrite ◄┘ ─► C, verify
//! ```
//!
//! Owns the model of a whole C program, the transformation to one state for each core, and the C
//! run-time that every output holds (`runtime/`). Guarantees that what cannot be shown to be safe
//! is refused with its place and reason; nothing is linked: libclang is loaded when it is needed.
//!
//! Deliberately does not optimise, and knows no program: what it cannot see, `#pragma flowpin`
//! says.

mod check;
mod clang;
mod classify;
mod collect;
pub mod model;
mod patterns;
mod program;
mod report;
mod rewrite;
mod scanner;
mod unity;

pub use check::{Answer, CaptureError, CheckError, Key, Question, check};
pub use clang::LibraryError;
pub use classify::{Closure, Decision, Hidden, Verdict, decide, hidden};
pub use collect::{ReadError, collect, collect_telling};
pub use patterns::{FlexFile, FlexOptions, flex_file};
pub use program::{SourceUnit, Sources, SourcesError};
pub use report::{Conflict, CutReport, Report, cut, cut_text, report, text as report_text};
pub use rewrite::{Alloc, Backend, Choices, Fifo, Output, OutputFile, Refusal, transform, verify};
pub use scanner::{PushScanner, ScannerError, push_scanner};
pub use unity::{Unity, unite};
