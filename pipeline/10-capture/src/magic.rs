//! What a file is, by its first bytes: never by its name.

use core::fmt;

/// What is wrapped around a capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Compression {
    /// Nothing.
    #[default]
    None,
    /// gzip (RFC 1952), one member or several.
    Gzip,
    /// Zstandard (RFC 8878), one frame or several.
    Zstd,
    /// LZ4 frames.
    Lz4,
    /// xz, one stream or several.
    Xz,
}

impl Compression {
    /// By the first bytes of a file.
    pub(crate) fn of(head: &[u8]) -> Self {
        match head {
            [0x1f, 0x8b, ..] => Self::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Self::Zstd,
            // A skippable frame: parallel compressors of Zstandard put one first.
            [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Self::Zstd,
            [0x04, 0x22, 0x4d, 0x18, ..] | [0x02, 0x21, 0x4c, 0x18, ..] => Self::Lz4,
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Self::Xz,
            _ => Self::None,
        }
    }

    /// The name in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Lz4 => "lz4",
            Self::Xz => "xz",
        }
    }
}

/// Why bytes are not a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// No bytes at all.
    Empty,
    /// Something known that is not read.
    Known(&'static str),
    /// A pcap of a version that is not read.
    Version(u16, u16),
    /// Compressed, but nothing could be got out of it.
    Undecodable(Compression, String),
    /// Compressed, and no capture inside.
    Inside(Compression),
    /// Nothing known.
    Unknown,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("it is empty"),
            Self::Known(what) => f.write_str(what),
            Self::Version(major, minor) => write!(
                f,
                "it is pcap of version {major}.{minor}, only 2.x is read; convert it with editcap"
            ),
            Self::Undecodable(compression, message) => write!(
                f,
                "it is {} that ends or is damaged before a capture's header ({message})",
                compression.name()
            ),
            Self::Inside(compression) => write!(
                f,
                "it is {}, but what it holds is neither pcap nor pcapng",
                compression.name()
            ),
            Self::Unknown => f.write_str("it begins like neither pcap nor pcapng"),
        }
    }
}

/// Names what is known not to be read, by its first bytes.
pub(crate) fn refusal(head: &[u8]) -> Refusal {
    if head.is_empty() {
        return Refusal::Empty;
    }
    for &(magic, what) in KNOWN {
        if head.starts_with(magic) {
            return Refusal::Known(what);
        }
    }
    Refusal::Unknown
}

/// First bytes of what people mistake for a capture, and what to do about each.
const KNOWN: &[(&[u8], &str)] = &[
    (
        b"BZh",
        "it is bzip2: decompress it first, or pipe bzcat into -r -",
    ),
    (b"\x1f\x9d", "it is compress (.Z): decompress it first"),
    (b"PK\x03\x04", "it is a zip archive: unpack it first"),
    (b"7z\xbc\xaf\x27\x1c", "it is a 7z archive: unpack it first"),
    (
        b"snoop\0\0\0",
        "it is a snoop capture: convert it with editcap -F pcapng",
    ),
    (
        b"RTSS",
        "it is a Network Monitor capture: convert it with editcap -F pcapng",
    ),
    (
        b"GMBU",
        "it is a Network Monitor capture: convert it with editcap -F pcapng",
    ),
    (
        b"TRSNIFF data",
        "it is a Sniffer capture: convert it with editcap -F pcapng",
    ),
    (
        b"XCP\0",
        "it is a NetXRay capture: convert it with editcap -F pcapng",
    ),
    (
        b"iptrace ",
        "it is an iptrace capture: convert it with editcap -F pcapng",
    ),
    (
        b"\xa1\x2b\x3c\x4d",
        "it is Navtel's variant of pcap, which nothing reads",
    ),
    (
        b"\x4d\x3c\x2b\xa1",
        "it is Navtel's variant of pcap, which nothing reads",
    ),
    (
        b"\xa1\xb2\x34\xcd",
        "it is Mesquita's variant of pcap, which nothing reads",
    ),
    (
        b"\xcd\x34\xb2\xa1",
        "it is Mesquita's variant of pcap, which nothing reads",
    ),
];
