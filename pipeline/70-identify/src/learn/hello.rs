//! Hellos. RFC 8446 §4.1.2 and §4.1.3, RFC 5246 §7.4.1, RFC 6347 §4.2.2.

use crate::{Cursor, STREAM_BYTES_MAX};

/// Room for a hello that comes in parts.
#[derive(Clone, Debug)]
pub struct Scratch {
    pub(super) bytes: [u8; STREAM_BYTES_MAX],
    /// One more for a part that has to be decrypted.
    pub(super) packet: [u8; STREAM_BYTES_MAX],
}

impl Default for Scratch {
    fn default() -> Self {
        Self {
            bytes: [0; STREAM_BYTES_MAX],
            packet: [0; STREAM_BYTES_MAX],
        }
    }
}

/// What a client offers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClientHello<'a> {
    /// `legacy_version`.
    pub version: u16,
    /// The cipher suites, two bytes each.
    pub ciphers: &'a [u8],
    /// The extensions as they came.
    pub extensions: &'a [u8],
    /// RFC 6066 §3: the host's name.
    pub server_name: Option<&'a [u8]>,
    /// RFC 7301 §3.1: the protocols' names, each behind its length.
    pub alpn: Option<&'a [u8]>,
    /// RFC 8446 §4.2.1: the versions, two bytes each.
    pub versions: Option<&'a [u8]>,
    /// RFC 8446 §4.2.3: two bytes each.
    pub signatures: Option<&'a [u8]>,
}

/// What a server chose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServerHello<'a> {
    /// The version, also where it is in an extension.
    pub version: u16,
    /// The cipher suite.
    pub cipher: u16,
    /// The protocol chosen by ALPN, if told in clear.
    pub alpn: Option<&'a [u8]>,
}

impl<'a> ClientHello<'a> {
    /// Reads the body of the handshake message, behind type and length.
    pub(super) fn parse(body: &'a [u8], is_dtls: bool) -> Option<Self> {
        let mut cursor = Cursor::over(body);
        let version = cursor.be16()?;
        cursor.take(32)?;
        let session = cursor.len8()?;
        cursor.take(session)?;
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
            ciphers,
            ..Self::default()
        };
        let Some(len) = cursor.len16() else {
            return Some(hello);
        };
        hello.extensions = cursor.take(len)?;
        for (kind, value) in Extensions(Cursor::over(hello.extensions)) {
            match kind {
                // A list with a length, of which the first is a name of type 0 with a length.
                0 => hello.server_name = value.get(5..).filter(|name| !name.is_empty()),
                13 => hello.signatures = value.get(2..),
                16 => hello.alpn = value.get(2..),
                43 => hello.versions = value.get(1..),
                _ => {}
            }
        }
        Some(hello)
    }

    /// The protocols offered by ALPN, in order.
    pub fn protocols(&self) -> impl Iterator<Item = &'a [u8]> {
        let mut cursor = Cursor::over(self.alpn.unwrap_or_default());
        core::iter::from_fn(move || {
            let len = cursor.len8()?;
            cursor.take(len)
        })
    }

    /// The extensions: number and value.
    pub fn each_extension(&self) -> impl Iterator<Item = (u16, &'a [u8])> {
        Extensions(Cursor::over(self.extensions))
    }
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

/// The client's hello at the beginning of a TLS stream; none if it is not whole.
pub fn client_hello<'a>(stream: &'a [u8], scratch: &'a mut Scratch) -> Option<ClientHello<'a>> {
    ClientHello::parse(handshake(stream, 1, scratch)?, false)
}

/// The server's hello at the beginning of a TLS stream.
pub fn server_hello<'a>(stream: &'a [u8], scratch: &'a mut Scratch) -> Option<ServerHello<'a>> {
    let mut cursor = Cursor::over(handshake(stream, 2, scratch)?);
    let mut hello = ServerHello {
        version: cursor.be16()?,
        ..ServerHello::default()
    };
    cursor.take(32)?;
    let session = cursor.len8()?;
    cursor.take(session)?;
    hello.cipher = cursor.be16()?;
    cursor.u8()?;
    let extensions = cursor.len16().and_then(|len| cursor.take(len));
    for (kind, value) in Extensions(Cursor::over(extensions.unwrap_or_default())) {
        match (kind, value) {
            (16, value) => hello.alpn = value.get(3..),
            (43, &[high, low]) => hello.version = u16::from_be_bytes([high, low]),
            _ => {}
        }
    }
    Some(hello)
}

/// The body of the first handshake message, joined in `scratch` if it spans records.
fn handshake<'a>(stream: &'a [u8], kind: u8, scratch: &'a mut Scratch) -> Option<&'a [u8]> {
    let mut cursor = Cursor::over(stream);
    let mut filled = 0usize;
    loop {
        if cursor.u8()? != 22 {
            return None;
        }
        cursor.be16()?;
        let len = cursor.len16()?;
        let record = cursor.take(len)?;
        if filled == 0 {
            // The usual case: all of it in one record.
            let mut inner = Cursor::over(record);
            if inner.u8()? != kind {
                return None;
            }
            let len = inner.len24()?;
            if let Some(body) = inner.take(len) {
                return Some(body);
            }
        }
        let end = filled.checked_add(record.len())?;
        scratch.bytes.get_mut(filled..end)?.copy_from_slice(record);
        filled = end;
        let mut joined = Cursor::over(scratch.bytes.get(..filled)?);
        joined.u8()?;
        let len = joined.len24()?;
        if joined.left() >= len {
            let end = len.checked_add(4)?;
            return scratch.bytes.get(4..end);
        }
    }
}

/// The client's hello in a DTLS datagram, if it is not fragmented.
pub fn dtls_client_hello(datagram: &[u8]) -> Option<ClientHello<'_>> {
    let mut cursor = Cursor::over(datagram);
    if cursor.u8()? != 22 {
        return None;
    }
    cursor.take(10)?;
    let len = cursor.len16()?;
    let mut record = Cursor::over(cursor.take(len)?);
    if record.u8()? != 1 {
        return None;
    }
    let len = record.len24()?;
    record.take(2)?;
    // RFC 6347 §4.2.3: offset and length of the fragment.
    if record.len24()? != 0 || record.len24()? != len {
        return None;
    }
    ClientHello::parse(record.take(len)?, true)
}
