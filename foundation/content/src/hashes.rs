//! The hashes of a file.

use flowpin_record::Value;
use md5::Md5;
use sha1::{Digest, Sha1};
use sha2::Sha256;

/// Which hashes records have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HashOptions {
    /// MD5.
    pub md5: bool,
    /// SHA-1.
    pub sha1: bool,
    /// SHA-256.
    pub sha256: bool,
}

impl HashOptions {
    /// What is made of a file, by Zeek's names.
    pub fn analyzers(self, is_stored: bool) -> Vec<Value<'static>> {
        let made = [
            (self.md5, "MD5"),
            (self.sha1, "SHA1"),
            (self.sha256, "SHA256"),
            (is_stored, "EXTRACT"),
        ];
        let made = made.into_iter().filter(|&(is_made, _)| is_made);
        made.map(|(_, name)| Value::Text(name)).collect()
    }
}

/// The hashes that are being computed, as far as the options ask for them.
#[derive(Debug)]
pub struct Hashers {
    md5: Option<Md5>,
    sha1: Option<Sha1>,
    sha256: Option<Sha256>,
}

impl Hashers {
    /// At a file's first byte.
    pub fn new(which: HashOptions) -> Self {
        Self {
            md5: which.md5.then(Md5::new),
            sha1: which.sha1.then(Sha1::new),
            sha256: which.sha256.then(Sha256::new),
        }
    }

    /// The file's next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        if let Some(hash) = &mut self.md5 {
            hash.update(bytes);
        }
        if let Some(hash) = &mut self.sha1 {
            hash.update(bytes);
        }
        if let Some(hash) = &mut self.sha256 {
            hash.update(bytes);
        }
    }

    /// The hashes of all bytes so far.
    pub fn finish(&mut self) -> Hashes {
        Hashes {
            md5: self.md5.take().map(|hash| hex(&hash.finalize())),
            sha1: self.sha1.take().map(|hash| hex(&hash.finalize())),
            sha256: self.sha256.take().map(|hash| hex(&hash.finalize())),
        }
    }
}

/// Hashes in hexadecimal digits.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hashes {
    /// MD5.
    pub md5: Option<[u8; 32]>,
    /// SHA-1.
    pub sha1: Option<[u8; 40]>,
    /// SHA-256.
    pub sha256: Option<[u8; 64]>,
}

/// A hash as a value of a record.
pub fn hash_value<const N: usize>(hash: Option<&[u8; N]>) -> Value<'_> {
    hash.map_or(Value::Unset, |hash| Value::bytes(hash))
}

fn hex<const N: usize>(bytes: &[u8]) -> [u8; N] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |half: u8| DIGITS.get(usize::from(half & 15)).copied().unwrap_or(b'0');
    let mut text = [b'0'; N];
    for (two, &byte) in text.as_chunks_mut::<2>().0.iter_mut().zip(bytes) {
        *two = [digit(byte >> 4), digit(byte)];
    }
    text
}
