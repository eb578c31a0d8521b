//! JA4, the fingerprint of a client's hello (FoxIO, JA4 technical details, TLS client).

use crate::hello::{ClientHello, is_grease, pairs};
use crate::schema::{digit, hex};
use sha2::{Digest, Sha256};

/// The transport of a hello.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// TCP.
    Tcp,
    /// QUIC.
    Quic,
    /// DTLS.
    Dtls,
}

/// The fingerprint: 36 ASCII characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ja4(pub [u8; 36]);

impl Ja4 {
    /// Returns the fingerprint as text.
    pub fn as_str(&self) -> &str {
        core::str::from_utf8(&self.0).unwrap_or_default()
    }
}

/// Cipher suites or extensions that need no memory of their own. The lists of browsers are shorter.
const LIST_ROOM: usize = 256;

/// Computes the fingerprint.
pub fn ja4(hello: &ClientHello<'_>, carrier: Carrier) -> Ja4 {
    let mut ciphers = List::default();
    pairs(hello.ciphers)
        .filter(|&one| !is_grease(one))
        .for_each(|one| ciphers.push(one));
    let mut extensions = List::default();
    let mut count = 0usize;
    for (kind, _) in hello.each_extension().filter(|&(kind, _)| !is_grease(kind)) {
        count = count.saturating_add(1);
        // Server name and ALPN are part of the first section.
        if !matches!(kind, 0 | 16) {
            extensions.push(kind);
        }
    }
    let mut out = Writer::default();
    out.push(match carrier {
        Carrier::Tcp => b't',
        Carrier::Quic => b'q',
        Carrier::Dtls => b'd',
    });
    out.push_all(version(hello));
    out.push(if hello.server_name.is_some() {
        b'd'
    } else {
        b'i'
    });
    out.decimal(ciphers.len);
    out.decimal(count);
    out.push_all(&alpn(hello));
    out.push(b'_');
    let (is_empty, sum) = (ciphers.len == 0, ciphers.sum(None));
    out.hash(is_empty, &sum);
    out.push(b'_');
    let (is_empty, sum) = (count == 0, extensions.sum(hello.signatures));
    out.hash(is_empty, &sum);
    Ja4(out.bytes)
}

