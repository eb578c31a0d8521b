//! Relations between messages: sessions by sequence numbers, orders by ClOrdID.

pub(crate) mod heartbeat;
pub(crate) mod orders;
pub(crate) mod sequence;
