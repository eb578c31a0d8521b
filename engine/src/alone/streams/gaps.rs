//! What is written where the capture has no bytes.

/// What is written in the place of bytes that the capture does not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Gaps {
    /// As many zeros, so that every byte lies at its offset in the stream. tcpflow does so.
    #[default]
    Zero,
    /// Nothing: what comes after is written next.
    Skip,
    /// A note in words: see [`gap_note`].
    Note,
}

/// Longer gaps are filled with so many zeros only: a forged packet could ask for many GiB.
pub const GAP_FILL_MAX: u64 = 16 << 20;

/// What stands for a gap of `len` bytes; the words are Wireshark's.
///
/// ```
/// assert_eq!(flowpin_engine::gap_note(7), "[7 bytes missing in capture file]");
/// ```
pub fn gap_note(len: u64) -> String {
    format!("[{len} bytes missing in capture file]")
}
