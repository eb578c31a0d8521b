//! The records of one direction: their headers and alerts.

use super::{ALERT, CHANGE_CIPHER_SPEC, DATA, HANDSHAKE};
use crate::facts::Facts;
use crate::handshake::Assembler;
use crate::pools::Gathered;

/// The state of one direction.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Side {
    /// Header of the current record (RFC 8446 §5.1), as far as received.
    pub(super) header: [u8; 5],
    pub(super) header_len: u8,
    /// Bytes of the record still to come.
    pub(super) left: u16,
    pub(super) handshake: Assembler,
    alert: [u8; 2],
    alert_len: u8,
    /// Whether this side encrypts its records.
    pub(super) is_encrypted: bool,
    /// Whether nothing readable follows.
    pub(super) is_over: bool,
    /// DTLS: a message in fragments, and how many bytes of it are stored.
    pub(super) gathered: Gathered,
    pub(super) filled: u32,
}

impl Side {
    #[inline]
    pub(super) fn read_header<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        if self.header_len == 0
            && let Some((header, rest)) = bytes.split_first_chunk()
        {
            (self.header, self.header_len) = (*header, 5);
            return rest;
        }
        let Some((&byte, rest)) = bytes.split_first() else {
            return bytes;
        };
        if let Some(place) = self.header.get_mut(usize::from(self.header_len)) {
            *place = byte;
        }
        self.header_len = self.header_len.saturating_add(1);
        rest
    }

    /// Processes a complete header; returns whether it is valid.
    pub(super) fn begin_record(&mut self, to_server: bool, facts: &mut Facts) -> bool {
        let [kind, major, _, high, low] = self.header;
        self.left = u16::from_be_bytes([high, low]);
        self.alert_len = 0;
        // RFC 8446 §5.1: 2^14 bytes; earlier versions allow 2^11 more for compression.
        if major != 3 || self.left > 18_432 {
            return false;
        }
        match kind {
            HANDSHAKE | ALERT => true,
            // RFC 8446 §D.4: TLS 1.3 sends it for compatibility, also before the server's hello.
            CHANGE_CIPHER_SPEC => {
                self.is_encrypted = facts.has_server;
                facts.history.change_cipher(to_server);
                true
            }
            DATA => {
                self.is_encrypted = true;
                true
            }
            _ => false,
        }
    }

    /// Alerts in clear have two bytes; encrypted alerts occur only after a change of cipher.
    pub(super) fn read_alert(&mut self, body: &[u8], to_server: bool, facts: &mut Facts) {
        let [_, _, _, high, low] = self.header;
        if [high, low] != [0, 2] {
            return;
        }
        for &byte in body {
            if let Some(place) = self.alert.get_mut(usize::from(self.alert_len)) {
                *place = byte;
            }
            self.alert_len = self.alert_len.saturating_add(1);
        }
        if let (2, [_, what]) = (self.alert_len, self.alert) {
            facts.alert = Some(what);
            facts.history.alert(to_server);
        }
    }
}
