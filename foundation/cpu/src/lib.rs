//! What needs the processor itself: prefetch, wide checksums, pinning, the time stamp counter.
//!
//! Safe wrappers around what the standard library does not offer. Each has a plain fallback, so
//! that everything builds and works, if slower, on other processors and systems.

pub mod prefetch;
