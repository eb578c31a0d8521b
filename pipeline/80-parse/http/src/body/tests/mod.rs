//! Bodies decoded, hashed and kept, whatever their pieces.

mod flaws;

use super::decoder::Decoder;
use super::layers::{BROTLI, DEFLATE, Encoding, Encodings, GZIP, IDENTITY, ZSTD};
use super::pool::Bodies;
use super::state::BodyState;
use super::{Context, Output};
use crate::anomaly::Anomaly;
use crate::options::BodyOptions;
use crate::state::NONE;
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use flowpin_memory::Budget;
use flowpin_packet::Timestamp;
use flowpin_record::{FilePart, MessageSchema, MessageSink, Value};
use std::io::Write;

fn all() -> BodyOptions {
    BodyOptions {
        decode: true,
        md5: true,
        sha1: true,
        sha256: true,
        files: true,
        ..BodyOptions::default()
    }
}

/// What comes out, and what was told.
fn decoded(
    encoding: Encoding,
    bytes: &[u8],
    piece: usize,
    options: &BodyOptions,
) -> (Vec<u8>, Vec<Anomaly>, BodyState) {
    decoded_twice(Encodings::of_content(encoding), bytes, piece, options)
}

fn decoded_twice(
    encodings: Encodings,
    bytes: &[u8],
    piece: usize,
    options: &BodyOptions,
) -> (Vec<u8>, Vec<Anomaly>, BodyState) {
    let mut work = BodyState::new(encodings, 2, 0, options);
    let mut space = vec![0; 1 << 10];
    let mut out = Vec::new();
    let mut context = Context {
        options,
        space: &mut space,
        len_max: u64::MAX,
        output: &mut out,
    };
    for part in bytes.chunks(piece) {
        work.feed(part, &mut context);
    }
    work.finish(&mut context);
    (out, work.anomalies.iter().collect(), work)
}

