//! QUIC's Initial packets. RFC 9001 §5.2: their keys are derived from the client's connection
//! identifier, so any observer can read them.

use aes::Aes128;
use aes::cipher::{BlockEncrypt, KeyInit};
use flowpin_wire::Cursor;
use hkdf::Hkdf;
use sha2::Sha256;

/// RFC 9001 §5.2.
const SALT_1: [u8; 20] = [
    0x38, 0x76, 0x2c, 0xf7, 0xf5, 0x59, 0x34, 0xb3, 0x4d, 0x17, 0x9a, 0xe6, 0xa4, 0xc8, 0x0c, 0xad,
    0xcc, 0xbb, 0x7f, 0x0a,
];
/// RFC 9369 §3.3.1.
const SALT_2: [u8; 20] = [
    0x0d, 0xed, 0xe3, 0xde, 0xf7, 0x00, 0xa6, 0xdb, 0x81, 0x93, 0x81, 0xbe, 0x6e, 0x26, 0x9d, 0xcb,
    0xf9, 0xbd, 0x2e, 0xd9,
];
/// Drafts 29 to 32.
const SALT_29: [u8; 20] = [
    0xaf, 0xbf, 0xec, 0x28, 0x99, 0x93, 0xd2, 0x4c, 0x9e, 0x97, 0x86, 0xf1, 0x9c, 0x61, 0x11, 0xe0,
    0x43, 0x90, 0xa8, 0x99,
];

/// Drafts 23 to 28.
const SALT_23: [u8; 20] = [
    0xc3, 0xee, 0xf7, 0x12, 0xc7, 0x2e, 0xbb, 0x5a, 0x11, 0xa7, 0xd2, 0x43, 0x2b, 0xb4, 0x63, 0x65,
    0xbe, 0xf9, 0xf5, 0x02,
];
/// Drafts 21 and 22.
const SALT_22: [u8; 20] = [
    0x7f, 0xbc, 0xdb, 0x0e, 0x7c, 0x66, 0xbb, 0xe9, 0x19, 0x3a, 0x96, 0xcd, 0x21, 0x51, 0x9e, 0xbd,
    0x7a, 0x02, 0x64, 0x4a,
];
/// Google's T050.
const SALT_T050: [u8; 20] = [
    0x7f, 0xf5, 0x79, 0xe5, 0xac, 0xd0, 0x72, 0x91, 0x55, 0x80, 0x30, 0x4c, 0x43, 0xa2, 0x36, 0x7c,
    0x60, 0x48, 0x83, 0x10,
];
/// Google's T051.
const SALT_T051: [u8; 20] = [
    0x7a, 0x4e, 0xde, 0xf4, 0xe7, 0xcc, 0xee, 0x5f, 0xa4, 0x50, 0x6c, 0x19, 0x12, 0x4f, 0xc8, 0xcc,
    0xda, 0x6e, 0x03, 0x3d,
];

/// The keys of Initial packets of both directions, derived when the first packet of a direction is
/// opened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keys {
    version: u32,
    secret: [u8; 32],
    sides: [Option<SideKeys>; 2],
}

#[derive(Clone, Copy, Debug)]
struct SideKeys {
    key: [u8; 16],
    nonce: [u8; 12],
    hp: [u8; 16],
}

impl Keys {
    /// Prepares the keys derived from the identifier that the client chose for the server; `None`
    /// for versions that only the endpoints can decrypt.
    pub(crate) fn of(version: u32, id: &[u8]) -> Option<Self> {
        let salt = match version {
            // Drafts 33 and 34 use the salt of version 1.
            1 | 0xff00_0021..=0xff00_0022 => SALT_1,
            VERSION_2 => SALT_2,
            // Facebook's versions follow drafts 22 and 27.
            0xff00_0015..=0xff00_0016 | 0xface_b001 => SALT_22,
            0xff00_0017..=0xff00_001c | 0xface_b002 => SALT_23,
            0xff00_001d..=0xff00_0020 => SALT_29,
            0x5430_3530 => SALT_T050,
            0x5430_3531 => SALT_T051,
            // Reserved for forcing version negotiation (RFC 9000 §15): no salt is specified, and
            // the known implementations use that of draft 29.
            made_up if made_up & 0x0f0f_0f0f == 0x0a0a_0a0a => SALT_29,
            _ => return None,
        };
        let (secret, _) = Hkdf::<Sha256>::extract(Some(&salt), id);
        Some(Self {
            version,
            secret: secret.into(),
            sides: [None; 2],
        })
    }

