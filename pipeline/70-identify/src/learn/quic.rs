//! The hello in QUIC's Initial packets. RFC 9001 §5.2: their keys follow from the client's
//! connection identifier, so anyone may read them.
//!
//! The tag is not verified: what does not decrypt to frames with a hello gives none.

use super::{ClientHello, Scratch};
use crate::Cursor;
use aes::Aes128;
use aes::cipher::{BlockEncrypt, KeyInit};
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

/// The client's hello in its first datagram; none if it needs a second one.
pub fn quic_client_hello<'a>(datagram: &[u8], scratch: &'a mut Scratch) -> Option<ClientHello<'a>> {
    let Scratch { bytes, packet } = scratch;
    let plain = decrypt(datagram, packet)?;
    let mut end = 0usize;
    let mut cursor = Cursor::over(plain);
    // RFC 9000 §12.4: frames that an Initial may hold.
    while cursor.left() > 0 {
        match cursor.u8()? {
            0 | 1 => {}
            6 => {
                let offset = varint(&mut cursor)?;
                let len = varint(&mut cursor)?;
                let stop = offset.checked_add(len)?;
                bytes
                    .get_mut(offset..stop)?
                    .copy_from_slice(cursor.take(len)?);
                end = end.max(stop);
            }
            // RFC 9000 §19.3: ranges of what was received.
            2 | 3 => {
                varint(&mut cursor)?;
                varint(&mut cursor)?;
                let ranges = varint(&mut cursor)?;
                for _ in 0..ranges.min(64).saturating_mul(2).saturating_add(1) {
                    varint(&mut cursor)?;
                }
            }
            _ => break,
        }
    }
    let mut hello = Cursor::over(bytes.get(..end)?);
    if hello.u8()? != 1 {
        return None;
    }
    let len = hello.len24()?;
    ClientHello::parse(hello.take(len)?, false)
}

/// Removes protection (RFC 9001 §5.4) and decrypts (§5.3) the first packet, into `out`.
fn decrypt<'a>(datagram: &[u8], out: &'a mut [u8]) -> Option<&'a [u8]> {
    let mut cursor = Cursor::over(datagram);
    let first = cursor.u8()?;
    let version = cursor.be32()?;
    let is_two = version == 0x6b33_43cf;
    let salt = match version {
        1 => SALT_1,
        0x6b33_43cf => SALT_2,
        0xff00_001d..=0xff00_0020 | 0xface_b002 => SALT_29,
        _ => return None,
    };
    if first & 0xb0 != if is_two { 0x90 } else { 0x80 } {
        return None;
    }
    let len = cursor.len8()?;
    let id = cursor.take(len)?;
    let len = cursor.len8()?;
    cursor.take(len)?;
    let token = varint(&mut cursor)?;
    cursor.take(token)?;
    let len = varint(&mut cursor)?;
    let body = cursor.take(len)?;

    let (secret, _) = Hkdf::<Sha256>::extract(Some(&salt), id);
    let client: [u8; 32] = expand(&secret, b"client in")?;
    let names: [&[u8]; 3] = if is_two {
        [b"quicv2 key", b"quicv2 iv", b"quicv2 hp"]
    } else {
        [b"quic key", b"quic iv", b"quic hp"]
    };
    let [key, iv, hp] = names;
    let key: [u8; 16] = expand(&client, key)?;
    let mut nonce: [u8; 12] = expand(&client, iv)?;
    let hp: [u8; 16] = expand(&client, hp)?;

    // RFC 9001 §5.4.2: the sample begins 4 bytes behind the packet number's first.
    let mask = block(&Aes128::new(&hp.into()), *body.get(4..)?.first_chunk()?);
    let [mask_first, mask_number @ ..] = mask;
    let number_len = usize::from((first ^ mask_first) & 3).checked_add(1)?;
    let protected = body.get(..number_len)?;
    let mut number = 0u32;
    for (&byte, &mask) in protected.iter().zip(&mask_number) {
        number = number << 8 | u32::from(byte ^ mask);
    }
    for (byte, part) in nonce.iter_mut().skip(8).zip(number.to_be_bytes()) {
        *byte ^= part;
    }
    // AES-GCM is counter mode from 2 on (NIST SP 800-38D §7.2), with a tag of 16 bytes behind.
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

fn block(cipher: &Aes128, input: [u8; 16]) -> [u8; 16] {
    let mut block = input.into();
    cipher.encrypt_block(&mut block);
    block.into()
}

/// RFC 8446 §7.1: HKDF-Expand-Label without context.
fn expand<const N: usize>(secret: &[u8], label: &[u8]) -> Option<[u8; N]> {
    let mut out = [0; N];
    let len = u16::try_from(N).ok()?.to_be_bytes();
    let label_len = u8::try_from(label.len().checked_add(6)?).ok()?;
    let info: [&[u8]; 5] = [&len, &[label_len], b"tls13 ", label, &[0]];
    let hkdf = Hkdf::<Sha256>::from_prk(secret).ok()?;
    hkdf.expand_multi_info(&info, &mut out).ok()?;
    Some(out)
}

/// RFC 9000 §16.
fn varint(cursor: &mut Cursor<'_>) -> Option<usize> {
    let first = cursor.u8()?;
    let mut value = usize::from(first & 0x3f);
    for _ in 1..1u8.wrapping_shl(u32::from(first >> 6)) {
        value = value.checked_mul(256)?.checked_add(cursor.len8()?)?;
    }
    Some(value)
}
