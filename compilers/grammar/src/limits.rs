//! What a grammar may cost.

/// Bounds on a grammar and on what compiling it takes. Each refusal names the one that was broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the grammar's text.
    pub text_bytes_max: usize,
    /// Rules.
    pub rules_max: usize,
    /// Start conditions.
    pub conditions_max: usize,
    /// Parentheses and definitions within each other.
    pub depth_max: usize,
    /// The greatest repetition count.
    pub repeat_max: u32,
    /// States of the nondeterministic automaton: parts of patterns, counts written out.
    pub parts_max: usize,
    /// States of the automaton.
    pub states_max: usize,
    /// Bytes of the automaton's table.
    pub table_bytes_max: usize,
    /// Steps of determinisation.
    pub steps_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            text_bytes_max: 1 << 20,
            rules_max: 4096,
            conditions_max: 256,
            depth_max: 100,
            repeat_max: 1000,
            parts_max: 50_000,
            states_max: 10_000,
            table_bytes_max: 4 << 20,
            steps_max: 100_000_000,
        }
    }
}
