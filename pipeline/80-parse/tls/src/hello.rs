//! Hello messages: RFC 8446 §4.1.2 and §4.1.3, RFC 5246 §7.4.1, RFC 6347 §4.2.1.

use flowpin_wire::Cursor;

/// The offer of a client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClientHello<'a> {
    /// `legacy_version`.
    pub version: u16,
    /// `random`: 32 bytes.
    pub random: &'a [u8],
    /// `legacy_session_id`.
    pub session: &'a [u8],
    /// The cipher suites, two bytes each.
    pub ciphers: &'a [u8],
    /// The extensions as sent.
    pub extensions: &'a [u8],
    /// RFC 6066 §3: the host name.
    pub server_name: Option<&'a [u8]>,
    /// The extension that has it, as sent.
    pub names: Option<&'a [u8]>,
    /// Whether there is more than one such extension.
    pub repeats_name: bool,
    /// RFC 7301 §3.1: the protocol names, each after its length.
    pub alpn: Option<&'a [u8]>,
    /// RFC 8446 §4.2.1: the versions, two bytes each.
    pub versions: Option<&'a [u8]>,
    /// RFC 8446 §4.2.3: two bytes each.
    pub signatures: Option<&'a [u8]>,
}

/// The choice of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ServerHello<'a> {
    /// The version, even if an extension contains it.
    pub(crate) version: u16,
    /// The version in its old place.
    pub(crate) legacy_version: u16,
    /// The extensions as sent.
    pub(crate) extensions: &'a [u8],
    pub(crate) random: &'a [u8],
    pub(crate) session: &'a [u8],
    pub(crate) cipher: u16,
    /// The protocol chosen by ALPN, if sent in clear.
    pub(crate) alpn: Option<&'a [u8]>,
    /// The group of the key share.
    pub(crate) group: Option<u16>,
    /// Whether the session resumes with a known key (RFC 8446 §4.2.11).
    pub(crate) has_psk: bool,
    /// Whether this is a HelloRetryRequest (RFC 8446 §4.1.4).
    pub(crate) is_retry: bool,
}

/// The random value of a HelloRetryRequest (RFC 8446 §4.1.3).
const RETRY: [u8; 32] = [
    0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91,
    0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb, 0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c,
];

impl<'a> ServerHello<'a> {
    /// Reads the body of the handshake message, after type and length.
    pub(crate) fn parse(body: &'a [u8]) -> Option<Self> {
        let mut cursor = Cursor::over(body);
        let mut hello = ServerHello {
            version: cursor.be16()?,
            random: cursor.take(32)?,
            ..ServerHello::default()
        };
        hello.is_retry = hello.random == RETRY;
        hello.legacy_version = hello.version;
        // Drafts of TLS 1.3 before 22 had neither a session nor a compression method; the first
        // ones had the final version here, where the final version has that of TLS 1.2.
        let is_short = matches!(hello.version, 0x0304 | 0x7f01..=0x7f15);
        if hello.version == 0x0304 {
            hello.version = 0x7f01;
        }
        if !is_short {
            let session = cursor.len8()?;
            hello.session = cursor.take(session)?;
        }
        hello.cipher = cursor.be16()?;
        if !is_short {
            cursor.u8()?;
        }
        let extensions = cursor.len16().and_then(|len| cursor.take(len));
        hello.extensions = extensions.unwrap_or_default();
        for (kind, value) in Extensions(Cursor::over(hello.extensions)) {
            match (kind, value) {
                (16, value) => hello.alpn = value.get(3..),
                (41, _) => hello.has_psk = true,
                (43, &[high, low]) => hello.version = u16::from_be_bytes([high, low]),
                (51, &[high, low, ..]) => hello.group = Some(u16::from_be_bytes([high, low])),
                _ => {}
            }
        }
        Some(hello)
    }
}

impl<'a> ClientHello<'a> {
    /// Reads the body of the handshake message, after type and length.
    pub fn parse(body: &'a [u8], is_dtls: bool) -> Option<Self> {
        let mut cursor = Cursor::over(body);
        let version = cursor.be16()?;
        let random = cursor.take(32)?;
        let session = cursor.len8()?;
        let session = cursor.take(session)?;
        if is_dtls {
            let cookie = cursor.len8()?;
            cursor.take(cookie)?;
        }
        let len = cursor.len16()?;
        let ciphers = cursor.take(len)?;
        let compression = cursor.len8()?;
        cursor.take(compression)?;
        let mut hello = Self {
            version,
            random,
            session,
            ciphers,
            ..Self::default()
        };
        let Some(len) = cursor.len16() else {
            return Some(hello);
        };
        hello.extensions = cursor.take(len)?;
        for (kind, value) in Extensions(Cursor::over(hello.extensions)) {
            match kind {
                // A list with a length; its first entry is a name of type 0 with a length.
                0 => {
                    hello.repeats_name = hello.names.is_some();
                    hello.names = Some(value);
                    hello.server_name = value.get(5..).filter(|name| !name.is_empty());
                }
                13 => hello.signatures = value.get(2..),
                16 => hello.alpn = value.get(2..),
                43 => hello.versions = value.get(1..),
                _ => {}
            }
        }
        Some(hello)
    }

    /// Returns the protocols offered by ALPN, in order.
    pub fn protocols(&self) -> impl Iterator<Item = &'a [u8]> {
        alpn_names(self.alpn.unwrap_or_default())
    }

    /// Returns the highest version offered, ignoring GREASE values.
    pub(crate) fn version_max(&self) -> u16 {
        let offered = pairs(self.versions.unwrap_or_default()).filter(|&one| !is_grease(one));
        // DTLS versions count downwards: 0xfeff is 1.0, 0xfefd is 1.2.
        let best = offered.max_by_key(|&one| {
            if one >> 8 == 0xfe {
                0xfeff_u16.wrapping_sub(one)
            } else {
                one
            }
        });
        best.unwrap_or(self.version)
    }

    /// Returns the number and value of each extension.
    pub fn each_extension(&self) -> impl Iterator<Item = (u16, &'a [u8])> {
        Extensions(Cursor::over(self.extensions))
    }
}

/// Returns the number and value of each extension of a list.
pub(crate) fn extensions(list: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    Extensions(Cursor::over(list))
}

struct Extensions<'a>(Cursor<'a>);

impl<'a> Iterator for Extensions<'a> {
    type Item = (u16, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let kind = self.0.be16()?;
        let len = self.0.len16()?;
        Some((kind, self.0.take(len)?))
    }
}

/// RFC 8701: reserved values without a meaning.
pub(crate) const fn is_grease(value: u16) -> bool {
    value & 0x0f0f == 0x0a0a && value >> 8 == value & 0xff
}

/// Splits a list into two-byte numbers.
pub(crate) fn pairs(bytes: &[u8]) -> impl Iterator<Item = u16> {
    bytes
        .chunks_exact(2)
        .filter_map(|pair| pair.first_chunk().copied())
        .map(u16::from_be_bytes)
}

/// Splits a list of names, each after its length (RFC 7301 §3.1).
pub(crate) fn alpn_names(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut cursor = Cursor::over(list);
    core::iter::from_fn(move || {
        let len = cursor.len8()?;
        cursor.take(len)
    })
}
