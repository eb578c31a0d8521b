//! Protocols and rules by number.

/// A protocol by its place in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProtocolId(pub u16);

/// Patterns that were loaded are numbered from here on, as protocols and as rules: so they cannot
/// be own ones.
pub const LOADED_FIRST: u16 = 0x8000;

/// A rule by its place among all rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleId(pub u16);
