//! Transforms: what is done to a buffer before it is examined.

use super::value;
use crate::option::{RuleOption, Word};
use crate::problem::Fault;
use flowpin_rule::{Base64Mode, FromBase64, Transform};

/// Reads a transform; none if the option is none.
pub(super) fn read(option: &RuleOption<'_>) -> Option<Result<Transform, Fault>> {
    let plain = match option.name.text {
        "dotprefix" => Transform::Dotprefix,
        "strip_whitespace" => Transform::StripWhitespace,
        "compress_whitespace" => Transform::CompressWhitespace,
        "to_lowercase" => Transform::ToLowercase,
        "to_uppercase" => Transform::ToUppercase,
        "url_decode" => Transform::UrlDecode,
        "header_lowercase" => Transform::HeaderLowercase,
        "strip_pseudo_headers" => Transform::StripPseudoHeaders,
        "to_md5" => Transform::Md5,
        "to_sha1" => Transform::Sha1,
        "to_sha256" => Transform::Sha256,
        "from_base64" => return Some(from_base64(option).map(Transform::FromBase64)),
        "gunzip" => return Some(size(option).map(Transform::Gunzip)),
        "zlib_deflate" => return Some(size(option).map(Transform::Inflate)),
        "pcrexform" => return Some(capture(option).map(Transform::Capture)),
        "xor" => return Some(key(option).map(Transform::Xor)),
        _ => return None,
    };
    Some(Ok(plain))
}

/// `bytes N, offset N, mode rfc4648|rfc2045|strict`, any of them.
fn from_base64(option: &RuleOption<'_>) -> Result<FromBase64, Fault> {
    let mut found = FromBase64::default();
    for word in option.value.map(Word::split_commas).unwrap_or_default() {
        let mut parts = word.text.split_whitespace();
        let argument = |name: &str| word.part(name.len(), word.text.len()).trim();
        match parts.next() {
            None => {}
            Some("bytes") => found.bytes = Some(argument("bytes").number()?),
            Some("offset") => found.offset = argument("offset").number()?,
            Some("mode") => {
                let mode = argument("mode");
                found.mode = match mode.text {
                    "rfc4648" => Base64Mode::Rfc4648,
                    "rfc2045" => Base64Mode::Rfc2045,
                    "strict" => Base64Mode::Strict,
                    _ => return Err(mode.fault("one of rfc4648, rfc2045, strict")),
                };
            }
            Some(_) => return Err(word.fault("from_base64 takes bytes, offset and mode")),
        }
    }
    Ok(found)
}

/// `max-size N`, or nothing.
fn size(option: &RuleOption<'_>) -> Result<u32, Fault> {
    let Some(word) = option.value.filter(|word| !word.text.trim().is_empty()) else {
        return Ok(DECODED_BYTES);
    };
    let word = word.trim();
    let Some(rest) = word.text.strip_prefix("max-size") else {
        return Err(word.fault("the form is max-size BYTES"));
    };
    let most: u32 = word
        .part(word.text.len() - rest.len(), word.text.len())
        .trim()
        .number()?;
    if most == 0 || most > DECODED_BYTES_MAX {
        let why = format!("from 1 to {DECODED_BYTES_MAX} bytes");
        return Err(word.fault(why));
    }
    Ok(most)
}

fn capture(option: &RuleOption<'_>) -> Result<String, Fault> {
    let word = value(option)?.unquoted();
    if word.text.len() > super::pcre::EXPRESSION_BYTES_MAX {
        return Err(word.fault("the expression is too long"));
    }
    Ok(word.text.to_owned())
}

/// A key in hexadecimal digits.
fn key(option: &RuleOption<'_>) -> Result<Vec<u8>, Fault> {
    let word = value(option)?.unquoted();
    let digits: Option<Vec<u32>> = word.text.chars().map(|c| c.to_digit(16)).collect();
    let digits = digits.filter(|digits| !digits.is_empty() && digits.len().is_multiple_of(2));
    let digits = digits.ok_or_else(|| word.fault("a key is pairs of hexadecimal digits"))?;
    let bytes = digits
        .chunks(2)
        .map(|pair| pair.iter().fold(0, |sum, digit| sum * 16 + digit));
    Ok(bytes.filter_map(|byte| u8::try_from(byte).ok()).collect())
}

/// Decoded at most, if a rule says nothing; and at most whatever it says.
const DECODED_BYTES: u32 = 1024;
const DECODED_BYTES_MAX: u32 = 1 << 20;