    /// RFC 9001 §5.2: derives the keys of one direction.
    fn side(&mut self, to_server: bool) -> Option<SideKeys> {
        let [client, server] = &mut self.sides;
        let (side, label) = if to_server {
            (client, b"client in".as_slice())
        } else {
            (server, b"server in".as_slice())
        };
        if side.is_none() {
            let secret: [u8; 32] = Secret::new(&self.secret)?.expand(label)?;
            let secret = Secret::new(&secret)?;
            // RFC 9369 §3.3.2.
            let names: [&[u8]; 3] = if self.version == VERSION_2 {
                [b"quicv2 key", b"quicv2 iv", b"quicv2 hp"]
            } else {
                [b"quic key", b"quic iv", b"quic hp"]
            };
            let [key, nonce, hp] = names;
            *side = Some(SideKeys {
                key: secret.expand(key)?,
                nonce: secret.expand(nonce)?,
                hp: secret.expand(hp)?,
            });
        }
        *side
    }

    /// Removes the header protection (RFC 9001 §5.4) of a packet and decrypts it (§5.3) into `out`.
    /// The tag is not verified: with wrong keys, the result is not a valid sequence of frames.
    pub(crate) fn open<'a>(
        &mut self,
        packet: &Packet<'_>,
        to_server: bool,
        out: &'a mut [u8],
    ) -> Option<&'a [u8]> {
        let SideKeys { key, nonce, hp } = self.side(to_server)?;
        let body = packet.body;
        // RFC 9001 §5.4.2: the sample begins 4 bytes after the start of the packet number.
        let mask = block(&Aes128::new(&hp.into()), *body.get(4..)?.first_chunk()?);
        let [mask_first, mask_number @ ..] = mask;
        let number_len = usize::from((packet.first ^ mask_first) & 3).checked_add(1)?;
        let protected = body.get(..number_len)?;
        let mut number = 0u32;
        for (&byte, &mask) in protected.iter().zip(&mask_number) {
            number = number << 8 | u32::from(byte ^ mask);
        }
        let mut nonce = nonce;
        for (byte, part) in nonce.iter_mut().skip(8).zip(number.to_be_bytes()) {
            *byte ^= part;
        }
        // AES-GCM is counter mode starting at 2 (NIST SP 800-38D §7.2), followed by a tag of 16
        // bytes.
        let sealed = body.get(number_len..body.len().checked_sub(16)?)?;
        let cipher = Aes128::new(&key.into());
        let plain = out.get_mut(..sealed.len())?;
        plain.copy_from_slice(sealed);
        for (part, counter) in plain.chunks_mut(16).zip(2u32..) {
            let mut input = [0; 16];
            for (to, from) in input
                .iter_mut()
                .zip(nonce.iter().chain(&counter.to_be_bytes()))
            {
                *to = *from;
            }
            for (byte, key) in part.iter_mut().zip(block(&cipher, input)) {
                *byte ^= key;
            }
        }
        Some(plain)
    }
}

/// A packet with a long header (RFC 9000 §17.2).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet<'a> {
    first: u8,
    pub(crate) version: u32,
    pub(crate) kind: PacketKind,
    pub(crate) to: &'a [u8],
    pub(crate) from: &'a [u8],
    /// Packet number, payload and tag.
    body: &'a [u8],
}

/// The type of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PacketKind {
    Initial,
    Retry,
    /// Version negotiation.
    Negotiation,
    /// Handshake or 0-RTT: cannot be decrypted.
    Sealed,
}

