//! Fuzzing.

/// Makes segments out of `data`.
pub fn fuzz_reassembly(_data: &[u8]) {}
