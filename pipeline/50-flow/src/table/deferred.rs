//! What deferred work may still take of each shard's memory.
//!
//! The observer defers much of its work until the end of a batch (decision 0018), but the table
//! takes memory at once. Which of the two finds the memory used up must not depend on where batches
//! end. So each packet is admitted only if its shard has enough left for everything that it and the
//! deferred packets of the shard may take: then nothing is refused, in whatever order they take it.
//! Otherwise the deferred work is done first, and what is evicted is decided on the exact state
//! (decision 0029).

use flowpin_memory::Budget;
use flowpin_packet::{PacketMeta, SHARD_COUNT, TcpFlags};

/// By shard: the most that deferred packets may take, in bytes.
#[derive(Debug)]
pub(super) struct Deferred {
    bytes: Box<[u32; SHARD_COUNT]>,
}

impl Default for Deferred {
    fn default() -> Self {
        Self {
            bytes: Box::new([0; SHARD_COUNT]),
        }
    }
}

impl Deferred {
    /// Adds a packet; false if its shard has less left than all of them may take.
    #[inline]
    pub(super) fn admits(&mut self, meta: &PacketMeta, budget: &Budget) -> bool {
        let shard = meta.shard().0;
        let bytes = &mut self.bytes[usize::from(shard)];
        *bytes = bytes.saturating_add(most_of(meta));
        u64::from(*bytes) <= budget.left(shard)
    }

    /// The deferred work was done.
    pub(super) fn clear(&mut self) {
        self.bytes.fill(0);
    }
}

/// The most that a packet may take: in the table, in reassembly, and of what reads its bytes.
#[inline]
fn most_of(meta: &PacketMeta) -> u32 {
    match meta.payload_len {
        0 if !meta.tcp_flags.has_any(TALKS) => EMPTY_NEED,
        len => NEED + REPLAYED + len.saturating_mul(NEED_PER_BYTE),
    }
}

/// What a shard has left for a packet once its oldest connections made way: enough for what most
/// packets of its kind take.
#[inline]
pub(super) fn need_of(meta: &PacketMeta) -> u32 {
    match meta.payload_len {
        0 => EMPTY_NEED,
        len => NEED + len.saturating_mul(NEED_PER_BYTE),
    }
}

/// A segment without payload that may end a stream or show that bytes before it were received:
/// what was kept of the stream is decided on, as if bytes came.
const TALKS: TcpFlags = TcpFlags::ACK.with(TcpFlags::FIN).with(TcpFlags::RST);

/// Of a packet without payload: a connection, its rare facts, the queue of a stream.
const EMPTY_NEED: u32 = 1 << 10;
/// Of a packet with payload: in addition, first bytes, a parser and what it keeps of a message.
const NEED: u32 = 32 << 10;
/// What a parser may take of bytes that were kept until there was a verdict, however many.
const REPLAYED: u32 = crate::REPLAYED_BYTES_MAX;
/// Of each byte: many short messages, of which each has state.
const NEED_PER_BYTE: u32 = 64;
