//! DTLS: the records of datagrams, and handshake messages in fragments.

use super::side::Side;
use super::{ALERT, CHANGE_CIPHER_SPEC, DATA, HANDSHAKE, Session};
use crate::facts::{CERTIFICATE, Notes, SERVER_KEY_EXCHANGE};
use crate::handshake::wanted;
use crate::ja4::Carrier;
use crate::pages::Page;
use crate::pools::Blocks;
use crate::x509::Told;
use flowpin_wire::Cursor;

impl Session {
    /// Whether a datagram goes to the DTLS server, the side that received the client's hello. The
    /// peers of a call choose their roles independently of who sent the first datagram (RFC 5763
    /// §5).
    fn goes_to_server(&mut self, to_server: bool, payload: &[u8]) -> bool {
        // RFC 6347 §4.1, §4.2.2: a record header has 13 bytes; the type of the message follows.
        let message = match payload.first() {
            Some(&HANDSHAKE) => payload.get(13),
            _ => None,
        };
        let is_reversed = match (self.is_reversed, message) {
            (None, Some(1)) => Some(!to_server),
            (None, Some(2 | 3)) => Some(to_server),
            (known, _) => known,
        };
        if self.is_reversed.is_none() && is_reversed == Some(true) {
            self.facts.history.flip();
        }
        self.is_reversed = is_reversed;
        to_server != is_reversed.unwrap_or(false)
    }

    /// Processes the records of a datagram (RFC 6347 §4.1).
    pub(super) fn read_datagram(
        &mut self,
        to_server: bool,
        payload: &[u8],
        blocks: &mut Blocks,
        mut page: Option<&mut Page>,
        mut told: Option<Told<'_>>,
    ) {
        let to_server = self.goes_to_server(to_server, payload);
        let mut cursor = Cursor::over(payload);
        while let Some((kind, epoch, body)) = dtls_record(&mut cursor) {
            let shard = self.shard;
            let [client, server] = &mut self.sides;
            let side = if to_server { client } else { server };
            if side.is_over {
                return;
            }
            let changes = kind == CHANGE_CIPHER_SPEC && self.facts.has_server;
            side.is_encrypted |= epoch > 0 || changes || kind == DATA;
            if epoch > 0 {
                continue;
            }
            match (kind, body) {
                (HANDSHAKE, body) => {
                    let mut notes = Notes {
                        facts: &mut self.facts,
                        page: page.as_deref_mut(),
                        told: told.as_mut().map(Told::lend),
                    };
                    side.read_fragments(body, to_server, shard, blocks, &mut notes);
                }
                (ALERT, &[_, what]) => {
                    self.facts.alert = Some(what);
                    self.facts.history.alert(to_server);
                }
                (CHANGE_CIPHER_SPEC, _) => self.facts.history.change_cipher(to_server),
                _ => {}
            }
        }
    }
}

impl Side {
    /// Processes the handshake messages of one DTLS record (RFC 6347 §4.2.2); fragments must arrive
    /// in order.
    fn read_fragments(
        &mut self,
        record: &[u8],
        to_server: bool,
        shard: u8,
        blocks: &mut Blocks,
        notes: &mut Notes<'_>,
    ) {
        let mut cursor = Cursor::over(record);
        while let Some(fragment) = fragment(&mut cursor) {
            let Fragment {
                kind,
                len,
                offset,
                body,
            } = fragment;
            if offset == 0 {
                notes.facts.history.message(kind, to_server);
                see_curve(kind, body, to_server, notes);
            }
            if wanted(kind, to_server, notes) < u32::try_from(len).unwrap_or(u32::MAX) {
                if let (CERTIFICATE, 0, Some(told)) = (kind, offset, &mut notes.told) {
                    told.leave_out();
                }
                continue;
            }
            if offset == 0 && body.len() == len {
                notes.message((kind, len), body, to_server, Carrier::Dtls);
                continue;
            }
            if offset == 0 {
                self.filled = 0;
            }
            let filled = self.filled as usize;
            if offset != filled || !self.gathered.put(blocks, shard, filled, body) {
                continue;
            }
            let end = filled.saturating_add(body.len());
            self.filled = u32::try_from(end).unwrap_or(u32::MAX);
            if end == len {
                let whole = self.gathered.bytes(blocks, len);
                notes.message((kind, len), whole, to_server, Carrier::Dtls);
                self.gathered.free(blocks, shard);
                self.filled = 0;
            }
        }
    }
}

/// Of a key exchange the first bytes are enough, wherever its fragment ends.
fn see_curve(kind: u8, body: &[u8], to_server: bool, notes: &mut Notes<'_>) {
    if kind == SERVER_KEY_EXCHANGE
        && let Some(begin) = body.get(..4)
    {
        notes.message((kind, begin.len()), begin, to_server, Carrier::Dtls);
    }
}

struct Fragment<'a> {
    kind: u8,
    len: usize,
    offset: usize,
    body: &'a [u8],
}

fn fragment<'a>(cursor: &mut Cursor<'a>) -> Option<Fragment<'a>> {
    let kind = cursor.u8()?;
    let len = cursor.len24()?;
    cursor.take(2)?;
    let offset = cursor.len24()?;
    let count = cursor.len24()?;
    Some(Fragment {
        kind,
        len,
        offset,
        body: cursor.take(count)?,
    })
}

/// Whether a datagram begins with a record header (RFC 6347 §4.1); `None` if that cannot be
/// determined (RFC 9147 §4: encrypted records of 1.3 have a header of their own).
pub(super) fn is_dtls(payload: &[u8]) -> Option<bool> {
    match payload {
        [CHANGE_CIPHER_SPEC..=26, 0xfe, 0xff | 0xfd, ..] => Some(true),
        // OpenSSL before the RFC.
        [CHANGE_CIPHER_SPEC..=DATA, 1, 0, ..] => Some(true),
        [kind, ..] if kind & 0xe0 == 0x20 => None,
        _ => Some(false),
    }
}

/// Returns type, epoch and contents of the next record.
fn dtls_record<'a>(cursor: &mut Cursor<'a>) -> Option<(u8, u16, &'a [u8])> {
    let kind = cursor.u8()?;
    // RFC 9147 §4: later records of 1.3 have another header and are encrypted.
    if !(CHANGE_CIPHER_SPEC..=DATA).contains(&kind) {
        return (kind & 0xe0 == 0x20).then_some((DATA, 1, &[]));
    }
    cursor.be16()?;
    let epoch = cursor.be16()?;
    cursor.take(6)?;
    let len = cursor.len16()?;
    Some((kind, epoch, cursor.take(len)?))
}
