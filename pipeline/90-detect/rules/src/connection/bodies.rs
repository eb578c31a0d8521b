//! The beginnings of bodies, kept until the message that they belong to is complete.

use super::state::Connection;
use flowpin_memory::{Budget, Chain, Chains, Pool};
use std::collections::HashMap;
use std::io;

/// Bodies of all connections of a worker.
#[derive(Debug)]
pub(super) struct Bodies {
    /// By handle and number.
    known: HashMap<(u32, u64), Chain>,
    bytes: Chains,
}

impl Bodies {
    pub(super) fn new(budget: &Budget) -> io::Result<Self> {
        Ok(Self {
            known: HashMap::new(),
            bytes: Chains::new(budget, BLOCK_BYTES)?,
        })
    }

    /// Keeps the next bytes of a body; how many did not fit into its shard's memory.
    pub(super) fn add(
        &mut self,
        handle: u32,
        connection: &mut Connection,
        number: u64,
        bytes: &[u8],
    ) -> u64 {
        if connection.bodies >= COUNT_MAX && !self.known.contains_key(&(handle, number)) {
            return bytes.len() as u64;
        }
        let body = self.known.entry((handle, number)).or_insert_with(|| {
            connection.bodies += 1;
            Chain::default()
        });
        let room = BYTES_MAX.saturating_sub(body.len()).min(bytes.len());
        let kept = bytes.get(..room).unwrap_or_default();
        match self.bytes.append(connection.shard, body, kept) {
            true => 0,
            false => kept.len() as u64,
        }
    }

    /// Takes a body out; false if there is none.
    pub(super) fn take(
        &mut self,
        handle: u32,
        connection: &mut Connection,
        number: u64,
        out: &mut Vec<u8>,
    ) -> bool {
        out.clear();
        if connection.bodies == 0 {
            return false;
        }
        let Some(mut body) = self.known.remove(&(handle, number)) else {
            return false;
        };
        connection.bodies -= 1;
        out.reserve(body.len());
        self.bytes.read(&body, out);
        self.bytes.release(connection.shard, &mut body);
        true
    }

    /// Gives everything of a connection back.
    pub(super) fn end(&mut self, handle: u32, connection: &mut Connection) {
        if connection.bodies == 0 {
            return;
        }
        let (bytes, shard) = (&mut self.bytes, connection.shard);
        self.known.retain(|&(of, _), body| {
            if of == handle {
                bytes.release(shard, body);
            }
            of != handle
        });
        connection.bodies = 0;
    }

    pub(super) fn pools(&mut self, visit: &mut dyn FnMut(&mut dyn Pool)) {
        visit(self.bytes.pool());
    }
}

/// Of each body so much is examined: Suricata's default.
pub(super) const BYTES_MAX: usize = 100 << 10;
/// Bodies of one connection whose messages are open.
const COUNT_MAX: u16 = 64;
const BLOCK_BYTES: usize = 2048;
