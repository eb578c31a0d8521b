//! What WebSockets carry, out of their frames (RFC 6455 §5).
//!
//! ```text
//!  bytes of one direction ──► frames ──► payload of data frames, unmasked, in order
//!                               │
//!                               └─ control frames, passed over
//! ```
//!
//! One [`WebSocket`] a worker, from the first byte behind the handshake on. Guarantees that what is
//! carried does not depend on how the bytes were cut; memory is capped in each shard; nothing is
//! allocated in steady state. A side that breaks the rules of frames, or whose payload an extension
//! has changed, carries nothing more.
//!
//! Deliberately does not: open compressed messages (RFC 7692): what is looked for, TLS, is not
//! compressed by those who tunnel it, and a window for each side of each chat would be kept for
//! nothing; tell messages apart. Most WebSockets carry texts that nobody reads; who
//! tunnels a stream through one does not mind where its messages end.

#![deny(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]
#![cfg_attr(
    test,
    allow(
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects,
        clippy::cast_possible_truncation,
        clippy::unwrap_used
    )
)]

mod carried;
mod frames;
mod fuzz;
#[cfg(test)]
mod tests;

pub use carried::Carried;
use flowpin_counters::{Loss, Losses};
use flowpin_memory::Slab;
use flowpin_packet::Shard;
use frames::Frames;
#[doc(hidden)]
pub use fuzz::fuzz_websocket;
use std::io;

/// Limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WebSocketOptions {
    /// Connections that are followed in each of the 256 shards.
    pub shard_connections_max: u32,
}

impl Default for WebSocketOptions {
    fn default() -> Self {
        Self {
            shard_connections_max: 1024,
        }
    }
}

/// The WebSockets of one worker.
#[derive(Debug)]
pub struct WebSocket {
    connections: Slab<Connection>,
    /// By shard: how many there are.
    counts: Box<[u32; 256]>,
    options: WebSocketOptions,
    losses: Losses,
}

#[derive(Clone, Copy, Debug)]
struct Connection {
    sides: [Frames; 2],
    shard: Shard,
    reader: Option<u32>,
}

/// A side has broken the rules, or has lost its way: nothing more can be read of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost;

impl WebSocket {
    /// No connections yet.
    ///
    /// # Errors
    /// Where the system refuses address space.
    pub fn new(options: WebSocketOptions) -> io::Result<Self> {
        Ok(Self {
            connections: Slab::with_capacity(options.shard_connections_max.saturating_mul(256))?,
            counts: Box::new([0; 256]),
            options,
            losses: Losses::default(),
        })
    }

    /// Begins a connection; none if its shard has its most.
    pub fn begin(&mut self, shard: Shard) -> Option<u32> {
        let count = self.counts.get_mut(usize::from(shard.0))?;
        if *count >= self.options.shard_connections_max {
            self.losses.count(Loss::WebSocketConnections, 1);
            return None;
        }
        let handle = self.connections.insert(Connection {
            sides: [Frames::default(); 2],
            shard,
            reader: None,
        })?;
        *count = count.saturating_add(1);
        Some(handle)
    }

    /// Who reads what a connection carries: a handle of the caller's, none at first.
    pub fn reader(&self, handle: u32) -> Option<u32> {
        self.connections.get(handle)?.reader
    }

    /// Its shard.
    pub fn shard(&self, handle: u32) -> Option<Shard> {
        Some(self.connections.get(handle)?.shard)
    }

    /// Remembers who reads.
    pub fn set_reader(&mut self, handle: u32, reader: Option<u32>) {
        if let Some(connection) = self.connections.get_mut(handle) {
            connection.reader = reader;
        }
    }

    /// The next bytes of one direction; `carried` gets what data frames carry, and where in all
    /// that this direction carries it begins.
    ///
    /// # Errors
    /// The side has broken the rules.
    pub fn data(
        &mut self,
        handle: u32,
        to_server: bool,
        bytes: &[u8],
        carried: &mut dyn FnMut(u64, &[u8]),
    ) -> Result<(), Lost> {
        self.side(handle, to_server)?.read(bytes, carried)
    }

    /// Bytes of one direction are missing: how many of them were carried.
    ///
    /// # Errors
    /// The missing bytes hold the beginning of a frame.
    pub fn gap(&mut self, handle: u32, to_server: bool, len: u64) -> Result<u64, Lost> {
        self.side(handle, to_server)?.skip(len)
    }

    /// The connection is over.
    pub fn end(&mut self, handle: u32) {
        let Some(shard) = self.shard(handle) else {
            return;
        };
        if let Some(count) = self.counts.get_mut(usize::from(shard.0)) {
            *count = count.saturating_sub(1);
        }
        self.connections.remove(handle);
    }

    /// What was not followed.
    pub const fn losses(&self) -> &Losses {
        &self.losses
    }

    fn side(&mut self, handle: u32, to_server: bool) -> Result<&mut Frames, Lost> {
        let connection = self.connections.get_mut(handle).ok_or(Lost)?;
        let [client, server] = &mut connection.sides;
        Ok(if to_server { client } else { server })
    }
}
