//! What fuzzing drives.

use crate::{WebSocket, WebSocketOptions};
use flowpin_packet::Shard;

/// Any bytes as the frames of both directions, with gaps, told in pieces of two lengths: the same
/// is carried, from positions without holes but for the gaps.
///
/// The first byte is how long pieces are; then parts: a byte that says who sends and how much, and
/// so many bytes. A part of no bytes is a gap of seven.
pub fn fuzz_websocket(data: &[u8]) {
    let Some((&piece, rest)) = data.split_first() else {
        return;
    };
    let whole = told(rest, usize::MAX);
    assert_eq!(told(rest, usize::from(piece).max(1)), whole);
}

/// What each side carried, and where it was lost.
fn told(data: &[u8], piece: usize) -> [(Vec<u8>, u64, bool); 2] {
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
    while let Some((&head, behind)) = rest.split_first() {
        let len = usize::from(head >> 1).min(behind.len());
        let (bytes, next) = behind.split_at(len);
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
            let told = all.data(handle, to_server, part, &mut |at, bytes| {
                assert_eq!(at, *next);
                *next = next.saturating_add(bytes.len() as u64);
                out.extend_from_slice(bytes);
            });
            if told.is_err() {
                *is_lost = true;
                break;
            }
        }
    }
    sides
}

const GAP: u64 = 7;
