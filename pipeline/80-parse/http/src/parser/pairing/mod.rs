//! Which response belongs to which request, and the record of both.

mod expect;
mod queue;
mod write;

pub(crate) use write::record;
