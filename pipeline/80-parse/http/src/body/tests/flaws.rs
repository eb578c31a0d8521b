//! Bodies whose checksums are wrong, that end too soon, or were coded for the transfer as well.

use super::{Made, all, decoded, decoded_twice, feed, gzip, text};
use crate::anomaly::Anomaly;
use crate::body::Bodies;
use crate::body::layers::{BROTLI, DEFLATE, Encoding, Encodings, GZIP, IDENTITY, UNKNOWN, ZSTD};
use crate::options::BodyOptions;
use crate::state::NONE;
use flate2::Compression;
use flate2::write::{DeflateEncoder, ZlibEncoder};
use flowpin_memory::Budget;
use proptest::prelude::*;
use std::io::Write;

fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn raw(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// With a checksum, which is optional.
fn zstd(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// 951 bytes: `line 0 of many`, and so on, with 59 other squares modulo 97 (RFC 7932).
const BROTLI_LINES: &[u8] =
    b"\x1b\xb6\x03\x00\x1c\x89\x71\x2c\xc9\x2a\xc6\xc4\x85\xdc\x70\xa6\xfa\x10\x87\x00\x4a\x0d\
    \xcf\x30\xb3\xb7\x06\x51\x70\xcb\xcb\xff\xe3\xdf\xdc\xef\x96\x1c\xc4\x18\xc3\xb7\x92\x8f\
    \x1a\xe8\xc6\xd8\xe0\xc5\xac\x41\xf4\x9e\xfe\x79\xdf\xf9\xed\x19\x08\x45\x0f\x48\x30\x06\
    \x03\x15\x11\x0e\x8b\x2b\x42\xd0\x62\xe7\xc9\xc5\x3a\x64\x44\x2d\x32\xde\x42\x60\xa2\x81\
    \x84\x02\xa2\xaa\x78\xe3\x40\x8c\x59\xdc\x95\x35\xb3\x4a\x00\x34\x00\x5c\x90\x40\x07\x0e\
    \x70\x23\xa0\xc4\xf9\xb4\xed\x95\xaf\xb0\x1c\xc5\x19\xe5\x08\x1f\x70\x31\xe9\x5d\x3e\x0a";

/// RFC 1952 §2.3.1, RFC 1950 §2.2, RFC 8878 §3.1.1: each byte of a checksum or length counts, and
/// all that was decoded is there all the same.
#[test]
fn wrong_checksums_are_told() {
    let text = text();
    for (encoding, bytes, trailer) in [
        (GZIP, gzip(&text), 8),
        (DEFLATE, gzip(&text), 8),
        (DEFLATE, zlib(&text), 4),
        (ZSTD, zstd(&text), 4),
    ] {
        for back in 1..=trailer {
            let mut bytes = bytes.clone();
            let at = bytes.len() - back;
            bytes[at] ^= 0x10;
            for piece in [1, 7, 1000, usize::MAX] {
                let (out, told, work) = decoded(encoding, &bytes, piece, &all());
                let about = format!("encoding {encoding} by {piece}, {back} back");
                assert_eq!(told, [Anomaly::ChecksumWrong], "{about}");
                assert!(out == text && !work.is_broken && !work.is_inside, "{about}");
            }
        }
    }
    // Members behind a wrong one are decoded.
    let mut first = gzip(b"one");
    let at = first.len() - 8;
    first[at] ^= 1;
    let (out, told, _) = decoded(GZIP, &[first, gzip(b"two")].concat(), 5, &all());
    assert_eq!(out, b"onetwo");
    assert_eq!(told, [Anomaly::GzipMembers, Anomaly::ChecksumWrong]);
}

/// A body that ends inside its encoding is known to be short; one that ends with it is not.
#[test]
fn encodings_that_do_not_end_are_known() {
    let text = text();
    for (encoding, bytes) in [
        (GZIP, gzip(&text)),
        (DEFLATE, zlib(&text)),
        (DEFLATE, raw(&text)),
        (ZSTD, zstd(&text)),
        (BROTLI, BROTLI_LINES.to_vec()),
    ] {
        let ends = |bytes: &[u8]| {
            let (_, told, work) = decoded(encoding, bytes, 100, &all());
            assert_eq!(told, []);
            !work.is_inside
        };
        assert!(ends(&bytes), "{encoding}");
        for short in [1, 2, bytes.len() / 2] {
            assert!(
                !ends(&bytes[..bytes.len() - short]),
                "{encoding} by {short}"
            );
        }
        assert!(ends(b""), "{encoding}");
    }
    // What follows a last member is no matter.
    let (_, _, work) = decoded(GZIP, &[gzip(b"x"), b"\x1f".to_vec()].concat(), 3, &all());
    assert!(!work.is_inside);
    // RFC 1950 §2.2: no dictionary is known to both sides of HTTP.
    let (_, told, _) = decoded(DEFLATE, b"\x78\x20\0\0\0\0x", 2, &all());
    assert_eq!(told, [Anomaly::EncodingInvalid]);
}

fn both(transfer: Encoding, content: Encoding) -> Encodings {
    let mut encodings = Encodings::of_content(content);
    encodings.transfer.push(transfer);
    encodings
}

/// RFC 9112 §7: the transfer coding is undone first, then the content coding.
#[test]
fn transfer_codings_are_undone_first() {
    let text = text();
    for (encodings, bytes) in [
        (both(GZIP, IDENTITY), gzip(&text)),
        (both(DEFLATE, IDENTITY), zlib(&text)),
        (both(GZIP, GZIP), gzip(&gzip(&text))),
        (both(GZIP, DEFLATE), gzip(&zlib(&text))),
        (both(DEFLATE, ZSTD), zlib(&zstd(&text))),
    ] {
        for piece in [1, 7, 1000, usize::MAX] {
            let (out, told, mut work) = decoded_twice(encodings, &bytes, piece, &all());
            assert_eq!(
                (out == text, told),
                (true, vec![]),
                "{encodings:?} by {piece}"
            );
            assert_eq!((work.len, work.is_inside), (text.len() as u64, false));
            assert!(!work.is_broken && work.hashers.finish().sha256.is_some());
            let cut = &bytes[..bytes.len() - 1];
            assert!(decoded_twice(encodings, cut, piece, &all()).2.is_inside);
        }
        let plain = BodyOptions {
            decode: false,
            ..all()
        };
        assert_eq!(decoded_twice(encodings, &bytes, 99, &plain).0, bytes);
    }
    // What cannot be undone is left as it is, with all that is inside.
    let (out, told, _) = decoded_twice(both(UNKNOWN, GZIP), &gzip(b"x"), 3, &all());
    assert_eq!((out, told), (gzip(b"x"), vec![]));
    // Coded once, said twice, as some servers do.
    let (out, told, _) = decoded_twice(both(GZIP, GZIP), &gzip(b"text"), 3, &all());
    assert_eq!(
        (out, told),
        (b"text".to_vec(), vec![Anomaly::EncodingInvalid])
    );
    // One byte alone decides nothing.
    let (out, told, _) = decoded_twice(both(GZIP, IDENTITY), b"x", 3, &all());
    assert_eq!((out, told), (b"x".to_vec(), vec![]));
}

/// A bomb inside a bomb counts against what came, at the same place whatever its pieces.
#[test]
fn limits_hold_for_both_codings_together() {
    let bomb = gzip(&gzip(&vec![0; 60 << 20]));
    let strict = BodyOptions {
        ratio_max: 100,
        ..all()
    };
    let short = BodyOptions {
        decoded_bytes_max: 70_000,
        ..all()
    };
    for (options, last, most) in [
        (strict, Anomaly::ExpandsTooMuch, 1 << 19),
        (short, Anomaly::DecodedTooLong, 70_000),
    ] {
        let (out, told, work) = decoded_twice(both(GZIP, GZIP), &bomb, usize::MAX, &options);
        assert!(out.len() <= most && work.is_broken, "{} bytes", out.len());
        assert_eq!(told, [last]);
        for piece in [1, 13, 1000] {
            let again = decoded_twice(both(GZIP, GZIP), &bomb, piece, &options);
            assert_eq!((again.0.len(), again.1), (out.len(), told.clone()));
        }
    }
    // Missing bytes end both.
    let mut work = super::BodyState::new(both(GZIP, IDENTITY), 2, 0, &all());
    assert_eq!(work.gap(100, &all()), 0);
    assert!(work.is_broken && work.is_over);
    // Memory of both decoders counts, and comes back.
    let options = BodyOptions {
        files: false,
        ..all()
    };
    let mut bodies = Bodies::new(&options, &Budget::new(256 << 10));
    let mut open = Vec::new();
    loop {
        match bodies.begin(both(GZIP, GZIP), 2, 0, b"") {
            NONE => break,
            handle => open.push(handle),
        }
    }
    assert_eq!(open.len(), 2);
    for handle in open.drain(..) {
        feed(&mut bodies, handle, &gzip(b"x"), &mut Made::default());
        bodies.end(handle, &mut Made::default());
    }
    assert_ne!(bodies.begin(both(GZIP, GZIP), 2, 0, b""), NONE);
}

/// Bodies that are called what they are not stay as they came, at once or in pieces, alone and
/// below another coding.
#[test]
fn plain_bodies_that_are_called_encoded_are_kept() {
    let json = br#"{"name": "value", "list": [1, 2, 3], "text": "called deflate, and plain"}"#;
    let long = [&b"<html><body>"[..], &b"Some text. ".repeat(500)].concat();
    for plain in [
        &b"plain text"[..],
        b"80 degrees",
        b"hCaptcha",
        b"Text that is of some length, and no more than that.",
        json,
        &long,
    ] {
        for encoding in [GZIP, DEFLATE, BROTLI, ZSTD] {
            for piece in [1, 7, 255, usize::MAX] {
                let about = format!("{encoding} by {piece}: {}", plain.escape_ascii());
                let (out, told, work) = decoded(encoding, plain, piece, &all());
                assert!(
                    out == plain && !work.is_broken && !work.is_inside,
                    "{about}"
                );
                assert_eq!(told, [Anomaly::EncodingInvalid], "{about}");
                let (out, ..) = decoded_twice(both(encoding, GZIP), plain, piece, &all());
                assert!(out == plain, "{about}");
                let (out, ..) = decoded_twice(both(GZIP, encoding), &gzip(plain), piece, &all());
                assert!(out == plain, "{about}");
            }
        }
    }
}

/// A body that lacks bytes has what came of those before.
#[test]
fn what_came_before_a_gap_is_kept() {
    let text = text();
    for (encoding, bytes) in [
        (GZIP, gzip(&text)),
        (DEFLATE, zlib(&text)),
        (DEFLATE, raw(&text)),
        (BROTLI, BROTLI_LINES.to_vec()),
    ] {
        let mut bodies = Bodies::new(&all(), &Budget::new(32 << 20));
        let body = bodies.begin(Encodings::of_content(encoding), 2, 0, b"");
        assert!(bodies.begin_file(body));
        let mut made = Made::default();
        feed(&mut bodies, body, &bytes[..100], &mut made);
        bodies.gap(body, 9, &mut made);
        feed(&mut bodies, body, &bytes[100..], &mut made);
        let out = made.0;
        let (whole, ..) = decoded(encoding, &bytes, usize::MAX, &all());
        assert!(!out.is_empty() && whole.starts_with(&out), "{encoding}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Bodies that are damaged anywhere come out the same, with the same told, in any pieces.
    #[test]
    fn damaged_bodies_do_not_depend_on_pieces(
        which in 0usize..7,
        len in 0usize..3000,
        at in any::<prop::sample::Index>(),
        flip in 0u8..=255,
        pieces in prop::collection::vec(1usize..400, 1..4),
    ) {
        let text = &text()[..len];
        let (encodings, mut bytes) = match which {
            0 => (both(IDENTITY, GZIP), [gzip(text), gzip(text)].concat()),
            1 => (both(IDENTITY, DEFLATE), zlib(text)),
            2 => (both(IDENTITY, ZSTD), zstd(text)),
            3 => (both(GZIP, GZIP), gzip(&gzip(text))),
            4 => (both(DEFLATE, ZSTD), zlib(&zstd(text))),
            5 => (both(IDENTITY, BROTLI), BROTLI_LINES.to_vec()),
            _ => (both(GZIP, IDENTITY), [gzip(text), gzip(text)].concat()),
        };
        let at = at.index(bytes.len());
        bytes[at] ^= flip;
        let whole = decoded_twice(encodings, &bytes, usize::MAX, &all());
        for piece in pieces {
            let (out, told, work) = decoded_twice(encodings, &bytes, piece, &all());
            prop_assert_eq!((&out, &told), (&whole.0, &whole.1));
            prop_assert_eq!(work.is_broken, whole.2.is_broken);
            prop_assert_eq!(work.is_inside, whole.2.is_inside);
        }
    }
}
