//! Frames: correct ones, wrong lengths and checksums, garbage, and every cut.

use super::{Frame, Window, checksum, frame, frame_of};

const LOGON: &[u8] =
    b"8=FIX.4.2\x019=46\x0135=A\x0134=1\x0149=A\x0156=B\x0152=20260101-00:00:00\x0198=0\x0110=";

fn logon(sum: u8) -> Vec<u8> {
    [LOGON, format!("{sum:03}\x01").as_bytes()].concat()
}

fn correct() -> Vec<u8> {
    let body = LOGON.len() - 3;
    logon(checksum(&LOGON[..body]))
}

/// FIX 4.2, Standard Message Header: BodyLength counts from its own end to the start of
/// CheckSum.
#[test]
fn a_correct_message_ends_where_its_length_says() {
    let message = correct();
    let length = message.len() - 7 - 15;
    assert_eq!(length, 46);
    let found = frame(&[&message[..], b"8=FIX"].concat(), 1000, false);
    let window = Window {
        len: message.len(),
        body_length: Some(46),
        body_length_ok: true,
        checksum_ok: Some(true),
    };
    assert_eq!(found, Frame::Message(window));
}

/// A wrong checksum is reported and does not move the end of the message.
#[test]
fn a_wrong_checksum_is_reported() {
    let good = checksum(&LOGON[..LOGON.len() - 3]);
    let message = logon(good.wrapping_add(1));
    let Frame::Message(window) = frame(&message, 1000, false) else {
        panic!("no message");
    };
    assert_eq!(
        (window.len, window.checksum_ok),
        (message.len(), Some(false))
    );
}

/// If the length is wrong, the message ends at its trailer, and is reported as soon as the
/// number of bytes that the length announces is available.
#[test]
fn a_message_with_a_wrong_length_ends_at_its_trailer() {
    for wrong in ["9=45", "9=9", "9=99", "9=0", "9=xx"] {
        let text = String::from_utf8(correct()).unwrap().replace("9=46", wrong);
        let message = [text.as_bytes(), &correct(), &correct(), &correct()].concat();
        let Frame::Message(window) = frame(&message, 1000, false) else {
            panic!("no message: {wrong}");
        };
        assert_eq!(
            (window.len, window.body_length_ok),
            (text.len(), false),
            "{wrong}"
        );
        assert!(matches!(
            frame(text.as_bytes(), 1000, true),
            Frame::Message(_)
        ));
    }
}

/// FIX 4.2, Checksum Calculation: the sum of all bytes, modulo 256.
#[test]
fn a_checksum_is_the_sum_of_all_bytes() {
    let bytes: Vec<u8> = (0..200u32).map(|at| (at * 37 + 11) as u8).collect();
    for len in 0..bytes.len() {
        let sum: u32 = bytes[..len].iter().map(|&byte| u32::from(byte)).sum();
        assert_eq!(u32::from(checksum(&bytes[..len])), sum % 256);
    }
}

/// A CheckSum that is not three digits is wrong but still ends its message.
#[test]
fn a_checksum_of_fewer_digits_ends_its_message() {
    for sum in ["0", "12", "", "1x3"] {
        let message = [LOGON, sum.as_bytes(), b"\x01"].concat();
        let after = [&message[..], &correct(), &correct()].concat();
        for (stream, last) in [(&after, false), (&message, true)] {
            let Frame::Message(window) = frame(stream, 1000, last) else {
                panic!("no message: {sum}");
            };
            let checks = (window.body_length_ok, window.checksum_ok);
            assert_eq!((window.len, checks), (message.len(), (true, Some(false))));
        }
    }
}

/// Once the front of a stream is decided, more bytes never change the decision.
#[test]
fn more_bytes_never_change_a_decision() {
    let wrong = String::from_utf8(correct()).unwrap().replace("9=46", "9=7");
    let streams = [
        [&correct()[..], &correct()].concat(),
        [wrong.as_bytes(), &correct(), &correct()].concat(),
        [b"8=8=FIX8=FI8=FIX.4", &correct()[..]].concat(),
        [b"\n8=F\r\n", &correct()[..]].concat(),
        [b"8=FIX.4.4\x0110=000\x01", &correct()[..], &correct()].concat(),
        b"8=FIX.4.4.4.4.4.4.4.4.4.4.4.4.4.4\x019=5\x01".to_vec(),
    ];
    for stream in streams {
        let mut decided = None;
        let mut need = 1;
        for len in 1..=stream.len() {
            let now = frame(&stream[..len], 1000, false);
            if let Frame::Garbage(_) = now {
                // Garbage is reported in parts: only the fact that it is garbage is final.
                assert!(matches!(decided, None | Some(Frame::Garbage(_))));
                decided = Some(now);
            } else if let Frame::Need(more) = now {
                assert!(decided.is_none() && more > len);
                need = more;
            } else {
                assert!(len >= need);
                assert_eq!(*decided.get_or_insert(now), now);
            }
        }
        assert!(decided.is_some());
    }
}

/// Bytes that contain no end of any message are given up at once, except for the last possible
/// start: otherwise every start would search the same bytes for its end.
#[test]
fn beginnings_without_an_end_are_given_up_together() {
    let mut stream = b"8=FIX.4.4\x019=9\x01y".repeat(100);
    let mut begun = 0;
    let mut given_up = 0;
    while let Frame::Broken(len) = frame(&stream, 1000, false) {
        stream.drain(..len);
        begun += len;
        given_up += 1;
    }
    assert_eq!((begun, given_up), (990, 1));
}

/// Without waiting for the bytes that BodyLength announces, correct messages end at the same
/// places.
#[test]
fn searching_early_finds_the_same_messages() {
    let long = [b"58=".as_slice(), &[b'x'; 300], b"\x01"].concat();
    let body = [b"35=0\x0134=2\x01".as_slice(), &long].concat();
    let head = format!("8=FIX.4.4\x019={}\x01", body.len());
    let mut message = [head.as_bytes(), &body].concat();
    let sum = checksum(&message);
    message.extend(format!("10={sum:03}\x01").bytes());
    for message in [&message, &correct()] {
        for last in [false, true] {
            let waited = frame_of(message, 1000, last, true);
            assert!(matches!(waited, Frame::Message(window) if window.body_length_ok));
            assert_eq!(frame_of(message, 1000, last, false), waited);
        }
    }
    let wrong = String::from_utf8(correct())
        .unwrap()
        .replace("9=46", "9=900");
    let found = frame_of(wrong.as_bytes(), 1000, true, false);
    assert!(matches!(found, Frame::Message(window) if !window.body_length_ok));
}

/// A message without an end is given up at the limit instead of waited for.
#[test]
fn a_message_beyond_the_limit_is_given_up() {
    let mut stream = b"8=FIX.4.4\x019=999999\x0135=D\x01".to_vec();
    stream.resize(2000, b'x');
    assert_eq!(frame(&stream, 1000, false), Frame::Broken(1000));
    assert!(matches!(frame(&stream[..900], 1000, false), Frame::Need(more) if more <= 1000));
}
