//! Pairs requests with responses, and writes a record of both.

mod expect;
mod queue;
mod write;

pub(crate) use queue::TRANSACTION_BYTES;
pub(crate) use write::{file_number, record};
