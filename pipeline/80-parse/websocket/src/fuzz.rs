//! The fuzzing entry point.

use crate::{WebSocket, WebSocketOptions};
use flowpin_packet::Shard;

/// Reads any bytes as the frames of both directions, with gaps, in pieces of two lengths: the
/// payload is the same, and its offsets are contiguous except for the gaps.
///
/// The first byte is the length of pieces. Parts follow: a byte with the sender and a length, and
/// that number of bytes. An empty part is a gap of seven bytes.
pub fn fuzz_websocket(data: &[u8]) {
    let Some((&piece, rest)) = data.split_first() else {
        return;
    };
    let whole = payloads(rest, usize::MAX);
    assert_eq!(payloads(rest, usize::from(piece).max(1)), whole);
}

/// For each side: its payload, the end offset of it, and whether the side became unreadable.
fn payloads(data: &[u8], piece: usize) -> [(Vec<u8>, u64, bool); 2] {
    let mut sides = [(Vec::new(), 0u64, false), (Vec::new(), 0, false)];
    let options = WebSocketOptions {
        shard_connections_max: 1,
    };
    let Ok(mut all) = WebSocket::new(options) else {
        return sides;
    };
    let Some(handle) = all.begin(Shard(0)) else {
        return sides;
    };
    let mut rest = data;
    while let Some((&head, body)) = rest.split_first() {
        let len = usize::from(head >> 1).min(body.len());
        let (bytes, next) = body.split_at(len);
        rest = next;
        let to_server = head & 1 == 0;
        let [client, server] = &mut sides;
        let (out, next, is_lost) = if to_server { client } else { server };
        if *is_lost {
            continue;
        }
        if bytes.is_empty() {
            match all.gap(handle, to_server, GAP) {
                Ok(missing) => *next = next.saturating_add(missing),
                Err(_) => *is_lost = true,
            }
        }
        for part in bytes.chunks(piece) {
            let result = all.data(handle, to_server, part, &mut |at, bytes| {
                assert_eq!(at, *next);
                *next = next.saturating_add(bytes.len() as u64);
                out.extend_from_slice(bytes);
            });
            if result.is_err() {
                *is_lost = true;
                break;
            }
        }
    }
    sides
}

const GAP: u64 = 7;
