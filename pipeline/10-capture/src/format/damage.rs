//! Where a capture stops being readable, and why.

use core::fmt;

/// What is wrong with a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum DamageKind {
    /// The file ends within its header.
    #[error("the file ends inside its header")]
    CutHeader,
    /// The file ends within a packet.
    #[error("the file ends inside a packet")]
    CutRecord,
    /// The file ends within a pcapng block.
    #[error("the file ends inside a block")]
    CutBlock,
    /// A captured length that cannot be.
    #[error(
        "a packet of {0} captured bytes, more than {max} can be",
        max = super::CAPTURED_LEN_MAX
    )]
    PacketTooLong(u32),
    /// A block length that cannot be.
    #[error("a block of {0} bytes, which is too short or no multiple of 4")]
    BlockLength(u32),
    /// A block whose content is needed and that is too long to hold.
    #[error("a block of {0} bytes, more than the limit of 1 MiB")]
    BlockTooLong(u32),
    /// A block's length before and behind its content differ.
    #[error("a block whose lengths differ: {0} before, {1} behind it")]
    BlockTrailer(u32, u32),
    /// A block too short for its fields.
    #[error("a block of type {0} that is too short for its fields")]
    BlockFields(u32),
    /// A section header without a byte-order magic.
    #[error("a section whose byte order cannot be told")]
    SectionOrder,
    /// A section of a later version.
    #[error("a section of pcapng version {0}.{1}, only 1.x is read")]
    SectionVersion(u16, u16),
    /// A packet of an interface that was not described.
    #[error("a packet of interface {0}, but only {1} are described")]
    NoSuchInterface(u32, u32),
    /// A packet that does not fit its block.
    #[error("a packet of {0} captured bytes in a block that has room for {1}")]
    PacketBeyondBlock(u32, u32),
    /// More interfaces than the limit.
    #[error("more than {0} interfaces in one section")]
    TooManyInterfaces(u32),
}

/// The place where a capture stops being readable. All frames before it were delivered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Whether it could not be opened at all: nothing of it was read.
    pub unopened: bool,
    /// Byte offset of the record that cannot be read; behind decompression, if any.
    pub offset: u64,
    /// Whether `offset` counts decompressed bytes.
    pub decompressed: bool,
    /// What is wrong.
    pub what: String,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.unopened {
            return write!(f, "cannot be opened: {}", self.what);
        }
        let of = if self.decompressed {
            " of the decompressed data"
        } else {
            ""
        };
        write!(f, "damaged at byte {}{of}: {}", self.offset, self.what)
    }
}
