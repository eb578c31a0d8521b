//! Hand-made frames, cut anywhere.

use crate::{Lost, WebSocket, WebSocketOptions};
use flowpin_packet::Shard;
use proptest::prelude::*;

/// Builds a frame with this first byte.
fn frame(first: u8, payload: &[u8], key: Option<[u8; 4]>) -> Vec<u8> {
    let mut bytes = vec![first];
    let masked = if key.is_some() { 0x80 } else { 0 };
    match payload.len() {
        len @ 0..126 => bytes.push(masked | len as u8),
        len @ 126..0x1_0000 => {
            bytes.push(masked | 126);
            bytes.extend((len as u16).to_be_bytes());
        }
        len => {
            bytes.push(masked | 127);
            bytes.extend((len as u64).to_be_bytes());
        }
    }
    bytes.extend(key.iter().flatten());
    let key = key.unwrap_or_default();
    bytes.extend(
        payload
            .iter()
            .zip(key.iter().cycle())
            .map(|(one, key)| one ^ key),
    );
    bytes
}

fn carried(pieces: &[&[u8]], to_server: bool) -> (Vec<u8>, Result<(), Lost>) {
    let mut all = WebSocket::new(WebSocketOptions::default()).unwrap();
    let handle = all.begin(Shard(3)).unwrap();
    let mut out = Vec::new();
    for piece in pieces {
        let result = all.data(handle, to_server, piece, &mut |at, bytes| {
            assert_eq!(at, out.len() as u64);
            out.extend_from_slice(bytes);
        });
        if result.is_err() {
            return (out, result);
        }
    }
    (out, Ok(()))
}

/// The examples of RFC 6455 §5.7, a fragmented message around a ping, and both extended lengths.
#[test]
fn only_data_frames_have_payload() {
    let hello = b"\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58";
    assert_eq!(carried(&[hello], true), (b"Hello".to_vec(), Ok(())));
    let long = vec![b'x'; 70_000];
    let key = Some([9, 0, 200, 77]);
    let bytes = [
        frame(0x02, b"one", key),
        frame(0x89, b"ping", key),
        frame(0x80, b"two", None),
        frame(0x82, &long[..300], key),
        frame(0x82, &long, None),
        frame(0x8a, b"", key),
        frame(0x88, b"\x03\xe8", key),
    ]
    .concat();
    let expected = [b"onetwo".as_slice(), &long[..300], &long].concat();
    for len in [1, 2, 3, 1000, usize::MAX] {
        let pieces: Vec<&[u8]> = bytes.chunks(len.min(bytes.len())).collect();
        assert_eq!(carried(&pieces, false), (expected.clone(), Ok(())));
    }
}

/// RFC 6455 §5.2: unknown opcodes, reserved bits, a length above the maximum.
#[test]
fn framing_errors_end_the_payload() {
    for wrong in [
        b"\xc1\x05hello".as_slice(),
        b"\x83\0",
        b"\x8f\0",
        b"\x82\x7f\x80",
    ] {
        let wrong = [wrong, &[0; 9]].concat();
        let bytes = [frame(0x82, b"good", None), wrong].concat();
        assert_eq!(carried(&[&bytes], true), (b"good".to_vec(), Err(Lost)));
    }
}

/// Missing payload bytes are counted, and unmasking stays in step; a missing header ends the
/// payload.
#[test]
fn a_gap_inside_a_payload_is_skipped() {
    let mut all = WebSocket::new(WebSocketOptions::default()).unwrap();
    let handle = all.begin(Shard(0)).unwrap();
    let bytes = frame(0x82, b"abcdefghij", Some([1, 2, 3, 4]));
    let mut out = Vec::new();
    let mut put = |at, part: &[u8]| out.push((at, part.to_vec()));
    assert_eq!(all.data(handle, true, &bytes[..8], &mut put), Ok(()));
    assert_eq!(all.gap(handle, true, 5), Ok(5));
    assert_eq!(all.data(handle, true, &bytes[13..], &mut put), Ok(()));
    assert_eq!(out, [(0, b"ab".to_vec()), (7, b"hij".to_vec())]);
    assert_eq!(all.gap(handle, true, 1), Err(Lost));
}

/// Each shard has its cap; a connection that ends makes room for another.
#[test]
fn connections_are_capped_in_each_shard() {
    let options = WebSocketOptions {
        shard_connections_max: 2,
    };
    let mut all = WebSocket::new(options).unwrap();
    let first = all.begin(Shard(1)).unwrap();
    assert!(all.begin(Shard(1)).is_some() && all.begin(Shard(1)).is_none());
    assert!(all.begin(Shard(2)).is_some());
    all.set_reader(first, Some(7));
    assert_eq!(
        (all.reader(first), all.shard(first)),
        (Some(7), Some(Shard(1)))
    );
    all.end(first);
    assert!(all.begin(Shard(1)).is_some());
    assert_eq!(all.losses().iter().count(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The property that fuzzing checks, on a few inputs.
    #[test]
    fn conversations_carry_the_same_however_they_are_cut(
        bytes in prop::collection::vec(prop_oneof![Just(0x82u8), 0u8..20, any::<u8>()], 0..200),
    ) {
        crate::fuzz_websocket(&bytes);
    }

    /// The payload of any bytes is the same for all cuts.
    #[test]
    fn the_payload_does_not_depend_on_cuts(
        bytes in prop::collection::vec(
            prop_oneof![Just(0x82u8), Just(0x81), 0u8..8, any::<u8>()],
            0..300,
        ),
        cut in 1usize..40,
    ) {
        let pieces: Vec<&[u8]> = bytes.chunks(cut).collect();
        prop_assert_eq!(carried(&pieces, true), carried(&[&bytes], true));
    }
}
