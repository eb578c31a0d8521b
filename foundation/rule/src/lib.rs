//! Signature rules in typed form: the interface between their compiler and their engine.
//!
//! ```text
//!  rule files ─► compilers/rules ─► RuleSet ─► 90-detect/rules ─► alerts
//!                                     │
//!               keywords, buffers ────┘  one table for the compiler, the engine, the documentation
//! ```
//!
//! Owns what a rule can say ([`Rule`], [`Term`], [`Condition`]), the names of all keywords
//! ([`KEYWORDS`]) and buffers ([`BUFFERS`]). Reads no text and evaluates nothing.

mod address;
mod alerted;
mod buffer;
mod buffer_forms;
mod buffers;
mod buffers_of_texts;
mod condition;
mod cost;
mod keyword;
mod number;
mod page;
mod refused;
mod rule;
mod set;
mod term;
mod time;

pub use address::{AddressSet, PortSet};
pub use alerted::{AlertLedger, Alerted};
pub use buffer::{Buffer, BufferId, BufferSource, Codes, HttpPart, PacketHeader, buffer};
pub use buffers::BUFFERS;
pub use condition::{
    BitAction, ChecksumOf, Condition, Count, CountKind, EventOf, FlagsCheck, FlowCheck, FlowSide,
    FragmentCheck, HeaderNumber, IntOp, ReputationOf, SEQUENCE_GAP, Spoken, Track, Variant,
};
pub use cost::{CostLedger, Costs, RuleCost, SearchCost};
pub use keyword::{KEYWORDS, Keyword, Status, keyword, refused};
pub use number::NumberCheck;
pub use page::keywords_page;
pub use rule::{
    Action, Class, ForwardedAs, ForwardedHop, Header, Place, Protocol, Rule, RuleSet,
    SuppressedSide, Suppression,
};
pub use set::ValueSet;
pub use term::{
    Absent, Asks, Asn1Check, Base64, Base64Mode, ByteJump, ByteMath, ByteTest, Comparison, Content,
    EntropyCheck, Extract, FromBase64, Inspection, IsDataAt, Lookup, MathOp, Operand, Pcre, Term,
    Transform, Width,
};
pub use time::{TimeCheck, seconds_of};
