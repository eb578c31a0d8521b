//! Extracts the payload of WebSocket frames (RFC 6455 §5).
//!
//! ```text
//!  bytes of one direction ──► frames ──► payload of data frames, unmasked, in order
//!                               │
//!                               └─ control frames, skipped
//! ```
//!
//! One [`WebSocket`] per worker, which reads from the first byte after the handshake. Guarantees:
//! the payload does not depend on how the bytes were segmented; memory is capped in each shard;
//! nothing is allocated in steady state. After a framing error, or where an extension has changed
//! the payload, the side's remaining bytes are ignored.
//!
//! Deliberately does not:
//!
//! - decompress messages (RFC 7692). The only protocol looked for is TLS, which tunnels do not
//!   compress, and each side of each connection would need a window.
//! - keep message boundaries. A stream tunnelled through a WebSocket does not depend on them.

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
    /// Connections followed at the same time in each of the 256 shards.
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
    /// Number of connections, by shard.
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

/// A side broke the framing rules, or a gap hid a frame header: the rest of it is unreadable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost;

impl WebSocket {
    /// Creates a reader without connections.
    ///
    /// # Errors
    /// If the system refuses address space.
    pub fn new(options: WebSocketOptions) -> io::Result<Self> {
        Ok(Self {
            connections: Slab::with_capacity(options.shard_connections_max.saturating_mul(256))?,
            counts: Box::new([0; 256]),
            options,
            losses: Losses::default(),
        })
    }

    /// Begins a connection; `None` if its shard is full.
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

    /// The caller's handle of the parser that reads the payload; `None` at first.
    pub fn reader(&self, handle: u32) -> Option<u32> {
        self.connections.get(handle)?.reader
    }

    /// The shard of a connection.
    pub fn shard(&self, handle: u32) -> Option<Shard> {
        Some(self.connections.get(handle)?.shard)
    }

    /// Sets the handle that [`reader`](Self::reader) returns.
    pub fn set_reader(&mut self, handle: u32, reader: Option<u32>) {
        if let Some(connection) = self.connections.get_mut(handle) {
            connection.reader = reader;
        }
    }

    /// Reads the next bytes of one direction. `carried` gets the payload of data frames, with its
    /// offset in the direction's whole payload.
    ///
    /// # Errors
    /// If the side broke the framing rules.
    pub fn data(
        &mut self,
        handle: u32,
        to_server: bool,
        bytes: &[u8],
        carried: &mut dyn FnMut(u64, &[u8]),
    ) -> Result<(), Lost> {
        self.side(handle, to_server)?.read(bytes, carried)
    }

    /// Skips missing bytes of one direction; returns how many of them were payload of data frames.
    ///
    /// # Errors
    /// If the missing bytes include the beginning of a frame.
    pub fn gap(&mut self, handle: u32, to_server: bool, len: u64) -> Result<u64, Lost> {
        self.side(handle, to_server)?.skip(len)
    }

    /// Ends a connection.
    pub fn end(&mut self, handle: u32) {
        let Some(shard) = self.shard(handle) else {
            return;
        };
        if let Some(count) = self.counts.get_mut(usize::from(shard.0)) {
            *count = count.saturating_sub(1);
        }
        self.connections.remove(handle);
    }

    /// Counts of connections that were not followed.
    pub const fn losses(&self) -> &Losses {
        &self.losses
    }

    fn side(&mut self, handle: u32, to_server: bool) -> Result<&mut Frames, Lost> {
        let connection = self.connections.get_mut(handle).ok_or(Lost)?;
        let [client, server] = &mut connection.sides;
        Ok(if to_server { client } else { server })
    }
}
