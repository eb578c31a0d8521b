//! Media types by the first bytes of a file.

/// Bytes that are compared.
pub const HEAD_LEN: usize = 64;

/// The media type, if the first bytes are those of a common one.
pub fn media_type(head: &[u8]) -> Option<&'static str> {
    let begins = |begin: &[u8]| head.starts_with(begin);
    let known = BEGINNINGS.iter().find(|(begin, _)| begins(begin));
    if let Some(&(_, name)) = known {
        return Some(name);
    }
    if begins(b"RIFF") {
        return match head.get(8..12) {
            Some(b"WEBP") => Some("image/webp"),
            Some(b"WAVE") => Some("audio/wav"),
            Some(b"AVI ") => Some("video/x-msvideo"),
            _ => None,
        };
    }
    if head.get(4..8) == Some(b"ftyp") {
        return Some(match head.get(8..12) {
            Some(b"avif") => "image/avif",
            Some(b"heic" | b"heix" | b"mif1") => "image/heic",
            Some(b"qt  ") => "video/quicktime",
            Some(b"M4A ") => "audio/mp4",
            _ => "video/mp4",
        });
    }
    // Java classes and universal Mach-O files start with the same four bytes; then follows a
    // version or the number of architectures.
    if begins(b"\xca\xfe\xba\xbe") {
        let is_class = head.get(7).is_some_and(|&version| version >= 45);
        return Some(if is_class {
            "application/x-java-applet"
        } else {
            "application/x-mach-o-executable"
        });
    }
    let text = head.trim_ascii_start();
    let begins = |begin: &[u8]| {
        text.get(..begin.len())
            .is_some_and(|text| text.eq_ignore_ascii_case(begin))
    };
    if begins(b"<!doctype html") || begins(b"<html") || begins(b"<head") || begins(b"<body") {
        return Some("text/html");
    }
    if begins(b"<svg") {
        return Some("image/svg+xml");
    }
    if begins(b"<?xml") {
        return Some("application/xml");
    }
    let is_text = !head.is_empty()
        && head
            .iter()
            .all(|&byte| byte >= b' ' || matches!(byte, 9..=13));
    if is_text && matches!(text.first(), Some(b'{' | b'[')) {
        return Some("application/json");
    }
    is_text.then_some("text/plain")
}

/// The number of a media type that [`media_type`] tells, from 1; 0: none.
pub fn media_number(name: Option<&'static str>) -> u8 {
    let place = name.and_then(|name| NAMES.iter().position(|&known| known == name));
    place.map_or(0, |place| {
        u8::try_from(place).unwrap_or(u8::MAX).wrapping_add(1)
    })
}

/// The media type with this number.
pub fn media_name(number: u8) -> Option<&'static str> {
    NAMES.get(usize::from(number.checked_sub(1)?)).copied()
}

#[rustfmt::skip]
const NAMES: &[&str] = &[
    "application/gzip",
    "application/json",
    "application/msword",
    "application/pdf",
    "application/postscript",
    "application/vnd.ms-cab-compressed",
    "application/vnd.sqlite3",
    "application/vnd.tcpdump.pcap",
    "application/wasm",
    "application/x-7z-compressed",
    "application/x-archive",
    "application/x-bzip2",
    "application/x-dosexec",
    "application/x-executable",
    "application/x-java-applet",
    "application/x-lz4",
    "application/x-mach-o-executable",
    "application/x-ms-shortcut",
    "application/x-rar",
    "application/x-rpm",
    "application/x-shockwave-flash",
    "application/x-xz",
    "application/xml",
    "application/zip",
    "application/zstd",
    "audio/flac",
    "audio/mp4",
    "audio/mpeg",
    "audio/ogg",
    "audio/wav",
    "font/otf",
    "font/ttf",
    "font/woff",
    "font/woff2",
    "image/avif",
    "image/bmp",
    "image/gif",
    "image/heic",
    "image/jpeg",
    "image/png",
    "image/svg+xml",
    "image/tiff",
    "image/webp",
    "image/x-icon",
    "text/html",
    "text/plain",
    "text/rtf",
    "text/x-shellscript",
    "video/mp4",
    "video/mpeg",
    "video/quicktime",
    "video/x-flv",
    "video/x-matroska",
    "video/x-msvideo",
];

const BEGINNINGS: &[(&[u8], &str)] = &[
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"BM", "image/bmp"),
    (b"\0\0\x01\0", "image/x-icon"),
    (b"%PDF-", "application/pdf"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1f\x8b", "application/gzip"),
    (b"BZh", "application/x-bzip2"),
    (b"\xfd7zXZ\0", "application/x-xz"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (b"Rar!\x1a\x07", "application/x-rar"),
    (b"MZ", "application/x-dosexec"),
    (b"\x7fELF", "application/x-executable"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/msword"),
    (b"FWS", "application/x-shockwave-flash"),
    (b"CWS", "application/x-shockwave-flash"),
    (b"OggS", "audio/ogg"),
    (b"ID3", "audio/mpeg"),
    (b"wOFF", "font/woff"),
    (b"wOF2", "font/woff2"),
    (b"\0asm", "application/wasm"),
    (b"OTTO", "font/otf"),
    (b"\0\x01\0\0\0", "font/ttf"),
    (b"II*\0", "image/tiff"),
    (b"MM\0*", "image/tiff"),
    (b"\xff\xfb", "audio/mpeg"),
    (b"fLaC", "audio/flac"),
    (b"\x1aE\xdf\xa3", "video/x-matroska"),
    (b"FLV\x01", "video/x-flv"),
    (b"\0\0\x01\xba", "video/mpeg"),
    (b"ZWS", "application/x-shockwave-flash"),
    (b"MSCF", "application/vnd.ms-cab-compressed"),
    (b"\x28\xb5\x2f\xfd", "application/zstd"),
    (b"\x04\x22\x4d\x18", "application/x-lz4"),
    (b"{\\rtf", "text/rtf"),
    (b"%!PS", "application/postscript"),
    (b"SQLite format 3\0", "application/vnd.sqlite3"),
    (b"!<arch>\n", "application/x-archive"),
    (b"\xed\xab\xee\xdb", "application/x-rpm"),
    (b"\x4c\0\0\0\x01\x14\x02\0", "application/x-ms-shortcut"),
    (b"\xcf\xfa\xed\xfe", "application/x-mach-o-executable"),
    (b"\xce\xfa\xed\xfe", "application/x-mach-o-executable"),
    (b"\xd4\xc3\xb2\xa1", "application/vnd.tcpdump.pcap"),
    (b"\xa1\xb2\xc3\xd4", "application/vnd.tcpdump.pcap"),
    (b"#!", "text/x-shellscript"),
];
