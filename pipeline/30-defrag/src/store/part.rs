//! A fragment as it is put into its datagram.

use super::overlap::Range;
use flowpin_packet::{FragmentRef, PacketFlags};

/// A fragment: what it says of itself and its bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part<'a> {
    pub(crate) offset: u16,
    pub(crate) payload_len: u16,
    pub(crate) more: bool,
    pub(crate) protocol: u8,
    /// IPv6: the byte of the header that announces the Fragment header.
    pub(crate) next_header_at: u16,
    /// What was captured of the payload.
    pub(crate) payload: &'a [u8],
    /// The headers in front of the payload, without the Fragment header; empty unless the offset
    /// is 0.
    pub(crate) header: &'a [u8],
    pub(crate) wire_len: u32,
    pub(crate) ip_len: u32,
    pub(crate) flags: PacketFlags,
    pub(crate) layers: u8,
}

impl<'a> Part<'a> {
    pub(crate) fn new(bytes: &'a [u8], fragment: &FragmentRef) -> Self {
        let header_len = match fragment.offset {
            0 => usize::from(fragment.unfragmentable_len),
            _ => 0,
        };
        let captured_len = usize::from(fragment.captured_len);
        Self {
            offset: fragment.offset,
            payload_len: fragment.payload_len,
            more: fragment.more,
            protocol: fragment.protocol,
            next_header_at: fragment.next_header_at,
            payload: slice(bytes, fragment.payload_start, captured_len),
            header: slice(bytes, fragment.header_start, header_len),
            wire_len: fragment.wire_len,
            ip_len: fragment.ip_len,
            flags: fragment.context.flags,
            layers: fragment.context.layers,
        }
    }

    /// Where the payload ends in the datagram's.
    pub(crate) fn end(&self) -> u32 {
        u32::from(self.offset).saturating_add(u32::from(self.payload_len))
    }

    pub(crate) fn range(&self) -> Range {
        let end = self.end().div_ceil(8);
        Range {
            start: self.offset >> 3,
            end: u16::try_from(end).unwrap_or(u16::MAX),
        }
    }
}

/// `len` bytes from `start`, or those that are there.
pub(crate) fn slice(bytes: &[u8], start: u32, len: usize) -> &[u8] {
    let rest = bytes.get(start as usize..).unwrap_or_default();
    rest.get(..len).unwrap_or(rest)
}
