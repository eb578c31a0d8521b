//! Contents of records compared with the examples of their RFCs.

use super::{Rdata, read};
use crate::wire::cursor::Cursor;
use crate::wire::text::{ByteRange, Texts};

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    digits
        .chunks(2)
        .map(|two| u8::from_str_radix(str::from_utf8(two).unwrap(), 16).unwrap())
        .collect()
}

/// Returns the zone-file text and Zeek's text of contents without a message around them.
fn texts(kind: u16, contents: &[u8]) -> (String, String) {
    let mut texts = Texts::with_capacity(0);
    let mut cursor = Cursor::new(contents, 0, contents.len());
    let mut rdata = Rdata::default();
    read(kind, &mut cursor, &mut texts, &mut rdata);
    if let Some(address) = rdata.address(kind, contents) {
        return (address.to_string(), address.to_string());
    }
    let text = |place: ByteRange| String::from_utf8_lossy(texts.get(place)).into();
    (text(rdata.text), text(rdata.zeek))
}

fn ours(kind: u16, contents: &[u8]) -> String {
    texts(kind, contents).0
}

/// Each type has the format of its RFC.
#[test]
fn contents_are_those_of_zone_files() {
    let cases: [(u16, &[u8], &str); 29] = [
        (1, b"\xc0\0\x02\x01", "192.0.2.1"),
        (
            28,
            b"\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x01",
            "2001:db8::1",
        ),
        (5, b"\x01a\x02bc\0", "a.bc"),
        (15, b"\0\x0a\x01m\0", "10 m"),
        (16, b"\x03a b\x01c", "a b c"),
        (13, b"\x03CPU\x02OS", "\"CPU\" \"OS\""),
        (
            6,
            b"\x01n\0\x01r\0\0\0\0\x01\0\0\0\x02\0\0\0\x03\0\0\0\x04\0\0\0\x05",
            "n r 1 2 3 4 5",
        ),
        (33, b"\0\x01\0\x02\x13\xc4\x01s\0", "1 2 5060 s"),
        // RFC 3403 §6.2, with an empty replacement.
        (
            35,
            b"\0\x64\0\x0a\x01u\x03E2U\x08!^.*$!x!\0",
            "100 10 \"u\" \"E2U\" \"!^.*$!x!\" .",
        ),
        // RFC 6844 §3.
        (
            257,
            b"\0\x05issueca.example.net",
            "0 issue \"ca.example.net\"",
        ),
        // RFC 4034 §5.4.
        (
            43,
            b"\xec\x45\x05\x01\x2b\xb1\x83\xaf",
            "60485 5 1 2bb183af",
        ),
        (44, b"\x02\x01\x12\x34", "2 1 1234"),
        (52, b"\x03\x01\x01\xab", "3 1 1 ab"),
        (48, b"\x01\0\x03\x05foob", "256 3 5 Zm9vYg=="),
        // RFC 4034 §4.3.
        (
            47,
            b"\x04host\x07example\x03com\0\0\x06\x40\x01\0\0\0\x03\x04\x1b\0\0\0\0\0\0\0\0\0\0\0\0\
              \0\0\0\0\0\0\0\0\0\0\0\0\0\0\x20",
            "host.example.com A MX RRSIG NSEC TYPE1234",
        ),
        (51, b"\x01\0\0\x0c\x04\xaa\xbb\xcc\xdd", "1 0 12 aabbccdd"),
        (51, b"\x01\0\0\x0c\0", "1 0 12 -"),
        (
            50,
            b"\x01\x01\0\x0c\0\x05fooba\0\x01\x40",
            "1 1 12 - cpnmuoj1 A",
        ),
        (50, b"\x01\0\0\0\0\x05fooba", "1 0 0 - cpnmuoj1"),
        // RFC 6742 §2.1.
        (
            106,
            b"\0\x0a\x20\x01\x0d\xb8\x11\x40\x10\0",
            "10 2001:0db8:1140:1000",
        ),
        // RFC 8945 §4.2, RFC 2930 §2.
        (
            250,
            b"\x0bhmac-sha256\0\0\x01\0\0\0\x02\x01\x2c\0\x03foo\x12\x34\0\x10\0\0",
            "hmac-sha256 4294967298 300 3 Zm9v 4660 16 0",
        ),
        (
            249,
            b"\x01g\0\0\0\0\x01\0\0\0\x02\0\x03\0\0\0\x01f\0\x01o",
            "g 1 2 3 0 1 Zg== 1 bw==",
        ),
        (64, b"\0\0\x03svc\0", "0 svc"),
        (
            65,
            b"\0\x01\0\0\x01\0\x06\x02h2\x02h3\0\x03\0\x02\x20\xfb",
            "1 . alpn=h2,h3 port=8443",
        ),
        (
            65,
            b"\0\x01\0\0\x04\0\x08\xc0\0\x02\x01\xc0\0\x02\x02",
            "1 . ipv4hint=192.0.2.1,192.0.2.2",
        ),
        (256, b"\0\x0a\0\x01ftp://x", "10 1 \"ftp://x\""),
        (108, b"\0\0\x5e\0\x53\x2a", "00-00-5e-00-53-2a"),
        (17, b"\x01m\0\0", "m ."),
        (99, b"\x01x", "x"),
    ];
    for (kind, contents, text) in cases {
        assert_eq!(ours(kind, contents), text, "type {kind}");
    }
}

/// RFC 4034 §3.3, the signature of the example.
#[test]
fn signatures_are_those_of_rfc_4034() {
    let mut contents = hex("0001 05 03 00015180 3e7c9dd7 3e5510d7 0a52");
    contents.extend(b"\x07example\x03com\0");
    contents.extend(hex("a0"));
    let text = "A 5 3 86400 20030322173103 20030220173103 2642 example.com oA==";
    let (own, zeek) = texts(46, &contents);
    assert_eq!((own.as_str(), zeek.as_str()), (text, "RRSIG 1 example.com"));
}

/// RFC 1876 §4, the first example.
#[test]
fn a_location_is_degrees_metres_and_sizes() {
    // 42 21 54 N 71 06 18 W -24m 30m
    let contents = hex("00 33 16 13 89172dd0 70be15f0 00988d20");
    let text = "42 21 54.000 N 71 6 18.000 W -24.00m 30.00m 10000.00m 10.00m";
    let (own, zeek) = texts(29, &contents);
    assert_eq!((own.as_str(), zeek.as_str()), (text, "LOC:  51 22 19"));
}

/// RFC 3597 §5: unknown types, and contents that violate the rules of their type.
#[test]
fn unreadable_contents_are_hexadecimal() {
    assert_eq!(ours(731, b"\xab\xcd"), "\\# 2 abcd");
    assert_eq!(ours(731, b""), "\\# 0");
    for (kind, contents) in [
        (1, &b"\x01\x02\x03"[..]),
        (15, b"\0"),
        (6, b"\x01a\0"),
        (29, b"\x01"),
    ] {
        assert!(ours(kind, contents).starts_with("\\# "), "type {kind}");
    }
    assert_eq!(texts(731, b"").1, "<unknown type=731>");
}
