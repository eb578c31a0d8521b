//! A message as a template of pieces with few numbers of its own, rendered a range at a time.

use super::material::{CHUNK, CHUNK_ENCODED, Material, take};

/// A part of a message.
#[derive(Debug)]
pub(crate) enum Piece {
    /// The same in every message.
    Text(Vec<u8>),
    /// The message's body, of text.
    Body,
    /// The message's body, of random bytes.
    Noise,
    /// As many zeros as the body is long.
    Zeros,
    /// The length of the body, decimal.
    BodyLen,
    /// The length of the body and so many bytes more, 16 bits, big endian.
    BodyLen16(u16),
    /// The same in 32 bits.
    BodyLen32(u32),
    /// The whole chunks of a chunk-encoded body.
    WholeChunks,
    /// The size line of its last chunk, if that is not whole.
    LastChunkSize,
    /// Its last chunk, if that is not whole, and the line's end.
    LastChunk,
    /// This and the length of the body, decimal.
    LenAnd(u32),
    /// The number of the message in its connection, six digits.
    Number,
    /// The message's body, of letters that stand in no order: for FIX, whose sum is known.
    Letters,
    /// FIX tag 10 of a message with two numbers, given the sum of the texts before it.
    FixSum(u32),
    /// 16 random bits that question and answer share.
    Id,
}

/// What one message says that others do not.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Message {
    /// Which step of the dialogue.
    pub(crate) step: u16,
    /// See [`Piece::Id`].
    pub(crate) id: u16,
    /// Bytes of its body, before any encoding.
    pub(crate) body: u32,
    /// Where in the material the body begins.
    pub(crate) offset: u32,
    /// Its number in its direction, from 1.
    pub(crate) number: u32,
}

/// A message that a dialogue may hold.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) from_client: bool,
    pieces: Vec<Piece>,
    /// The pieces in which a line may straddle two segments; 0 for messages without header lines.
    header_pieces: usize,
    /// The step to take instead if the body shall be chunked.
    pub(crate) chunked: Option<u16>,
    /// Whether the body is chunk-encoded.
    pub(crate) is_chunked: bool,
    elastic: bool,
    fixed_len: u32,
}

impl Step {
    fn new(from_client: bool, pieces: Vec<Piece>) -> Self {
        let elastic = pieces.iter().any(|piece| {
            matches!(
                piece,
                Piece::Body | Piece::Noise | Piece::Zeros | Piece::WholeChunks | Piece::Letters
            )
        });
        let is_chunked = pieces
            .iter()
            .any(|piece| matches!(piece, Piece::WholeChunks));
        let mut step = Self {
            from_client,
            pieces,
            header_pieces: 0,
            chunked: None,
            is_chunked,
            elastic,
            fixed_len: 0,
        };
        step.fixed_len = step.len(&Message::default());
        step
    }

    /// A message of the client.
    pub(crate) fn client(pieces: Vec<Piece>) -> Self {
        Self::new(true, pieces)
    }

    /// A message of the server.
    pub(crate) fn server(pieces: Vec<Piece>) -> Self {
        Self::new(false, pieces)
    }

    /// Whose first pieces are header lines.
    pub(crate) fn with_header(mut self, pieces: usize) -> Self {
        self.header_pieces = pieces;
        self
    }

    /// Bytes of its header lines.
    pub(crate) fn header_len(&self, message: &Message) -> u32 {
        let pieces = self.pieces.iter().take(self.header_pieces);
        let len: usize = pieces.map(|piece| piece.len(message)).sum();
        u32::try_from(len).unwrap_or(u32::MAX)
    }

    /// Whether its length can be chosen.
    pub(crate) const fn is_elastic(&self) -> bool {
        self.elastic
    }

    /// Its length without a body.
    pub(crate) const fn fixed_len(&self) -> u32 {
        self.fixed_len
    }

    /// The length of a message.
    pub(crate) fn len(&self, message: &Message) -> u32 {
        let len: usize = self.pieces.iter().map(|piece| piece.len(message)).sum();
        u32::try_from(len).unwrap_or(u32::MAX)
    }

    /// The length of the body with which the message is `len` bytes long, or a few bytes less.
    pub(crate) fn body_for(&self, len: u32) -> u32 {
        if !self.elastic {
            return 0;
        }
        let room = len.saturating_sub(self.fixed_len);
        let body = Message {
            body: room,
            ..Message::default()
        };
        room.saturating_sub(self.len(&body).saturating_sub(len))
    }

    /// Appends `len` bytes of a message, from byte `from` on.
    #[inline]
    pub(crate) fn render(
        &self,
        message: &Message,
        material: &Material,
        mut from: usize,
        mut len: usize,
        out: &mut Vec<u8>,
    ) {
        for piece in &self.pieces {
            let piece_len = piece.len(message);
            if from >= piece_len {
                from -= piece_len;
                continue;
            }
            let part = len.min(piece_len - from);
            piece.render(message, material, from, part, out);
            len -= part;
            from = 0;
            if len == 0 {
                return;
            }
        }
    }
}

