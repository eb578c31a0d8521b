//! Reserved address space, slabs and pools, per core.
//!
//! ```text
//!  Mapping     address space from the kernel: zero-filled, resident only where touched
//!    ├─ Reserved<T>   an array of plain values, all zero at first
//!    ├─ Slab<T>       values behind u32 handles, freed ones reused first
//!    ├─ BlockPool     byte blocks of one size behind u32 handles
//!    ├─ Chains        byte strings that grow, in such blocks
//!    └─ Buffers<T>    arrays that grow in one piece, in slots of a few sizes
//!
//!  Budget        how many bytes of all of them each shard may have in use
//! ```
//!
//! Everything has its size from the start, and memory that was never used is never resident. So a
//! core's tables can be sized for the worst case that `--memory` allows while a small capture pays
//! for what it uses. Pools reserve address space as they fill up: they move, their bytes are not
//! copied.
//!
//! Owned by one core: no locks, no atomics. Does not decide what is evicted when a pool is full:
//! that is the policy of the stage that owns it.

#[cfg(flowpin_bench)]
mod apart;
mod blocks;
mod budget;
mod buffers;
mod chains;
mod counting;
mod exiting;
mod handles;
mod mapping;
mod pool;
mod reserved;
mod slab;
mod zeroable;

#[cfg(flowpin_bench)]
pub use apart::{Places, place_values};
pub use blocks::BlockPool;
pub use budget::{Budget, Bytes, Part};
pub use buffers::{Buffer, Buffers};
pub use chains::{Chain, Chains};
pub use counting::CountingAllocator;
pub use exiting::{ExitingAllocator, whole};
pub use pool::Pool;
pub use reserved::Reserved;
pub use slab::Slab;
pub use zeroable::Zeroable;
