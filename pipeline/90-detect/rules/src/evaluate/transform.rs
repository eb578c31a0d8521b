//! What is done to a buffer before it is examined.

use super::buffer::base64_of;
use super::compiled::capturing;
use flate2::read::{MultiGzDecoder, ZlibDecoder};
use flowpin_rule::{FromBase64, Transform};
use md5::{Digest, Md5};
use pcre2::bytes::Regex;
use sha1::Sha1;
use sha2::Sha256;
use std::io::Read;

/// What is done to a buffer, prepared.
#[derive(Debug)]
pub(crate) enum CompiledTransform {
    /// As the rule says.
    Plain(Transform),
    /// What the first group captures.
    Capture(Regex),
}

impl CompiledTransform {
    /// Prepares all transforms of a buffer.
    ///
    /// # Errors
    /// An expression that PCRE2 refuses or that captures nothing, and why.
    pub(crate) fn all(transforms: &[Transform]) -> Result<Vec<Self>, String> {
        let prepared = transforms.iter().map(|one| match one {
            Transform::Capture(pattern) => capturing(pattern).map(Self::Capture),
            plain => Ok(Self::Plain(plain.clone())),
        });
        prepared.collect()
    }
}

/// Does all of them to `bytes`, one after another. `spare` is space. False if an expression was
/// beyond its limits: then its buffer is as it was.
pub(crate) fn transform(
    all: &[CompiledTransform],
    bytes: &mut Vec<u8>,
    spare: &mut Vec<u8>,
) -> bool {
    let mut is_within = true;
    for one in all {
        spare.clear();
        match one {
            CompiledTransform::Plain(plain) => do_plain(plain, bytes, spare),
            CompiledTransform::Capture(regex) => {
                let captured = regex.captures(bytes);
                is_within &= captured.is_ok();
                match captured.ok().flatten().and_then(|found| found.get(1)) {
                    Some(group) => spare.extend_from_slice(group.as_bytes()),
                    None => spare.extend_from_slice(bytes),
                }
            }
        }
        core::mem::swap(bytes, spare);
    }
    is_within
}

fn do_plain(one: &Transform, bytes: &[u8], spare: &mut Vec<u8>) {
    match one {
        Transform::Dotprefix => {
            spare.push(b'.');
            spare.extend_from_slice(bytes);
        }
        Transform::StripWhitespace => {
            spare.extend(bytes.iter().filter(|byte| !is_space(**byte)));
        }
        Transform::CompressWhitespace => compress(bytes, spare),
        Transform::ToLowercase => spare.extend(bytes.iter().map(u8::to_ascii_lowercase)),
        Transform::ToUppercase => spare.extend(bytes.iter().map(u8::to_ascii_uppercase)),
        Transform::UrlDecode => url_decode(bytes, true, spare),
        Transform::Xor(key) => {
            let key = key.iter().cycle();
            spare.extend(bytes.iter().zip(key).map(|(byte, key)| byte ^ key));
        }
        Transform::FromBase64(part) => from_base64(bytes, part, spare),
        Transform::Gunzip(most) => decode(MultiGzDecoder::new(bytes), *most, spare),
        Transform::Inflate(most) => decode(ZlibDecoder::new(bytes), *most, spare),
        Transform::Md5 => spare.extend_from_slice(&Md5::digest(bytes)),
        Transform::Sha1 => spare.extend_from_slice(&Sha1::digest(bytes)),
        Transform::Sha256 => spare.extend_from_slice(&Sha256::digest(bytes)),
        // Prepared as an expression.
        Transform::Capture(_) => spare.extend_from_slice(bytes),
        Transform::HeaderLowercase => lines(bytes, spare, |line, out| {
            let colon = line.iter().position(|&byte| byte == b':').unwrap_or(0);
            let (name, value) = line.split_at(colon);
            out.extend(name.iter().map(u8::to_ascii_lowercase));
            out.extend_from_slice(value);
        }),
        Transform::StripPseudoHeaders => lines(bytes, spare, |line, out| {
            if !line.starts_with(b":") {
                out.extend_from_slice(line);
            }
        }),
    }
}

fn from_base64(bytes: &[u8], part: &FromBase64, out: &mut Vec<u8>) {
    let begin = usize::try_from(part.offset).unwrap_or(usize::MAX);
    let mut digits = bytes.get(begin..).unwrap_or_default();
    if let Some(most) = part.bytes.and_then(|most| usize::try_from(most).ok()) {
        digits = digits.get(..most).unwrap_or(digits);
    }
    base64_of(digits, part.mode, out);
}

/// What can be decoded, up to so many bytes.
fn decode(decoder: impl Read, most: u32, out: &mut Vec<u8>) {
    // What comes before an error is kept, as far as it goes.
    let _ = decoder.take(most.into()).read_to_end(out);
}

