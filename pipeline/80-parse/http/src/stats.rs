//! Counters of the parser.

/// Sums over all connections of one worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HttpStats {
    /// Requests whose line was read.
    pub requests: u64,
    /// Responses whose status line was read, interim ones too.
    pub responses: u64,
    /// Records written.
    pub records: u64,
    /// Records of files written.
    pub files: u64,
    /// Bytes of heads and chunk lines.
    pub head_bytes: u64,
    /// Bytes of bodies, also those that were skipped or are missing.
    pub body_bytes: u64,
    /// How often the parser had to find the next message.
    pub resyncs: u64,
}

impl HttpStats {
    /// Adds another worker's.
    pub fn add(&mut self, other: &Self) {
        let sum = |mine: &mut u64, theirs: u64| *mine = mine.wrapping_add(theirs);
        sum(&mut self.requests, other.requests);
        sum(&mut self.responses, other.responses);
        sum(&mut self.records, other.records);
        sum(&mut self.files, other.files);
        sum(&mut self.head_bytes, other.head_bytes);
        sum(&mut self.body_bytes, other.body_bytes);
        sum(&mut self.resyncs, other.resyncs);
    }
}
