//! Bodies that were encoded, coded for the transfer, or both, from head to file.

use super::{C, S};
use crate::fuzz::{Step, feed, parser};
use crate::{BodyOptions, HttpOptions};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// In chunks of five bytes.
fn chunked(bytes: &[u8]) -> Vec<u8> {
    let chunk = |part: &[u8]| [format!("{:x}\r\n", part.len()).as_bytes(), part, b"\r\n"].concat();
    let mut out: Vec<u8> = bytes.chunks(5).flat_map(chunk).collect();
    out.extend_from_slice(b"0\r\n\r\n");
    out
}

/// The file that a response with these fields and this body becomes, and anomalies.
fn file(fields: &str, body: &[u8]) -> Vec<String> {
    let options = HttpOptions {
        bodies: BodyOptions {
            decode: true,
            files: true,
            ..BodyOptions::default()
        },
        ..HttpOptions::default()
    };
    let head = format!("HTTP/1.1 200 OK\r\n{fields}\r\n");
    let response = [head.as_bytes(), body].concat();
    let steps = [
        Step::Data(C, b"GET / HTTP/1.1\r\nHost: h\r\n\r\n"),
        Step::Data(S, &response),
    ];
    let mut http = parser(options, 32 << 20).unwrap();
    let whole = feed(&mut http, &steps, usize::MAX);
    for piece in [1, 2, 7] {
        assert_eq!(
            feed(&mut http, &steps, piece),
            whole,
            "in pieces of {piece}"
        );
    }
    assert!(http.parser.is_empty());
    let is_brief = |line: &String| line.starts_with("file") || line.starts_with("http_");
    whole.into_iter().filter(is_brief).collect()
}

/// RFC 9112 §7: what was done for the transfer is undone before what was done to the content.
#[test]
fn files_are_of_what_was_meant() {
    let hello = gzip(b"hello");
    for (fields, body) in [
        ("Transfer-Encoding: gzip, chunked\r\n", chunked(&hello)),
        ("Transfer-Encoding: gzip\r\n", hello.clone()),
        (
            "Transfer-Encoding: Deflate , Chunked\r\n",
            chunked(b"\x78\x9c\xcb\x48\xcd\xc9\xc9\x07\0\x06\x2c\x02\x15"),
        ),
        (
            "Content-Encoding: gzip\r\nTransfer-Encoding: x-gzip, chunked\r\n",
            chunked(&gzip(&hello)),
        ),
        (
            "Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n",
            chunked(&hello),
        ),
    ] {
        assert_eq!(file(fields, &body), ["file 3 true hello"], "{fields}");
    }
    // Two fields are one list.
    let two = "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n";
    let found = file(two, &chunked(&hello));
    assert_eq!(found, ["http_coding_repeated", "file 3 true hello"]);
    // What nobody can undo, or was not done to what stands in the chunks, is left as it is.
    for (coding, anomaly) in [
        ("gzip, gzip, chunked", "http_encoding_invalid"),
        ("compress, chunked", "http_encoding_unknown"),
        ("chunked, gzip", "http_coding_not_last"),
    ] {
        let found = file(&format!("Transfer-Encoding: {coding}\r\n"), &chunked(b"hi"));
        assert_eq!(found, [anomaly, "file 3 true hi"], "{coding}");
    }
}

/// RFC 1952 §2.3.1: a wrong checksum is told, and the file is there; a short encoding makes it
/// a short file.
#[test]
fn flaws_of_encodings_are_told() {
    let mut wrong = gzip(b"hello");
    let crc = wrong.len() - 8;
    wrong[crc] ^= 1;
    for (fields, body) in [
        (
            "Content-Encoding: gzip\r\nContent-Length: 25\r\n",
            wrong.clone(),
        ),
        ("Transfer-Encoding: gzip, chunked\r\n", chunked(&wrong)),
    ] {
        let found = file(fields, &body);
        assert_eq!(found, ["http_checksum_wrong", "file 3 true hello"]);
    }
    let short = &gzip(b"hello")[..20];
    for (fields, body) in [
        (
            "Content-Encoding: gzip\r\nContent-Length: 20\r\n",
            short.to_vec(),
        ),
        ("Transfer-Encoding: gzip, chunked\r\n", chunked(short)),
    ] {
        let found = file(fields, &body);
        assert_eq!(found, ["http_encoding_cut", "file 3 false hello"]);
    }
    // Of a stream nobody knows whether it ended, and a cut body is told to be one.
    let found = file("Content-Encoding: gzip\r\n", short);
    assert_eq!(found, ["file 3 false hello"]);
    let found = file("Content-Encoding: gzip\r\nContent-Length: 25\r\n", short);
    assert_eq!(found, ["http_body_cut", "file 3 false hello"]);
}

/// RFC 9110 §8.4: what was done last is undone first. curl does so, up to five; Go, Python and Node
/// undo none of a list.
#[test]
fn lists_of_content_codings_are_undone() {
    let zlib = |bytes: &[u8]| {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    let hello = gzip(b"hello");
    let gzips = |count| (0..count).fold(b"hello".to_vec(), |bytes, _| gzip(&bytes));
    let many = |count| vec!["gzip"; count].join(", ");
    let list = "http_encoding_list";
    for (codings, body, told) in [
        ("gzip, deflate", zlib(&hello), vec![list]),
        ("identity, gzip", hello.clone(), vec![list]),
        ("gzip,\tidentity", hello.clone(), vec![list]),
        (",gzip,", hello.clone(), vec![list]),
        ("X-GZIP", hello.clone(), vec![]),
        ("none", b"hello".to_vec(), vec![]),
        (
            "gzip\r\nContent-Encoding: x-deflate",
            zlib(&hello),
            vec![list],
        ),
        (
            "deflate, zstd, gzip",
            gzip(&zstd_of(&zlib(b"hello"))),
            vec![list],
        ),
        (&many(5), gzips(5), vec![list]),
        // Of what is not known nothing below is undone, but all above.
        (
            "foo, gzip",
            hello.clone(),
            vec![list, "http_encoding_unknown"],
        ),
        (
            "gzip, foo",
            b"hello".to_vec(),
            vec![list, "http_encoding_unknown"],
        ),
        // A known one among other bytes is undone if the body is coded so.
        ("gzip;q=1", hello.clone(), vec!["http_encoding_unknown"]),
        (
            "\u{b}gzip x",
            hello.clone(),
            vec!["http_control_byte", "http_encoding_unknown"],
        ),
        (
            "gzip;q=1",
            b"hello".to_vec(),
            vec!["http_encoding_unknown", "http_encoding_invalid"],
        ),
        (
            &many(6),
            b"hello".to_vec(),
            vec![list, "http_encodings_too_many"],
        ),
        // Done once, said twice.
        (
            "gzip, gzip",
            hello.clone(),
            vec![list, "http_encoding_invalid"],
        ),
    ] {
        let found = file(&format!("Content-Encoding: {codings}\r\n"), &body);
        let expected: Vec<_> = told.into_iter().chain(["file 3 true hello"]).collect();
        assert_eq!(found, expected, "{codings}");
    }
}

fn zstd_of(bytes: &[u8]) -> Vec<u8> {
    zstd::stream::encode_all(bytes, 1).unwrap()
}