fn lines(bytes: &[u8], out: &mut Vec<u8>, each: impl Fn(&[u8], &mut Vec<u8>)) {
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        each(line, out);
    }
}

fn compress(bytes: &[u8], out: &mut Vec<u8>) {
    let mut was_space = false;
    for &byte in bytes {
        if !is_space(byte) {
            out.push(byte);
        } else if !was_space {
            out.push(b' ');
        }
        was_space = is_space(byte);
    }
}

const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | 0x0b | 0x0c | b'\r')
}

/// `%XX` decoded, and `+` to a blank where that is asked for.
pub(crate) fn url_decode(bytes: &[u8], plus: bool, out: &mut Vec<u8>) {
    let mut rest = bytes;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        let hex = |byte: Option<&u8>| char::from(*byte?).to_digit(16);
        match (byte, hex(after.first()), hex(after.get(1))) {
            (b'%', Some(high), Some(low)) => {
                out.push((high << 4 | low) as u8);
                rest = after.get(2..).unwrap_or_default();
            }
            (b'+', ..) if plus => out.push(b' '),
            _ => out.push(byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CompiledTransform, transform};
    use flowpin_rule::{Base64Mode, FromBase64, Transform};

    fn apply_to(all: &[Transform], bytes: &[u8]) -> Vec<u8> {
        let (mut bytes, mut spare) = (bytes.to_vec(), Vec::new());
        let all = CompiledTransform::all(all).unwrap();
        assert!(transform(&all, &mut bytes, &mut spare));
        bytes
    }

    /// Parts of a buffer, in each mode; what is decoded is bounded, and kept up to an error.
    #[test]
    fn encoded_parts_are_decoded() {
        let part = |offset, bytes, mode| {
            Transform::FromBase64(FromBase64 {
                offset,
                bytes,
                mode,
            })
        };
        let text = b"/?a=Zm9v!YmFy";
        let of = |one: Transform| apply_to(&[one], text);
        assert_eq!(of(part(4, None, Base64Mode::Rfc4648)), b"foo");
        assert_eq!(of(part(4, Some(2), Base64Mode::Rfc4648)), b"f");
        assert_eq!(of(part(4, None, Base64Mode::Rfc2045)), b"foobar");
        assert_eq!(of(part(4, None, Base64Mode::Strict)), b"");
        assert_eq!(of(part(99, None, Base64Mode::Rfc4648)), b"");
        let zlib = b"\x78\x9c\x4b\xcb\xcf\x07\0\x02\x82\x01\x45";
        assert_eq!(apply_to(&[Transform::Inflate(100)], zlib), b"foo");
        assert_eq!(apply_to(&[Transform::Inflate(2)], zlib), b"fo");
        assert_eq!(apply_to(&[Transform::Inflate(100)], &zlib[..6]), b"foo");
        assert_eq!(apply_to(&[Transform::Gunzip(100)], zlib), b"");
    }

    /// Hashes are binary (RFC 1321 A.5); what does not fit an expression stays as it is.
    #[test]
    fn hashes_and_captures_replace_the_buffer() {
        assert_eq!(
            apply_to(&[Transform::Md5], b"abc")[..4],
            [0x90, 1, 0x50, 0x98]
        );
        assert_eq!(apply_to(&[Transform::Sha1], b"abc")[..2], [0xa9, 0x99]);
        assert_eq!(apply_to(&[Transform::Sha256], b"abc")[..2], [0xba, 0x78]);
        let capture = |text: &str| Transform::Capture(text.to_owned());
        assert_eq!(apply_to(&[capture("a=(.*)")], b"x?a=b"), b"b");
        assert_eq!(apply_to(&[capture("z=(.*)")], b"x?a=b"), b"x?a=b");
        assert!(CompiledTransform::all(&[capture("abc")]).is_err());
        assert!(CompiledTransform::all(&[capture("(a")]).is_err());
    }

    /// One after another, in the order of the rule.
    #[test]
    fn transforms_follow_each_other() {
        let apply = |all: &[Transform], text: &str| {
            String::from_utf8(apply_to(all, text.as_bytes())).unwrap()
        };
        assert_eq!(
            apply(&[Transform::Dotprefix, Transform::ToUppercase], "a.b"),
            ".A.B"
        );
        assert_eq!(apply(&[Transform::CompressWhitespace], "a \t b"), "a b");
        assert_eq!(apply(&[Transform::StripWhitespace], " a b\n"), "ab");
        assert_eq!(apply(&[Transform::UrlDecode], "a%2fb+c%zz%2"), "a/b c%zz%2");
        assert_eq!(apply(&[Transform::Xor(vec![1, 0])], "``"), "a`");
        assert_eq!(
            apply(&[Transform::HeaderLowercase], "Ab: C\r\nD: E"),
            "ab: C\r\nd: E"
        );
        assert_eq!(
            apply(&[Transform::StripPseudoHeaders], ":a: b\nc: d\n"),
            "c: d\n"
        );
    }
}