impl Output for Vec<u8> {
    fn put(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

/// The bytes of a file.
#[derive(Debug, Default)]
struct Made(Vec<u8>);

impl MessageSink for Made {
    fn message(&mut self, _: &MessageSchema, _: Timestamp, _: &[Value<'_>]) {}

    fn anomaly(&mut self, _: &'static str) {}

    fn file(&mut self, part: FilePart<'_>) {
        if let FilePart::Data(_, bytes) = part {
            self.0.extend_from_slice(bytes);
        }
    }
}

/// Feeds a body with its next bytes.
fn feed(bodies: &mut Bodies, body: u32, bytes: &[u8], made: &mut Made) {
    let mut open = bodies.open(body, made).unwrap();
    let (state, mut context) = open.parts();
    state.feed(bytes, &mut context);
    open.charge();
}

fn text() -> Vec<u8> {
    (0..5000u32)
        .flat_map(|n| format!("line {} of many\n", n * n).into_bytes())
        .collect()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// RFC 9110 §8.4.1, RFC 8878; and deflate without its frame, as some servers send it.
#[test]
fn bodies_are_decoded_in_any_pieces() {
    let text = text();
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::best());
    zlib.write_all(&text).unwrap();
    let mut raw = DeflateEncoder::new(Vec::new(), Compression::fast());
    raw.write_all(&text).unwrap();
    for (encoding, bytes) in [
        (IDENTITY, text.clone()),
        (GZIP, gzip(&text)),
        (DEFLATE, gzip(&text)),
        (DEFLATE, zlib.finish().unwrap()),
        (DEFLATE, raw.finish().unwrap()),
        (ZSTD, zstd::encode_all(text.as_slice(), 3).unwrap()),
    ] {
        for piece in [1, 7, 1000, usize::MAX] {
            let (out, told, mut work) = decoded(encoding, &bytes, piece, &all());
            assert_eq!(
                (out == text, told),
                (true, vec![]),
                "encoding {encoding} by {piece}"
            );
            assert_eq!(work.len, text.len() as u64);
            assert_eq!(work.media_type(), Some("text/plain"));
            assert!(work.hashers.finish().sha256.is_some());
        }
    }
}

/// RFC 7932: a stream made by hand, of one uncompressed block.
#[test]
fn brotli_is_decoded() {
    let bytes = b"\x0b\x02\x80hello\x03";
    for piece in [1, 3, 100] {
        let (out, told, _) = decoded(BROTLI, bytes, piece, &all());
        assert_eq!((out.as_slice(), told), (b"hello".as_slice(), vec![]));
    }
}

/// The hashes are those of the decoded bytes (RFC 1321 and FIPS 180 test values).
#[test]
fn hashes_are_of_the_decoded_bytes() {
    let (_, _, mut work) = decoded(GZIP, &gzip(b"abc"), 5, &all());
    let hashes = work.hashers.finish();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    assert_eq!(
        text(&hashes.md5.unwrap()),
        "900150983cd24fb0d6963f7d28e17f72"
    );
    assert_eq!(
        text(&hashes.sha1.unwrap()),
        "a9993e364706816aba3e25717850c26c9cd0d89d"
    );
    assert!(text(&hashes.sha256.unwrap()).starts_with("ba7816bf8f01cfea414140de5dae2223"));
}

/// A small body that becomes a large one stops, at the same place whatever its pieces.
#[test]
fn bombs_are_stopped_and_told() {
    let bomb = gzip(&vec![0; 4 << 20]);
    let strict = BodyOptions {
        ratio_max: 100,
        ..all()
    };
    let (out, told, _) = decoded(GZIP, &bomb, usize::MAX, &strict);
    assert_eq!(told, [Anomaly::ExpandsTooMuch]);
    assert!(out.len() < 1 << 20);
    assert_eq!(decoded(GZIP, &bomb, 13, &strict).0.len(), out.len());
    let short = BodyOptions {
        decoded_bytes_max: 12_345,
        ..all()
    };
    for piece in [1, usize::MAX] {
        let (out, told, work) = decoded(GZIP, &bomb, piece, &short);
        assert_eq!((out.len(), told), (12_345, vec![Anomaly::DecodedTooLong]));
        assert!(work.is_broken);
    }
}

/// RFC 1952 §2.2: a body is a sequence of members, decoded as if they were one; both limits hold
/// for all of them. What stands behind the last and is no member is left out.
#[test]
fn all_members_of_a_gzip_body_are_decoded() {
    let text = text();
    let (first, rest) = text.split_at(1234);
    let empty = gzip(b"");
    let body = [gzip(first), empty.clone(), gzip(rest), empty].concat();
    let several = [Anomaly::GzipMembers];
    for behind in [
        b"".as_slice(),
        &[0; 600],
        b"\x1f",
        b"\x1f\x8b\x09 is none",
        b"more",
    ] {
        let body = [&body, behind].concat();
        for piece in [1, 7, 1000, usize::MAX] {
            let (out, told, work) = decoded(GZIP, &body, piece, &all());
            assert_eq!(
                (out == text, told.as_slice()),
                (true, &several[..]),
                "{piece}"
            );
            assert!(!work.is_broken);
        }
    }
    let (out, told, _) = decoded(GZIP, &[gzip(first), b"\0\0".to_vec()].concat(), 3, &all());
    assert_eq!((out.as_slice(), told), (first, vec![]));
    // Data of a later member that is wrong is wrong.
    let broken = [gzip(first), gzip(b"")[..10].to_vec(), vec![0xff; 9]].concat();
    for piece in [1, usize::MAX] {
        let (out, told, work) = decoded(GZIP, &broken, piece, &all());
        assert_eq!((out.as_slice(), work.is_broken), (first, true));
        assert_eq!(told, [Anomaly::GzipMembers, Anomaly::EncodingInvalid]);
    }
}

/// A bomb in several members is one bomb.
#[test]
fn limits_hold_for_all_members_together() {
    let member = gzip(&vec![0; 60 << 10]);
    let bomb = member.repeat(300);
    let strict = BodyOptions {
        ratio_max: 100,
        ..all()
    };
    let short = BodyOptions {
        decoded_bytes_max: 100_000,
        ..all()
    };
    for (options, last) in [
        (strict, Anomaly::ExpandsTooMuch),
        (short, Anomaly::DecodedTooLong),
    ] {
        let (out, told, _) = decoded(GZIP, &bomb, usize::MAX, &options);
        assert!(out.len() < 1 << 20, "{} bytes", out.len());
        assert_eq!(told, [Anomaly::GzipMembers, last]);
        let (again, told, _) = decoded(GZIP, &bomb, 13, &options);
        assert_eq!((again.len(), told.last()), (out.len(), Some(&last)));
    }
}

/// What is not encoded as it says is kept as it is, or told to be broken.
#[test]
fn wrong_encodings_are_told() {
    let (out, told, _) = decoded(GZIP, b"<html>plain</html>", 4, &all());
    assert_eq!(out, b"<html>plain</html>");
    assert_eq!(told, [Anomaly::EncodingInvalid]);
    for encoding in [GZIP, DEFLATE, BROTLI, ZSTD] {
        let (_, told, _) = decoded(encoding, &[0xff; 100], 9, &all());
        assert_eq!(told, [Anomaly::EncodingInvalid], "{encoding}");
    }
    let (out, told, _) = decoded(GZIP, b"x", 4, &all());
    assert_eq!((out.as_slice(), told), (b"x".as_slice(), vec![]));
}

/// What a decoder keeps of what it made is memory: a shard's cap ends the body, at the same place
/// whatever its pieces, and leaves others their room.
#[test]
fn windows_are_capped_in_each_shard() {
    let noise: Vec<u8> = (0..3u32 << 20)
        .map(|n| (n.wrapping_mul(0x9e37_79b9) >> 13) as u8)
        .collect();
    let sent = zstd::encode_all(noise.as_slice(), 3).unwrap();
    let options = BodyOptions {
        files: false,
        ..all()
    };
    let mut lens = Vec::new();
    for piece in [999, usize::MAX] {
        let mut bodies = Bodies::new(&options, &Budget::new(2 << 20));
        let one = bodies.begin(Encodings::of_content(ZSTD), 2, 0, b"");
        let other = bodies.begin(Encodings::of_content(IDENTITY), 2, 0, b"");
        for part in sent.chunks(piece) {
            feed(&mut bodies, one, part, &mut Made::default());
        }
        assert_ne!(bodies.begin(Encodings::of_content(ZSTD), 4, 0, b""), NONE);
        let work = bodies.end(one, &mut Made::default()).unwrap();
        assert!(work.no_room && work.is_broken && work.anomalies.iter().next().is_none());
        lens.push(work.len);
        assert!(!bodies.end(other, &mut Made::default()).unwrap().no_room);
    }
    assert_eq!(lens[0], lens[1]);
    assert!((1 << 20..2 << 20).contains(&lens[0]));
    // A body with a smaller window may be as long as it likes.
    let sent = zstd::encode_all(noise.as_slice(), 1).unwrap();
    let mut bodies = Bodies::new(&options, &Budget::new(2 << 20));
    let one = bodies.begin(Encodings::of_content(ZSTD), 2, 0, b"");
    feed(&mut bodies, one, &sent, &mut Made::default());
    let work = bodies.end(one, &mut Made::default()).unwrap();
    assert_eq!((work.no_room, work.len), (false, noise.len() as u64));
    assert!(work.anomalies.iter().next().is_none());
    let mut bodies = Bodies::new(&options, &Budget::new(2 << 20));
    let begun = (0..9).filter(|_| bodies.begin(Encodings::of_content(ZSTD), 2, 0, b"") != NONE);
    assert_eq!(begun.count(), 4);
    assert_ne!(bodies.begin(Encodings::of_content(ZSTD), 2, 1, b""), NONE);
}

/// RFC 7932 §9.1: the first bits tell the window.
#[test]
fn windows_of_brotli_are_read() {
    for (first, log) in [
        (0x0b, 22),
        (0x0c, 16),
        (0x01, 17),
        (0x0f, 24),
        (0x21, 10),
        (0x71, 15),
    ] {
        let window = Decoder::new(BROTLI).window(&[first], false);
        assert_eq!(window, 1 << log, "{first:#x}");
    }
}

/// Gaps are zeros in a file, no more than it may hold.
#[test]
fn gaps_do_not_make_a_file_longer_than_the_limit() {
    let options = BodyOptions {
        decoded_bytes_max: 3 << 20,
        ..all()
    };
    let mut bodies = Bodies::new(&options, &Budget::new(32 << 20));
    let body = bodies.begin(Encodings::of_content(IDENTITY), 2, 0, b"");
    let zeros: Vec<u64> = (0..5)
        .map(|_| bodies.gap(body, u64::MAX / 8, &mut Made::default()))
        .collect();
    assert_eq!(zeros, [1 << 20, 1 << 20, 1 << 20, 0, 0]);
    feed(&mut bodies, body, b"x", &mut Made::default());
    let work = bodies.end(body, &mut Made::default()).unwrap();
    assert!(work.anomalies.iter().eq([Anomaly::DecodedTooLong]));
}
