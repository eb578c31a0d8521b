//! The options of the parsers.

/// Limits of a worker's parsers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextOptions {
    /// Unanswered questions in one direction of a connection.
    pub questions_max: u32,
    /// Bytes of one text; longer ones are cut.
    pub text_len_max: usize,
    /// Members of one list.
    pub list_len_max: usize,
}

impl Default for TextOptions {
    fn default() -> Self {
        Self {
            questions_max: 256,
            text_len_max: 4096,
            list_len_max: 32,
        }
    }
}
