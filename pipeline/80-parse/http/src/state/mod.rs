//! The state between two segments: of connections, of each side, of open transactions, and their
//! texts.

mod connection;
mod texts;
mod transaction;

pub(crate) use connection::{Connection, Framing, Phase, Queue, Side};
pub(crate) use texts::Texts;
pub(crate) use transaction::{Part, Text, Transaction};

/// No transaction, no body.
pub(crate) const NONE: u32 = u32::MAX;
