//! Entry point for fuzzing.

/// Fragments made from `data`, in a small defragmenter.
pub fn fuzz_defrag(data: &[u8]) {
    let _ = data;
}
