//! Assembles handshake messages from the records of one direction (RFC 8446 §4, RFC 5246 §7.4).

use crate::facts::{CERTIFICATE, CLIENT_HELLO, Notes, SERVER_HELLO, SERVER_KEY_EXCHANGE};
use crate::ja4::Carrier;
use crate::pools::{Blocks, Gathered, MESSAGE_BYTES_MAX};

/// The state of one direction's handshake.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Assembler {
    /// Type and length of the current message, as far as received.
    header: [u8; 4],
    header_len: u8,
    /// Bytes of its body still to come.
    left: u32,
    /// How many of the first bytes of its body are wanted, and how many are stored.
    wanted: u32,
    filled: u32,
    gathered: Gathered,
}

impl Assembler {
    /// Processes the next bytes.
    pub(crate) fn feed(
        &mut self,
        mut bytes: &[u8],
        to_server: bool,
        shard: u8,
        blocks: &mut Blocks,
        notes: &mut Notes<'_>,
    ) {
        while !bytes.is_empty() {
            if usize::from(self.header_len) < self.header.len() {
                bytes = self.read_header(bytes, to_server, notes);
            } else {
                bytes = self.read_body(bytes, to_server, shard, blocks, notes);
            }
            if usize::from(self.header_len) == self.header.len() && self.left == 0 {
                self.header_len = 0;
            }
        }
    }

    #[inline]
    fn read_header<'a>(
        &mut self,
        bytes: &'a [u8],
        to_server: bool,
        notes: &mut Notes<'_>,
    ) -> &'a [u8] {
        let rest = if self.header_len == 0
            && let Some((header, rest)) = bytes.split_first_chunk()
        {
            (self.header, self.header_len) = (*header, 4);
            rest
        } else {
            let Some((&byte, rest)) = bytes.split_first() else {
                return bytes;
            };
            if let Some(place) = self.header.get_mut(usize::from(self.header_len)) {
                *place = byte;
            }
            self.header_len = self.header_len.saturating_add(1);
            rest
        };
        if self.header_len == 4 {
            let [kind, high, middle, low] = self.header;
            notes.facts.history.message(kind, to_server);
            self.left = u32::from_be_bytes([0, high, middle, low]);
            self.wanted = self.left.min(wanted(kind, to_server, notes));
            self.filled = 0;
        }
        rest
    }

    fn read_body<'a>(
        &mut self,
        bytes: &'a [u8],
        to_server: bool,
        shard: u8,
        blocks: &mut Blocks,
        notes: &mut Notes<'_>,
    ) -> &'a [u8] {
        let len = bytes.len().min(self.left as usize);
        let (body, rest) = bytes.split_at(len);
        let missing = self.wanted.saturating_sub(self.filled) as usize;
        let [kind, high, middle, low] = self.header;
        let message = (kind, u32::from_be_bytes([0, high, middle, low]) as usize);
        if missing > 0 {
            let part = body.get(..missing).unwrap_or(body);
            if self.filled == 0 && part.len() == missing {
                // The usual case: the whole body is available in place.
                notes.message(message, part, to_server, Carrier::Tcp);
                self.wanted = 0;
            } else if self.gathered.put(blocks, shard, self.filled as usize, part) {
                let part = u32::try_from(part.len()).unwrap_or(u32::MAX);
                self.filled = self.filled.saturating_add(part);
                if self.filled == self.wanted {
                    let whole = self.gathered.bytes(blocks, self.filled as usize);
                    notes.message(message, whole, to_server, Carrier::Tcp);
                    self.forget(shard, blocks);
                }
            } else {
                self.forget(shard, blocks);
            }
        }
        self.left = self
            .left
            .saturating_sub(u32::try_from(len).unwrap_or(u32::MAX));
        rest
    }

    /// Frees the stored bytes, which are no longer needed.
    pub(crate) fn forget(&mut self, shard: u8, blocks: &mut Blocks) {
        self.gathered.free(blocks, shard);
        self.wanted = 0;
        self.filled = 0;
    }
}

/// Returns how many bytes of a message's body are of interest.
pub(crate) const fn wanted(kind: u8, to_server: bool, notes: &Notes<'_>) -> u32 {
    #[expect(clippy::cast_possible_truncation, reason = "16 KiB")]
    const MOST: u32 = MESSAGE_BYTES_MAX as u32;
    match (kind, to_server) {
        (CLIENT_HELLO, true) | (SERVER_HELLO | CERTIFICATE, false) => MOST,
        (CERTIFICATE, true) if notes.told.is_some() => MOST,
        (SERVER_KEY_EXCHANGE, false) => 4,
        _ => 0,
    }
}
