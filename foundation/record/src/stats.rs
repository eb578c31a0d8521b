//! Figures about the run itself, which may differ between two runs over the same input.

/// Named figures, in the order in which they are to be shown.
///
/// Exempt from the promise that output is the same for any pipeline, so never written to a file
/// that holds other records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatsRecord {
    /// Name and value; names are lower case, words joined by `_`, groups by `.`.
    pub figures: Vec<(String, u64)>,
}

impl StatsRecord {
    /// Adds one figure.
    pub fn put(&mut self, name: impl Into<String>, value: u64) {
        self.figures.push((name.into(), value));
    }
}
