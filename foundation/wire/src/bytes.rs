//! Reading numbers out of byte slices whose length is not known when compiling.

/// The big-endian 16-bit number at `offset`.
#[inline]
pub(crate) fn be16(bytes: &[u8], offset: usize) -> Option<u16> {
    Some(u16::from_be_bytes(*bytes.get(offset..)?.first_chunk()?))
}

/// The big-endian 32-bit number at `offset`.
#[inline]
pub(crate) fn be32(bytes: &[u8], offset: usize) -> Option<u32> {
    Some(u32::from_be_bytes(*bytes.get(offset..)?.first_chunk()?))
}

/// The little-endian 16-bit number at `offset`.
#[inline]
pub(crate) fn le16(bytes: &[u8], offset: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*bytes.get(offset..)?.first_chunk()?))
}

/// The little-endian 32-bit number at `offset`.
#[inline]
pub(crate) fn le32(bytes: &[u8], offset: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(offset..)?.first_chunk()?))
}

/// What was captured of the next `len` bytes.
#[inline]
pub(crate) fn captured(bytes: &[u8], len: usize) -> &[u8] {
    bytes.get(..len).unwrap_or(bytes)
}
