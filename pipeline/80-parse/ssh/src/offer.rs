//! The first packet of the key exchange (RFC 4253 §7.1): lists of names, and their fingerprint.
//!
//! ```text
//!  │ padding length │ 20 │ cookie, 16 bytes │ ten lists, each with its length │ …
//! ```

use flowpin_wire::Cursor;
use md5::{Digest, Md5};

/// What a side offers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Offer<'a> {
    lists: [&'a [u8]; LISTS],
}

/// Lists that are looked at: up to those of compression.
const LISTS: usize = 8;
/// Ways to agree on keys.
pub(crate) const KEX: usize = 0;
/// Kinds of host keys.
pub(crate) const HOST_KEY: usize = 1;
/// To the server; the next one: to the client.
pub(crate) const CIPHER: usize = 2;
/// Likewise.
pub(crate) const MAC: usize = 4;
/// Likewise.
pub(crate) const COMPRESSION: usize = 6;

impl<'a> Offer<'a> {
    /// Reads the packet behind its length; none if it is another one, or is cut.
    pub(crate) fn parse(packet: &'a [u8]) -> Option<Self> {
        let mut cursor = Cursor::over(packet);
        cursor.u8()?;
        if cursor.u8()? != KEXINIT {
            return None;
        }
        cursor.take(COOKIE)?;
        let mut offer = Self::default();
        for list in &mut offer.lists {
            let len = u32::from_be_bytes(cursor.take(4)?.try_into().ok()?);
            *list = cursor.take(usize::try_from(len).ok()?)?;
        }
        Some(offer)
    }

    /// The names of a list, joined by commas.
    pub(crate) fn list(&self, nth: usize) -> &'a [u8] {
        self.lists.get(nth).copied().unwrap_or_default()
    }

    /// What its fingerprint is made of: what it offers of what it sends, joined by semicolons.
    pub(crate) fn algorithms(&self, to_server: bool) -> Vec<u8> {
        let direction = usize::from(!to_server);
        let of = |nth: usize| self.list(nth.saturating_add(direction));
        [self.list(KEX), of(CIPHER), of(MAC), of(COMPRESSION)].join(&b';')
    }
}

/// RFC 4253 §7.1: the first name of the client's list that the server has, too.
pub(crate) fn agreed<'a>(client: &'a [u8], server: &[u8]) -> &'a [u8] {
    // Each name of a list that somebody chose is looked up in another one: of neither beyond that
    // many.
    let server = names(server);
    let has = |name: &&[u8]| server.clone().any(|one| one == *name);
    names(client).find(has).unwrap_or_default()
}

fn names(list: &[u8]) -> impl Iterator<Item = &[u8]> + Clone {
    let names = list.split(|&byte| byte == b',').take(NAMES_MAX);
    names.filter(|name| !name.is_empty())
}

/// The fingerprint in hexadecimal digits: MD5 of the algorithms.
pub(crate) fn fingerprint(algorithms: &[u8]) -> Vec<u8> {
    let digest = Md5::digest(algorithms);
    let mut text = Vec::with_capacity(32);
    for byte in digest {
        for digit in [byte >> 4, byte & 15] {
            text.push(HEX.get(usize::from(digit)).copied().unwrap_or(b'0'));
        }
    }
    text
}

const HEX: &[u8; 16] = b"0123456789abcdef";
/// Its type.
const KEXINIT: u8 = 20;
const COOKIE: usize = 16;
/// Real lists have up to 20.
const NAMES_MAX: usize = 64;