impl Piece {
    pub(crate) fn text(text: impl AsRef<[u8]>) -> Self {
        Self::Text(text.as_ref().to_vec())
    }

    #[inline]
    fn len(&self, message: &Message) -> usize {
        let body = message.body as usize;
        match self {
            Self::Text(text) => text.len(),
            Self::Body | Self::Noise | Self::Zeros | Self::Letters => body,
            Self::BodyLen => digits(message.body),
            Self::BodyLen16(_) | Self::Id => 2,
            Self::BodyLen32(_) => 4,
            Self::WholeChunks => body / CHUNK * CHUNK_ENCODED,
            Self::LastChunkSize => match body % CHUNK {
                0 => 0,
                rest => hex_digits(rest) + 2,
            },
            Self::LastChunk => match body % CHUNK {
                0 => 0,
                rest => rest + 2,
            },
            Self::LenAnd(more) => digits(message.body + more),
            Self::Number => 6,
            Self::FixSum(_) => 3,
        }
    }

    #[inline]
    fn render(
        &self,
        message: &Message,
        material: &Material,
        from: usize,
        len: usize,
        out: &mut Vec<u8>,
    ) {
        let offset = message.offset as usize + from;
        match self {
            Self::Text(text) => take(text, from, len, out),
            Self::Body => take(&material.text, offset, len, out),
            Self::Noise => take(&material.noise, offset, len, out),
            Self::Letters => take(&material.letters, from, len, out),
            Self::Zeros => out.resize(out.len() + len, 0),
            Self::WholeChunks => take(&material.chunks, from, len, out),
            Self::LastChunk => {
                let rest = message.body as usize % CHUNK;
                let text = len.min(rest.saturating_sub(from));
                take(&material.text, offset, text, out);
                take(b"\r\n", (from + text).saturating_sub(rest), len - text, out);
            }
            _ => self.render_number(message, material, from, len, out),
        }
    }

    /// The pieces that are numbers: a dozen bytes at most.
    fn render_number(
        &self,
        message: &Message,
        material: &Material,
        from: usize,
        len: usize,
        out: &mut Vec<u8>,
    ) {
        let body = message.body;
        match self {
            Self::BodyLen => take_decimal(body, digits(body), from, len, out),
            Self::LenAnd(more) => take_decimal(body + more, digits(body + more), from, len, out),
            Self::Number => take_decimal(message.number, 6, from, len, out),
            Self::FixSum(base) => {
                take_decimal(fix_sum(*base, message, material), 3, from, len, out);
            }
            Self::LastChunkSize => {
                let rest = body as usize % CHUNK;
                let count = hex_digits(rest);
                let mut line = [b'\r'; 5];
                for (nth, place) in line.iter_mut().take(count).enumerate() {
                    let digit = rest >> (4 * (count - 1 - nth)) & 15;
                    *place = b"0123456789abcdef"[digit];
                }
                if let Some(end) = line.get_mut(count + 1) {
                    *end = b'\n';
                }
                take(&line, from, len, out);
            }
            Self::BodyLen16(more) => {
                let value = u16::try_from(body + u32::from(*more)).unwrap_or(u16::MAX);
                take(&value.to_be_bytes(), from, len, out);
            }
            Self::BodyLen32(more) => take(&(body + more).to_be_bytes(), from, len, out),
            Self::Id => take(&message.id.to_be_bytes(), from, len, out),
            _ => {}
        }
    }
}

/// The FIX checksum: the sum of all bytes before tag 10, modulo 256.
fn fix_sum(base: u32, message: &Message, material: &Material) -> u32 {
    let body = message.body as usize;
    let ring = material.letters.len().max(1);
    let at = |count: usize| {
        material
            .letter_sums
            .get(count)
            .copied()
            .map_or(0, u32::from)
    };
    let rings = u32::try_from(body / ring).unwrap_or(0);
    let letters = at(body % ring) + (rings & 0xff) * at(ring);
    let digits_of = |mut number: u32, count: usize| {
        (0..count).fold(0, |sum, _| {
            let digit = number % 10;
            number /= 10;
            sum + digit + u32::from(b'0')
        })
    };
    // The base holds the length's fixed part in its upper half.
    let (texts, more) = (base & 0xffff, base >> 16);
    let length = message.body + more;
    let numbers = 2 * digits_of(message.number, 6);
    let sum = texts + letters + digits_of(length, digits(length)) + numbers;
    sum & 0xff
}

fn take_decimal(mut number: u32, count: usize, from: usize, len: usize, out: &mut Vec<u8>) {
    let mut text = [b'0'; 10];
    for place in text.iter_mut().take(count).rev() {
        *place = b'0' + u8::try_from(number % 10).unwrap_or(0);
        number /= 10;
    }
    take(&text, from, len, out);
}

const fn digits(number: u32) -> usize {
    match number.checked_ilog10() {
        Some(log) => log as usize + 1,
        None => 1,
    }
}

const fn hex_digits(number: usize) -> usize {
    match number.checked_ilog2() {
        Some(log) => log as usize / 4 + 1,
        None => 1,
    }
}
