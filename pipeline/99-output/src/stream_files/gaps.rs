//! What is written where the capture has no bytes.

/// What is written for bytes that are missing in the capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Gaps {
    /// As many zeros, so that every byte has its offset in the stream, as with tcpflow.
    #[default]
    Zero,
    /// Nothing: the next bytes follow at once.
    Skip,
    /// A note in words: see [`gap_note`].
    Note,
}

/// At most this many zeros are written for a gap: a forged packet could make one of many GiB.
pub const GAP_FILL_MAX: u64 = 16 << 20;

/// The note for a gap of `len` bytes, in Wireshark's words.
///
/// ```
/// assert_eq!(flowpin_output::gap_note(7), "[7 bytes missing in capture file]");
/// ```
pub fn gap_note(len: u64) -> String {
    format!("[{len} bytes missing in capture file]")
}
