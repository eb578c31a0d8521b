//! Reserved address space, slabs and pools, per core.
