//! From pieces to one datagram with one header.

use crate::defragmenter::Defragmenter;
use crate::store::slice;
use crate::store::{BLOCK_LEN, Body, Header};
use flowpin_packet::{Datagram, FragmentRef};

/// A datagram whose fragments are all there: to be assembled, once.
#[derive(Debug)]
#[must_use = "its memory is held until it is assembled"]
pub struct Ready(u32);

impl Ready {
    pub(crate) const fn new(slot: u32) -> Self {
        Self(slot)
    }
}

impl Defragmenter {
    /// Writes a complete datagram behind what `extra` holds. `fragment` is the one that completed
    /// it, found in `bytes`; what stood before its IP header goes in front of the datagram, so
    /// that VLANs and tunnels can be read there.
    pub fn assemble(
        &mut self,
        ready: Ready,
        bytes: &[u8],
        fragment: &FragmentRef,
        extra: &mut Vec<u8>,
    ) -> Datagram {
        let outer_len = fragment.header_start.saturating_sub(fragment.frame_start);
        let frame_start = extra.len();
        extra.extend_from_slice(slice(bytes, fragment.frame_start, outer_len as usize));
        self.write(ready, frame_start, fragment, extra)
    }

    /// As [`Defragmenter::assemble`], where the fragment itself was found in the datagram at the
    /// end of `extra` (fragments inside a tunnel inside fragments): what it was found in is not
    /// needed any more and is overwritten.
    pub fn assemble_nested(
        &mut self,
        ready: Ready,
        fragment: &FragmentRef,
        extra: &mut Vec<u8>,
    ) -> Datagram {
        extra.truncate(fragment.header_start as usize);
        self.write(ready, fragment.frame_start as usize, fragment, extra)
    }

    fn write(
        &mut self,
        ready: Ready,
        frame_start: usize,
        fragment: &FragmentRef,
        extra: &mut Vec<u8>,
    ) -> Datagram {
        let number = ready.0;
        let header_start = extra.len();
        let mut datagram = Datagram {
            frame_start: narrow(frame_start),
            header_start: narrow(header_start),
            number: fragment.number,
            time: fragment.time,
            stream_time: fragment.stream_time,
            context: fragment.context,
            ..Datagram::default()
        };
        if let Some(body) = self.store.body(number) {
            let payload_len = body.len.unwrap_or(0);
            let header_len = u32::from(body.header.len);
            self.write_bytes(body, fragment.ipv6, payload_len, extra);
            datagram.captured_len = narrow(extra.len().saturating_sub(header_start));
            datagram.len = header_len.saturating_add(payload_len);
            datagram.wire_len = body.wire_len;
            datagram.ip_len = body.ip_len;
            datagram.context.flags = body.flags;
            datagram.context.layers = body.layers;
        }
        self.store.release(number);
        datagram
    }

    /// The header, then the payload up to the first byte that was not captured.
    fn write_bytes(&self, body: &Body, ipv6: bool, payload_len: u32, extra: &mut Vec<u8>) {
        let mut header = body.header;
        if ipv6 {
            patch_ipv6(&mut header, payload_len);
        } else {
            patch_ipv4(&mut header, payload_len);
        }
        extra.extend_from_slice(slice(&header.bytes, 0, usize::from(header.len)));
        let mut left = payload_len.min(body.cut_at) as usize;
        for &block in &body.blocks {
            let len = left.min(BLOCK_LEN);
            let Some(block) = self.store.block(block) else {
                break;
            };
            extra.extend_from_slice(slice(block, 0, len));
            left = left.saturating_sub(len);
        }
    }
}

/// Total length, no fragment, and the checksum that goes with it.
fn patch_ipv4(header: &mut Header, payload_len: u32) {
    let total_len = payload_len.saturating_add(u32::from(header.len));
    put(
        &mut header.bytes,
        2,
        u16::try_from(total_len).unwrap_or(u16::MAX).to_be_bytes(),
    );
    put(&mut header.bytes, 6, [0; 2]);
    put(&mut header.bytes, 10, [0; 2]);
    let bytes = slice(&header.bytes, 0, usize::from(header.len));
    let sum = bytes.as_chunks::<2>().0.iter().fold(0u32, |sum, word| {
        sum.wrapping_add(u32::from(u16::from_be_bytes(*word)))
    });
    // At most 30 words: two folds bring any carry home.
    let sum = (sum & 0xffff).wrapping_add(sum >> 16);
    let sum = (sum & 0xffff).wrapping_add(sum >> 16);
    let checksum = !u16::try_from(sum & 0xffff).unwrap_or(0);
    put(&mut header.bytes, 10, checksum.to_be_bytes());
}

/// Payload length, and the protocol that the Fragment header named.
fn patch_ipv6(header: &mut Header, payload_len: u32) {
    let len = payload_len
        .saturating_add(u32::from(header.len))
        .saturating_sub(40);
    put(
        &mut header.bytes,
        4,
        u16::try_from(len).unwrap_or(u16::MAX).to_be_bytes(),
    );
    put(
        &mut header.bytes,
        usize::from(header.next_header_at),
        [header.protocol],
    );
}

fn put<const N: usize>(bytes: &mut [u8], at: usize, value: [u8; N]) {
    if let Some(to) = bytes.get_mut(at..).and_then(|rest| rest.first_chunk_mut()) {
        *to = value;
    }
}

/// The extra bytes of a batch are far below 4 GiB.
fn narrow(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}
