//! Flowpin as a C library: what `include/flowpin.h` declares, and nothing else.
//!
//! ```text
//!  flowpin_set, flowpin_read ─► Settings ─► Plan ─► flowpin_engine ─► callbacks
//! ```
//!
//! Pointers come from C: each function says what it takes for granted, which the header promises.
//! No panic crosses the border: it ends in `FLOWPIN_FAILED`.

#![allow(
    clippy::missing_safety_doc,
    reason = "the header says what callers promise"
)]

mod handle;
mod packets;
mod records;
mod streams;
mod text;

pub use handle::*;
pub use packets::*;
pub use records::*;
pub use streams::*;
pub use text::Text;

use core::ffi::c_char;

/// `FLOWPIN_ABI` of the header.
const ABI: u32 = 1;

/// The number of the interface.
#[unsafe(no_mangle)]
pub extern "C" fn flowpin_abi_version() -> u32 {
    ABI
}

/// The version of the library.
#[unsafe(no_mangle)]
pub extern "C" fn flowpin_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}
