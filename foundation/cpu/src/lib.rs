//! What needs the processor itself: prefetch, wide checksums, pinning, the time stamp counter.
//!
//! Safe wrappers around what the standard library does not offer. Each has a plain fallback, so
//! that everything builds and works, if slower, on other processors and systems.

mod affinity;
mod byte_set;
pub mod bytes;
mod interrupts;
pub mod prefetch;
mod sha1;
mod started;
mod topology;
mod tsc;
mod usage;

pub use affinity::{allow_current_thread, allowed_cpus, current_cpu, pin_current_thread};
pub use byte_set::{
    BLOCK_BYTES, BYTE_SETS_MAX, BlockMasks, ByteSet, ByteSets, Classifier, OneByOne,
    WithClassifier, with_classifier,
};
pub use interrupts::{Interrupt, interrupts};
pub use sha1::sha1_block;
pub use started::began_without_stdout;
pub use topology::{cache_sharing_groups, choose_cpus};
pub use tsc::{TscRate, tsc};
pub use usage::{
    CpuTime, peak_resident_bytes, process_cpu_time, resident_bytes, thread_cpu_time,
    thread_wait_time,
};
