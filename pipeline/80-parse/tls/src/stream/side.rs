//! The records of one direction: their headers and alerts.

use super::{ALERT, CHANGE_CIPHER_SPEC, DATA, HANDSHAKE, HEARTBEAT};
use crate::anomaly::{Anomaly, of_heartbeat};
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
    /// The first bytes of an alert, or of a heartbeat.
    start: [u8; 3],
    start_len: u8,
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
        self.start_len = 0;
        // RFC 8446 §5.1: 2^14 bytes; earlier versions allow 2^11 more for compression.
        if major != 3 || self.left > 18_432 {
            let odd = if major == 3 {
                Anomaly::RecordTooLong
            } else {
                Anomaly::RecordVersion
            };
            return refuse(odd, facts);
        }
        match kind {
            HANDSHAKE | ALERT => true,
            // Only a client that has said hello sends one: else it is not TLS.
            HEARTBEAT if facts.has_any() => {
                facts.odd.add(Anomaly::Heartbeat);
                true
            }
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
            _ => refuse(Anomaly::RecordType, facts),
        }
    }

    /// Reads the first bytes of an alert or of a heartbeat. Alerts in clear have two bytes;
    /// encrypted alerts occur only after a change of cipher.
    pub(super) fn read_start(&mut self, body: &[u8], to_server: bool, facts: &mut Facts) {
        let [kind, _, _, high, low] = self.header;
        let record_len = usize::from(u16::from_be_bytes([high, low]));
        let wanted = match (kind, record_len) {
            (ALERT, 2) => 2,
            (HEARTBEAT, 3..) => 3,
            _ => return,
        };
        if self.start_len >= wanted {
            return;
        }
        for &byte in body
            .iter()
            .take(usize::from(wanted.saturating_sub(self.start_len)))
        {
            if let Some(place) = self.start.get_mut(usize::from(self.start_len)) {
                *place = byte;
            }
            self.start_len = self.start_len.saturating_add(1);
        }
        if self.start_len < wanted {
            return;
        }
        if kind == HEARTBEAT {
            if let Some(anomaly) = of_heartbeat(self.start, record_len) {
                facts.odd.add(anomaly);
            }
            return;
        }
        let [_, what, _] = self.start;
        facts.alert = Some(what);
        facts.history.alert(to_server);
    }
}

/// What is no record ends what is read; it is odd where records were before.
fn refuse(odd: Anomaly, facts: &mut Facts) -> bool {
    if facts.has_any() {
        facts.odd.add(odd);
    }
    false
}
