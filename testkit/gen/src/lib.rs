//! Makes traces: conversations with chosen characteristics, and the truth about them.
//!
//! ```text
//!  options ──► plan: packets, bytes, close of each connection, so that averages come out
//!                │
//!  talk: what is said ──► script: messages, cut into segments ──► conversation: handshake,
//!                │                                                acks, troubles, close
//!  wheel: who sends when ──► net: frames ──► out: pcap, pcapng        └──► truth
//! ```
//!
//! Owns all choices, and makes them from the seed alone: the same options give the same bytes on
//! every machine. Written apart from the product's decoders, so that what one gets wrong the
//! other finds. Keeps about 300 bytes for each connection that is open, and nothing for a packet.
//!
//! ```
//! use flowpin_gen::{Kind, Options, generate};
//! let options = Options { connections: 50, concurrency: 5.0, ..Options::new(Kind::Http) };
//! let mut capture = Vec::new();
//! let totals = generate(&options, &mut capture, None)?;
//! assert_eq!(totals.connections, 50);
//! assert_eq!(totals.file_bytes, capture.len() as u64);
//! # Ok::<(), flowpin_gen::Error>(())
//! ```

mod conversation;
mod generate;
mod net;
mod options;
mod out;
mod plan;
mod preset;
mod random;
mod replicate;
mod script;
mod talk;
mod trace;
mod truth;
mod wheel;

pub use generate::generate;
pub use options::{Bounds, Format, Kind, Options, OptionsError, Service, Troubles, Tunnel};
pub use out::Interface;
pub use preset::{PRESETS, Preset};
pub use replicate::{Damaged, Replicated, Replication, replicate};
pub use truth::{Characteristics, ServiceTotals, Totals};

/// Why no trace was made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No trace can be like that.
    #[error(transparent)]
    Options(#[from] OptionsError),
    /// A capture to multiply cannot be read.
    #[error(transparent)]
    Read(#[from] flowpin_capture::CaptureError),
    /// The capture or the truth cannot be written.
    #[error(transparent)]
    Write(#[from] std::io::Error),
}