/// Returns the highest version offered.
fn version(hello: &ClientHello<'_>) -> &'static [u8; 2] {
    match hello.version_max() {
        0x0304 => b"13",
        0x0303 => b"12",
        0x0302 => b"11",
        0x0301 => b"10",
        0x0300 => b"s3",
        0x0002 => b"s2",
        0xfeff => b"d1",
        0xfefd => b"d2",
        0xfefc => b"d3",
        _ => b"00",
    }
}

/// Returns the first and last character of the first protocol, or of its hexadecimal form if they
/// are not alphanumeric.
fn alpn(hello: &ClientHello<'_>) -> [u8; 2] {
    let Some((&first, &last)) = hello
        .protocols()
        .next()
        .and_then(|one| one.first().zip(one.last()))
    else {
        return *b"00";
    };
    if first.is_ascii_alphanumeric() && last.is_ascii_alphanumeric() {
        return [first, last];
    }
    [digit(first >> 4), digit(last & 15)]
}

/// Numbers of a hello, whose length bounds them.
struct List {
    values: [u16; LIST_ROOM],
    len: usize,
    /// All of them, once there is no room left.
    many: Vec<u16>,
}

impl Default for List {
    fn default() -> Self {
        Self {
            values: [0; LIST_ROOM],
            len: 0,
            many: Vec::new(),
        }
    }
}

impl List {
    fn push(&mut self, value: u16) {
        match self.values.get_mut(self.len) {
            Some(slot) => *slot = value,
            None => self.push_more(value),
        }
        self.len = self.len.saturating_add(1);
    }

    #[cold]
    fn push_more(&mut self, value: u16) {
        if self.many.is_empty() {
            self.many.extend(self.values);
        }
        self.many.push(value);
    }

    /// Returns the SHA-256 of the sorted list, followed by another list in its original order.
    fn sum(&mut self, suffix: Option<&[u8]>) -> [u8; 32] {
        let values = match self.values.get_mut(..self.len) {
            Some(values) => values,
            None => &mut self.many,
        };
        values.sort_unstable();
        let mut text = HashedText::default();
        values.iter().for_each(|&value| text.put(b',', value));
        if let Some(suffix) = suffix.filter(|list| !list.is_empty()) {
            let mut mark = b'_';
            for value in pairs(suffix).filter(|&one| !is_grease(one)) {
                text.put(mark, value);
                mark = b',';
            }
        }
        text.sum()
    }
}

/// Hashes numbers as text. Each but the first follows a separator, unless that is `_`.
// PERF: the text is assembled first: hashing it at once is far faster than character by character.
struct HashedText {
    text: [u8; TEXT_ROOM],
    from: usize,
    len: usize,
    hasher: Sha256,
}

/// Most lists are shorter.
const TEXT_ROOM: usize = 512;

impl Default for HashedText {
    fn default() -> Self {
        Self {
            text: [0; TEXT_ROOM],
            from: 1,
            len: 0,
            hasher: Sha256::new(),
        }
    }
}

impl HashedText {
    fn put(&mut self, mark: u8, value: u16) {
        if self.len == 0 && mark == b'_' {
            self.from = 0;
        }
        if self.len.saturating_add(5) > TEXT_ROOM {
            self.hash();
        }
        let rest = self.text.get_mut(self.len..).unwrap_or_default();
        if let Some(place) = rest.first_chunk_mut() {
            let [high, low] = value.to_be_bytes();
            let ([a, b], [c, d]) = (hex(high), hex(low));
            *place = [mark, a, b, c, d];
            self.len = self.len.saturating_add(5);
        }
    }

    fn hash(&mut self) {
        let text = self.text.get(self.from..self.len).unwrap_or_default();
        self.hasher.update(text);
        (self.from, self.len) = (0, 0);
    }

    fn sum(mut self) -> [u8; 32] {
        self.hash();
        self.hasher.finalize().into()
    }
}

struct Writer {
    bytes: [u8; 36],
    len: usize,
}

impl Default for Writer {
    fn default() -> Self {
        Self {
            bytes: [b'0'; 36],
            len: 0,
        }
    }
}

impl Writer {
    fn push(&mut self, byte: u8) {
        if let Some(slot) = self.bytes.get_mut(self.len) {
            *slot = byte;
            self.len = self.len.saturating_add(1);
        }
    }

    fn push_all(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.push(byte));
    }

    /// Appends two digits, at most 99.
    fn decimal(&mut self, count: usize) {
        let count = u8::try_from(count.min(99)).unwrap_or(99);
        self.push(digit(count.checked_div(10).unwrap_or(0)));
        self.push(digit(count.checked_rem(10).unwrap_or(0)));
    }

    /// Appends the first 12 hexadecimal digits, or zeros for an empty list.
    fn hash(&mut self, is_empty: bool, sum: &[u8; 32]) {
        for &byte in sum.iter().take(6) {
            let byte = if is_empty { 0 } else { byte };
            self.push(digit(byte >> 4));
            self.push(digit(byte & 15));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Carrier, ja4};
    use crate::hello::ClientHello;

    fn list(text: &str) -> Vec<u8> {
        let number = |one: &str| u16::from_str_radix(one, 16).unwrap().to_be_bytes();
        text.split(',').flat_map(number).collect()
    }

    /// All cipher suites count, however many a client offers; the digits of their number end at 99.
    #[test]
    fn long_lists_count_whole() {
        let print = |count: u16| {
            let ciphers: Vec<u8> = (1..=count).rev().flat_map(u16::to_be_bytes).collect();
            let hello = ClientHello {
                ciphers: &ciphers,
                ..ClientHello::default()
            };
            ja4(&hello, Carrier::Tcp)
        };
        // printf '%04x\n' $(seq 300) | paste -sd, | tr -d '\n' | sha256sum
        assert_eq!(print(300).as_str(), "t00i990000_215186349687_000000000000");
        assert_ne!(print(256), print(257));
    }

    /// The example in the description of the format.
    #[test]
    fn the_published_example_comes_out() {
        let ciphers =
            list("0a0a,1301,1302,1303,c02b,c02f,c02c,c030,cca9,cca8,c013,c014,009c,009d,002f,0035");
        let signatures = list("0403,0804,0401,0503,0805,0501,0806,0601");
        let versions = list("1a1a,0304,0303");
        let kinds =
            "1a1a,001b,0000,0033,0010,4469,0017,002d,000d,0005,0023,0012,002b,ff01,000b,000a,0015";
        let extensions: Vec<u8> = list(kinds)
            .chunks(2)
            .flat_map(|kind| [kind[0], kind[1], 0, 0])
            .collect();
        let hello = ClientHello {
            version: 0x0303,
            session: &[],
            ciphers: &ciphers,
            extensions: &extensions,
            server_name: Some(b"example.org"),
            alpn: Some(b"\x02h2\x08http/1.1"),
            versions: Some(&versions),
            signatures: Some(&signatures),
            ..ClientHello::default()
        };
        let print = ja4(&hello, Carrier::Tcp);
        assert_eq!(print.as_str(), "t13d1516h2_8daaf6152771_e5627efa2ab1");
    }
}
