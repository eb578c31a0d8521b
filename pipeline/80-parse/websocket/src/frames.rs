//! The frames of one direction (RFC 6455 §5.2).
//!
//! ```text
//!  0     1      2 … 9            4 bytes if masked
//!  FRRRo Mlllll extended length  key              payload, byte i masked by key[i mod 4]
//! ```

/// The side broke the framing rules, or a gap hid a frame header: the rest of it is unreadable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lost;

/// The read state of one direction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Frames {
    /// The header of the current frame, as far as it has arrived.
    header: [u8; HEADER_LEN_MAX],
    header_len: u8,
    /// Payload bytes of the current frame still to come.
    left: u64,
    /// Index of the key byte for the next payload byte.
    turn: u8,
    key: [u8; 4],
    is_data: bool,
}

/// Two bytes, eight of extended length, four of key.
const HEADER_LEN_MAX: usize = 14;

/// RFC 6455 §11.8: continuation, text, binary; close, ping, pong.
const DATA: core::ops::RangeInclusive<u8> = 0..=2;
const CONTROL: core::ops::RangeInclusive<u8> = 8..=10;

/// Bytes unmasked at a time.
const CHUNK_BYTES: usize = 1024;

impl Frames {
    /// Reads the next bytes. `carried` gets the payload of data frames.
    pub(crate) fn read(
        &mut self,
        bytes: &[u8],
        carried: &mut dyn FnMut(&[u8]),
    ) -> Result<(), Lost> {
        let mut rest = bytes;
        loop {
            let left = usize::try_from(self.left).unwrap_or(usize::MAX);
            let (payload, next) = rest.split_at_checked(left).unwrap_or((rest, &[]));
            self.payload(payload, carried);
            rest = next;
            let Some((&byte, next)) = rest.split_first() else {
                return Ok(());
            };
            rest = next;
            self.header_byte(byte)?;
        }
    }

    /// Skips missing bytes; returns how many of them were payload of data frames.
    pub(crate) fn skip(&mut self, len: u64) -> Result<u64, Lost> {
        if len > self.left {
            return Err(Lost);
        }
        self.left = self.left.saturating_sub(len);
        let [.., low] = len.to_be_bytes();
        self.turn = self.turn.wrapping_add(low) & 3;
        Ok(if self.is_data { len } else { 0 })
    }

    fn payload(&mut self, payload: &[u8], carried: &mut dyn FnMut(&[u8])) {
        if payload.is_empty() {
            return;
        }
        self.left = self.left.saturating_sub(payload.len() as u64);
        if !self.is_data {
            return;
        }
        if self.key == [0; 4] {
            return carried(payload);
        }
        let mut space = [0; CHUNK_BYTES];
        for part in payload.chunks(CHUNK_BYTES) {
            for (place, &byte) in space.iter_mut().zip(part) {
                let key = self.key.get(usize::from(self.turn)).copied();
                *place = byte ^ key.unwrap_or_default();
                self.turn = self.turn.wrapping_add(1) & 3;
            }
            carried(space.get(..part.len()).unwrap_or_default());
        }
    }

    fn header_byte(&mut self, byte: u8) -> Result<(), Lost> {
        let at = usize::from(self.header_len);
        if let Some(place) = self.header.get_mut(at) {
            *place = byte;
        }
        self.header_len = self.header_len.saturating_add(1);
        let [first, second, long @ ..] = self.header;
        let kind = first & 0x0f;
        // RFC 6455 §5.2: a reserved bit means that an extension, such as compression, is in use.
        if first & 0x70 != 0 || !(DATA.contains(&kind) || CONTROL.contains(&kind)) {
            return Err(Lost);
        }
        if at == 0 {
            return Ok(());
        }
        let extended = match second & 0x7f {
            126 => 2usize,
            127 => 8,
            _ => 0,
        };
        let is_masked = second & 0x80 != 0;
        let key_at = extended;
        let len = extended.saturating_add(if is_masked { 4 } else { 0 });
        if at < len.saturating_add(1) {
            return Ok(());
        }
        self.left = match (extended, long) {
            (2, [a, b, ..]) => u64::from(u16::from_be_bytes([a, b])),
            (8, [a, b, c, d, e, f, g, h, ..]) => u64::from_be_bytes([a, b, c, d, e, f, g, h]),
            _ => u64::from(second & 0x7f),
        };
        let key = long.get(key_at..).and_then(|key| key.first_chunk());
        self.key = key.filter(|_| is_masked).copied().unwrap_or_default();
        self.is_data = DATA.contains(&kind);
        (self.turn, self.header_len) = (0, 0);
        // RFC 6455 §5.2: the highest bit of a length is 0.
        if self.left > u64::MAX >> 1 {
            return Err(Lost);
        }
        Ok(())
    }
}
