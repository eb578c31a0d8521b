//! Hand-made frames, cut anywhere.

use crate::Carried;
use crate::frames::{Frames, Lost};
use crate::fuzz::Bytes;
use flowpin_counters::Loss;
use flowpin_memory::Budget;
use flowpin_packet::Timestamp;
use flowpin_parser::testing::{Records, SHARD, Trial};
use flowpin_parser::{Next, Parser, ParserSetup};
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

fn carried(pieces: &[&[u8]]) -> (Vec<u8>, Result<(), Lost>) {
    let mut frames = Frames::default();
    let mut out = Vec::new();
    for piece in pieces {
        let result = frames.read(piece, &mut |bytes| out.extend_from_slice(bytes));
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
    assert_eq!(carried(&[hello]), (b"Hello".to_vec(), Ok(())));
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
        assert_eq!(carried(&pieces), (expected.clone(), Ok(())));
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
        assert_eq!(carried(&[&bytes]), (b"good".to_vec(), Err(Lost)));
    }
}

/// Missing payload bytes are counted, and unmasking stays in step; a missing header ends the
/// payload.
#[test]
fn a_gap_inside_a_payload_is_skipped() {
    let mut frames = Frames::default();
    let bytes = frame(0x82, b"abcdefghij", Some([1, 2, 3, 4]));
    let mut out = Vec::new();
    let mut put = |part: &[u8]| out.extend_from_slice(part);
    assert_eq!(frames.read(&bytes[..8], &mut put), Ok(()));
    assert_eq!(frames.skip(5), Ok(5));
    assert_eq!(frames.read(&bytes[13..], &mut put), Ok(()));
    assert_eq!(out, b"abhij");
    assert_eq!(frames.skip(1), Err(Lost));
}

/// TLS is passed on, of both sides and with its gaps; other payload releases the connection.
#[test]
fn only_tls_is_passed_on() {
    let head = frame(0x82, b"\x16\x03\x01", None);
    let more = frame(0x82, b"abcdefghi", Some([1, 2, 3, 4]));
    let setup = ParserSetup::default();
    let mut trial = Trial::new(Carried::<Bytes>::new(&setup).unwrap(), &setup);
    let mut sink = Records::default();
    let connection = trial.begin(0).unwrap();
    let at = Timestamp(1);
    for (to_server, bytes) in [(true, &head), (false, &head)] {
        assert_eq!(
            trial.data(connection, at, to_server, bytes, &mut sink),
            Next::More
        );
    }
    assert_eq!(
        trial.data(connection, at, true, &more[..7], &mut sink),
        Next::More
    );
    assert_eq!(trial.gap(connection, at, true, 2, &mut sink), Next::More);
    assert_eq!(trial.closed(connection, at, false, &mut sink), Next::More);
    trial.end(connection, at, &mut sink);
    let bytes = ["22", "3", "1", "22", "3", "1", "97", "-", "-"];
    let mut expected: Vec<String> = bytes.map(|byte| format!("byte {byte}")).into();
    expected.push("ended".into());
    assert_eq!(sink.records, expected);

    let text = frame(0x81, b"hello", None);
    let connection = trial.begin(0).unwrap();
    let next = trial.data(connection, at, true, &text, &mut sink);
    assert_eq!((next, sink.records.len()), (Next::Nothing, expected.len()));
    trial.finish(&mut sink);
}

/// Whether it is TLS is decided by the same bytes, however they are cut: the parser inside is asked
/// only then, and gets all of them. Missing ones are a gap, with those that were withheld.
#[test]
fn cuts_do_not_decide_what_is_tls() {
    let head = |payload: &[u8]| {
        [
            &[(payload.len() as u8 + 2) << 1][..],
            &frame(0x82, payload, None),
        ]
        .concat()
    };
    for piece in [1, 2, 3, 4, 100] {
        assert!(
            crate::fuzz::carried(&head(b"\x16\x04"), piece).is_empty(),
            "{piece}"
        );
        assert!(
            crate::fuzz::carried(&head(b"\x16\x03\x05"), piece).is_empty(),
            "{piece}"
        );
        let all = crate::fuzz::carried(&head(b"\x16\x03\x04"), piece);
        assert_eq!(all, ["byte 22", "byte 3", "byte 4", "ended"], "{piece}");
    }
    let setup = ParserSetup::default();
    let mut trial = Trial::new(Carried::<Bytes>::new(&setup).unwrap(), &setup);
    let connection = trial.begin(0).unwrap();
    let (mut sink, at) = (Records::default(), Timestamp(1));
    let whole = frame(0x82, b"\x16\x03\x01", None);
    trial.data(connection, at, false, &whole, &mut sink);
    trial.data(connection, at, true, &whole[..3], &mut sink);
    trial.gap(connection, at, true, 1, &mut sink);
    trial.data(connection, at, true, &whole[4..], &mut sink);
    trial.finish(&mut sink);
    let expected = [
        "byte 22", "byte 3", "byte 1", "byte -", "byte -", "byte 1", "ended",
    ];
    assert_eq!(sink.records, expected);
}

/// The parser inside takes its part of the same memory, and what it does not get is counted.
#[test]
fn the_parser_inside_is_charged() {
    let bytes = u64::from(Carried::<Bytes>::CONNECTION_BYTES) + 4;
    let setup = ParserSetup::default().with_budgets(Budget::new(bytes), Budget::new(0));
    let mut trial = Trial::new(Carried::<Bytes>::new(&setup).unwrap(), &setup);
    let mut sink = Records::default();
    let connection = trial.begin(0).unwrap();
    let head = frame(0x82, b"\x16\x03\x01", None);
    let next = trial.data(connection, Timestamp(1), true, &head, &mut sink);
    assert_eq!(next, Next::Nothing);
    assert_eq!(setup.budget.left(SHARD), bytes);
    let parser = trial.finish(&mut sink);
    assert_eq!(parser.losses().of(Loss::ParserConnections), 1);
}

proptest! {
        /// The property that fuzzing checks, on a few inputs.
    #[test]
    fn conversations_carry_the_same_however_they_are_cut(
        bytes in prop::collection::vec(prop_oneof![Just(0x82u8), 0u8..20, any::<u8>()], 0..200),
    ) {
        crate::fuzz_websocket(&bytes);
    }

    /// The same of payload that begins as TLS does.
    #[test]
    fn what_is_passed_on_does_not_depend_on_cuts(
        bytes in prop::collection::vec(prop_oneof![Just(0x82u8), 0u8..20, any::<u8>()], 0..200),
        piece in 1u8..9,
    ) {
        let tls = [10, 0x82, 3, 22, 3, 1];
        crate::fuzz_websocket(&[&[piece][..], &tls, &bytes].concat());
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
        prop_assert_eq!(carried(&pieces), carried(&[&bytes]));
    }
}
