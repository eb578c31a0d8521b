//! The state of a connection and of each of its sides.

use super::NONE;
use super::texts::Chain;
use crate::anomaly::Anomalies;
use crate::body::Encodings;
use crate::syntax::{ChunkLine, Field, Version};
use flowpin_packet::Timestamp;
use flowpin_parser::Successor;

/// The position of a side in its stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Before a message.
    #[default]
    Between,
    /// The first bytes may start a response.
    Begin,
    /// In a request or status line.
    FirstLine,
    /// In the fields of a head.
    Fields,
    /// In the fields of a response's head, or already in its body: a line of blanks came. `matched`
    /// bytes of what may be a name are kept.
    MaybeOver,
    /// After a request line without a version: nothing more (HTTP/0.9), the next request, or
    /// fields, if only the version is missing.
    MaybeFields,
    /// In a body of known length; `left` bytes of it are to come.
    Counted,
    /// `chunked` stood there in disguise: a body, with a first chunk or not. What was read of it
    /// is in `left`: `matched` bytes.
    MaybeChunked,
    /// In the line before a chunk.
    ChunkLine,
    /// In a chunk; `left` bytes of it are to come.
    ChunkData,
    /// After a chunk's bytes, before the line end.
    ChunkEnd,
    /// In the fields after the last chunk.
    Trailer,
    /// In a body that ends with the stream.
    UntilClose,
    /// A body follows, unless the unseen request was HEAD.
    MaybeBody,
    /// The body or the next request follows: `Expect: 100-continue` got a final response.
    MaybeOmitted,
    /// Looking for the next message, at the beginning of a line.
    Lost,
    /// Looking for the next message, inside a line.
    LostInLine,
    /// The stream has changed to another protocol.
    HandedOver,
    /// The stream has ended.
    Closed,
}

/// The framing of the current message's body.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Framing {
    pub(crate) length: Option<u64>,
    pub(crate) has_length: bool,
    pub(crate) has_coding: bool,
    pub(crate) chunked: bool,
    /// `chunked` stood there in disguise.
    pub(crate) disguised: bool,
    /// A transfer coding was applied, and chunking was not the last one.
    pub(crate) unchunked: bool,
    pub(crate) has_host: bool,
    /// A field without a value came last, of those that are looked at.
    pub(crate) open: Option<Field>,
    /// Content codings, and transfer codings below `chunked`.
    pub(crate) encodings: Encodings,
}

/// One side of a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Side {
    /// Remaining bytes of the body or chunk.
    pub(crate) left: u64,
    /// Bytes of the body so far, including missing ones.
    pub(crate) body_len: u64,
    pub(crate) framing: Framing,
    pub(crate) chunk: ChunkLine,
    pub(crate) reported: Anomalies,
    /// A line of a head that is not complete.
    pub(crate) line: Chain,
    /// The transaction of the current message.
    pub(crate) transaction: u32,
    /// The state of the current body, if it is wanted.
    pub(crate) body: u32,
    pub(crate) head_len: u32,
    pub(crate) began: Timestamp,
    pub(crate) phase: Phase,
    /// Bytes that matched in [`Phase::Begin`] or [`Phase::MaybeBody`].
    pub(crate) matched: u8,
    pub(crate) bits: u16,
}

impl Side {
    /// The kept line ends with a line feed: it may still be folded.
    pub(crate) const LINE_ENDS: u16 = 1;
    /// The kept line is cut.
    pub(crate) const LINE_CUT: u16 = 1 << 1;
    /// There were spaces before the first line.
    pub(crate) const SPACES: u16 = 1 << 2;
    /// Bytes were missing since the last message, perhaps whole messages.
    pub(crate) const MISSED: u16 = 1 << 3;
    /// The bytes that matched in [`Phase::Begin`] are those of an Icecast response.
    pub(crate) const MUSIC: u16 = 1 << 4;
    /// The body was not complete.
    pub(crate) const BODY_CUT: u16 = 1 << 5;
    /// The server asked for the body with `100 Continue`.
    pub(crate) const CONTINUED: u16 = 1 << 6;
    /// There were NUL bytes before the first line.
    pub(crate) const NULS: u16 = 1 << 7;
    /// The last response must not have a body.
    pub(crate) const BODILESS: u16 = 1 << 8;
    /// The next response may begin anywhere: no byte is missing before it.
    pub(crate) const ANYWHERE: u16 = 1 << 9;

    /// The line that is read is longer than the limit.
    pub(crate) const FIELD_CUT: u16 = 1 << 15;
    /// What was no request came since the last one: servers answer that too.
    pub(crate) const NO_REQUEST: u16 = 1 << 14;

    /// The version of the last message: one of these, or none.
    pub(crate) const VERSIONS: u16 = 15 << 10;

    /// Takes note of a message's version; whether the one before had another.
    #[inline]
    pub(crate) const fn changes_version(&mut self, version: Version) -> bool {
        let bit = match version {
            Version::Old => 1 << 10,
            Version::V10 => 1 << 11,
            Version::V11 => 1 << 12,
            Version::Other(..) | Version::Odd => 1 << 13,
        };
        let before = self.bits & Self::VERSIONS;
        self.bits = self.bits & !Self::VERSIONS | bit;
        before != 0 && before != bit
    }

    pub(crate) fn new() -> Self {
        Self {
            left: 0,
            body_len: 0,
            framing: Framing::default(),
            chunk: ChunkLine::default(),
            reported: Anomalies::default(),
            line: Chain::default(),
            transaction: NONE,
            body: NONE,
            head_len: 0,
            began: Timestamp(0),
            phase: Phase::Between,
            matched: 0,
            bits: 0,
        }
    }

    #[inline]
    pub(crate) const fn has(&self, bit: u16) -> bool {
        self.bits & bit != 0
    }

    #[inline]
    pub(crate) const fn set(&mut self, bit: u16) {
        self.bits |= bit;
    }

    #[inline]
    pub(crate) const fn clear(&mut self, bit: u16) {
        self.bits &= !bit;
    }
}

/// The transactions of a connection that wait for their response, oldest first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Queue {
    pub(crate) first: u32,
    pub(crate) last: u32,
    pub(crate) len: u32,
    /// The request that follows what was none.
    pub(crate) behind_none: u32,
    /// Transactions so far.
    pub(crate) depth: u32,
    /// Requests beyond the limit; their responses get records of their own.
    pub(crate) unkept: u32,
    pub(crate) shard: u8,
    /// More than one request waited for its response.
    pub(crate) pipelined: bool,
    /// A request asked for another protocol, or for a tunnel, and was not yet answered.
    pub(crate) asked: bool,
    pub(crate) successor: Option<Successor>,
}

/// A connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Connection {
    pub(crate) client: Side,
    pub(crate) server: Side,
    pub(crate) queue: Queue,
}

impl Connection {
    pub(crate) fn new(shard: u8) -> Self {
        Self {
            client: Side::new(),
            server: Side::new(),
            queue: Queue {
                first: NONE,
                last: NONE,
                behind_none: NONE,
                len: 0,
                depth: 0,
                unkept: 0,
                shard,
                pipelined: false,
                asked: false,
                successor: None,
            },
        }
    }
}
