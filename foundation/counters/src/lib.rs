//! Named counters: what was refused, what was lost and why, which cap was reached.
//!
//! Each core counts in its own plain structures (single writer, no atomics) and hands them over
//! when it ends, or at a tick; [`Refusals::add`] and friends sum them up.

mod loss;
mod refusals;

pub use loss::{Loss, Losses};
pub use refusals::Refusals;
