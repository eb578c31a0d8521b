//! What parsers keep of connections.

/// Byte strings that grow, charged to the memory of their shards.
pub use flowpin_memory::Chains as KeptBytes;

/// What a value in a [`Slab`](flowpin_memory::Slab) takes: its slot, and its place in the list of
/// free ones. A parser with one slab of connections has this as its
/// [`CONNECTION_BYTES`](crate::Parser::CONNECTION_BYTES).
pub const fn slot_bytes<T>() -> u32 {
    let bytes = size_of::<T>() + size_of::<u32>();
    assert!(bytes < 1 << 20, "a slot is small");
    bytes as u32
}