impl<'a> Packet<'a> {
    /// Reads the next packet of a datagram; `None` if it has a short header or is malformed.
    pub(crate) fn parse(cursor: &mut Cursor<'a>) -> Option<Self> {
        let first = cursor.u8()?;
        if first & 0x80 == 0 {
            return None;
        }
        let version = cursor.be32()?;
        let len = cursor.len8().filter(|&len| len <= 20)?;
        let to = cursor.take(len)?;
        let len = cursor.len8().filter(|&len| len <= 20)?;
        let from = cursor.take(len)?;
        // RFC 9369 §3.2: version 2 numbers the types differently.
        let turned = if version == VERSION_2 { 3 } else { 0 };
        let kind = match (version, (first >> 4 & 3).wrapping_add(turned) & 3) {
            (0, _) => PacketKind::Negotiation,
            (_, 0) => PacketKind::Initial,
            (_, 3) => PacketKind::Retry,
            _ => PacketKind::Sealed,
        };
        let mut packet = Self {
            first,
            version,
            kind,
            to,
            from,
            body: &[],
        };
        if kind == PacketKind::Initial {
            let token = varint(cursor)?;
            cursor.take(token)?;
        }
        if matches!(kind, PacketKind::Initial | PacketKind::Sealed) {
            let len = varint(cursor)?;
            packet.body = cursor.take(len)?;
        }
        Some(packet)
    }
}

const VERSION_2: u32 = 0x6b33_43cf;

fn block(cipher: &Aes128, input: [u8; 16]) -> [u8; 16] {
    let mut block = input.into();
    cipher.encrypt_block(&mut block);
    block.into()
}

/// A secret from which other secrets are derived.
struct Secret(Hkdf<Sha256>);

impl Secret {
    fn new(secret: &[u8]) -> Option<Self> {
        Hkdf::from_prk(secret).ok().map(Self)
    }

    /// RFC 8446 §7.1: HKDF-Expand-Label with an empty context.
    fn expand<const N: usize>(&self, label: &[u8]) -> Option<[u8; N]> {
        let mut out = [0; N];
        let len = u16::try_from(N).ok()?.to_be_bytes();
        let label_len = u8::try_from(label.len().checked_add(6)?).ok()?;
        let info: [&[u8]; 5] = [&len, &[label_len], b"tls13 ", label, &[0]];
        self.0.expand_multi_info(&info, &mut out).ok()?;
        Some(out)
    }
}

/// RFC 9000 §16.
pub(crate) fn varint(cursor: &mut Cursor<'_>) -> Option<usize> {
    let first = cursor.u8()?;
    let mut value = usize::from(first & 0x3f);
    for _ in 1..1u8.wrapping_shl(u32::from(first >> 6)) {
        value = value.checked_mul(256)?.checked_add(cursor.len8()?)?;
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::Keys;

    /// RFC 9001 A.1: the keys derived from the identifier 0x8394c8f03e515708.
    #[test]
    fn keys_follow_from_the_identifier() {
        let mut keys = Keys::of(1, &0x8394_c8f0_3e51_5708_u64.to_be_bytes()).unwrap();
        let hex = |bytes: &[u8]| {
            bytes
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect::<String>()
        };
        let client = keys.side(true).unwrap();
        assert_eq!(hex(&client.key), "1f369613dd76d5467730efcbe3b1a22d");
        assert_eq!(hex(&client.nonce), "fa044b2f42a3fd3b46fb255c");
        assert_eq!(hex(&client.hp), "9f50449e04a0e810283a1e9933adedd2");
        let server = keys.side(false).unwrap();
        assert_eq!(hex(&server.key), "cf3a5331653c364c88f0f379b6067e37");
        assert_eq!(hex(&server.nonce), "0ac1493ca1905853b0bba03e");
        assert_eq!(hex(&server.hp), "c206b8d9b9f0f37644430b490eeaa314");
    }
}
