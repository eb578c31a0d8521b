//! The names in a certificate (X.501, RFC 5280 §4.1.2.4) in the formats of Zeek and Suricata.
//!
//! Zeek uses RFC 2253: the last attribute comes first (`CN=a.example,O=A\, Inc.,C=US`), separators
//! within a value get a backslash, and bytes beyond ASCII are hexadecimal. Suricata uses the order
//! of the encoding, without escapes (`C=US, O=A, Inc., CN=a.example`).

use crate::certificate::{OBJECT, SEQUENCE, SET, element};
use crate::schema::{digit, hex};
use crate::short::Short;
use flowpin_wire::Cursor;

/// A name as text.
pub(crate) type NameText = Short<640>;

/// The tool whose format is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Manner {
    Zeek,
    Suricata,
}

/// Converts a name to Zeek's format.
pub(crate) fn for_zeek(name: &[u8]) -> NameText {
    let mut out = NameText::default();
    let mut sets: [&[u8]; SETS_MAX] = [&[]; SETS_MAX];
    let mut count = 0usize;
    let mut cursor = Cursor::over(name);
    for place in &mut sets {
        let Some(set) = element(&mut cursor, SET) else {
            break;
        };
        *place = set;
        count = count.saturating_add(1);
    }
    let sets = sets.get(..count).unwrap_or_default();
    for (index, set) in sets.iter().rev().enumerate() {
        put_set(set, index, Manner::Zeek, &mut out);
    }
    out
}

/// Converts a name to Suricata's format.
pub(crate) fn for_suricata(name: &[u8]) -> NameText {
    let mut out = NameText::default();
    let mut sets = Cursor::over(name);
    let mut index = 0usize;
    while let Some(set) = element(&mut sets, SET) {
        put_set(set, index, Manner::Suricata, &mut out);
        index = index.saturating_add(1);
    }
    out
}

/// Appends the attributes of one set, which nearly always has only one.
fn put_set(set: &[u8], index: usize, manner: Manner, out: &mut NameText) {
    let (between, together): (&[u8], &[u8]) = match manner {
        Manner::Zeek => (b",", b"+"),
        Manner::Suricata => (b", ", b" + "),
    };
    let mut set = Cursor::over(set);
    let mut before = if index == 0 { b"" } else { between };
    while let Some(pair) = element(&mut set, SEQUENCE) {
        let mut pair = Cursor::over(pair);
        let Some(object) = element(&mut pair, OBJECT) else {
            continue;
        };
        let Some((tag, value)) = tagged(&mut pair) else {
            continue;
        };
        out.push(before);
        before = together;
        let name = short_name(object);
        match name {
            Some(name) => out.push(name),
            None => put_dotted(object, out),
        }
        out.push(b"=");
        match manner {
            // RFC 2253 §2.4: the value of a type without a name is written as its encoding.
            Manner::Zeek if name.is_none() => put_encoding(tag, value, out),
            _ => put_value(tag, value, manner, out),
        }
    }
}

fn tagged<'a>(cursor: &mut Cursor<'a>) -> Option<(u8, &'a [u8])> {
    let (tag, len) = cursor.ber()?;
    Some((tag, cursor.take(len)?))
}

/// Appends `#` and the hexadecimal digits of the whole element.
fn put_encoding(tag: u8, value: &[u8], out: &mut NameText) {
    out.push(b"#");
    let put = |byte: u8, out: &mut NameText| {
        let [high, low] = hex(byte).map(|digit| digit.to_ascii_uppercase());
        out.push(&[high, low]);
    };
    put(tag, out);
    match u8::try_from(value.len()) {
        Ok(len) if len < 0x80 => put(len, out),
        Ok(len) => [0x81, len].iter().for_each(|&byte| put(byte, out)),
        Err(_) => {
            let [high, low] = u16::try_from(value.len()).unwrap_or(u16::MAX).to_be_bytes();
            [0x82, high, low].iter().for_each(|&byte| put(byte, out));
        }
    }
    value.iter().for_each(|&byte| put(byte, out));
}

/// Appends a value by its type (X.680 §8), converted to UTF-8.
fn put_value(tag: u8, value: &[u8], manner: Manner, out: &mut NameText) {
    let mut text = Letters {
        manner,
        is_first: true,
        out,
    };
    match tag {
        // UTF8String, NumericString, PrintableString, IA5String, VisibleString.
        0x0c | 0x12 | 0x13 | 0x16 | 0x1a => text.bytes(value),
        // TeletexString, in practice Latin 1.
        0x14 => value.iter().for_each(|&byte| text.letter(char::from(byte))),
        // BMPString.
        0x1e => {
            let units = value
                .chunks_exact(2)
                .filter_map(|unit| unit.first_chunk().map(|&unit| u16::from_be_bytes(unit)));
            for letter in char::decode_utf16(units) {
                text.letter(letter.unwrap_or(char::REPLACEMENT_CHARACTER));
            }
        }
        // UniversalString.
        0x1c => {
            let units = value
                .chunks_exact(4)
                .filter_map(|unit| unit.first_chunk().map(|&unit| u32::from_be_bytes(unit)));
            for unit in units {
                text.letter(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
        }
        _ => put_encoding(tag, value, out),
    }
    if manner == Manner::Zeek && matches!(value, [.., b' ']) {
        escape_last(out);
    }
}

/// RFC 2253 §2.4: a space at the end gets a backslash.
fn escape_last(out: &mut NameText) {
    if out.pop() == Some(b' ') {
        out.push(b"\\ ");
    }
}

/// Writes the letters of a value in one of the formats.
struct Letters<'a> {
    manner: Manner,
    is_first: bool,
    out: &'a mut NameText,
}

impl Letters<'_> {
    fn letter(&mut self, letter: char) {
        let mut room = [0; 4];
        self.bytes(letter.encode_utf8(&mut room).as_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        if self.manner == Manner::Suricata {
            return self.out.push(bytes);
        }
        for &byte in bytes {
            let first = core::mem::replace(&mut self.is_first, false);
            match byte {
                b',' | b'+' | b'"' | b'\\' | b'<' | b'>' | b';' => self.out.push(&[b'\\', byte]),
                b'#' | b' ' if first => self.out.push(&[b'\\', byte]),
                0x20..=0x7e => self.out.push(&[byte]),
                _ => {
                    let [high, low] = hex(byte).map(|digit| digit.to_ascii_uppercase());
                    self.out.push(&[b'\\', high, low]);
                }
            }
        }
    }
}

/// Appends an object identifier: `1.3.6.1.4.1.311.60.2.1.3`.
pub(crate) fn put_dotted<const N: usize>(object: &[u8], out: &mut Short<N>) {
    let mut number = 0u64;
    let mut is_first = true;
    for &byte in object {
        number = number.checked_shl(7).unwrap_or(0) | u64::from(byte & 0x7f);
        if byte & 0x80 != 0 {
            continue;
        }
        // X.690 §8.19.4: the first two components share one number.
        if core::mem::replace(&mut is_first, false) {
            let top = (number / 40).min(2);
            put_number(top, out);
            number = number.saturating_sub(top.saturating_mul(40));
        }
        out.push(b".");
        put_number(number, out);
        number = 0;
    }
}

fn put_number<const N: usize>(mut number: u64, out: &mut Short<N>) {
    let mut digits = [0; 20];
    let mut len = 0usize;
    for place in digits.iter_mut().rev() {
        *place = digit(u8::try_from(number % 10).unwrap_or(0));
        len = len.saturating_add(1);
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.push(
        digits
            .get(digits.len().saturating_sub(len)..)
            .unwrap_or_default(),
    );
}

/// Names from RFC 4519, RFC 2985 and the guidelines for extended validation, abbreviated as in
/// OpenSSL.
const fn short_name(object: &[u8]) -> Option<&'static [u8]> {
    Some(match object {
        [0x55, 4, 3] => b"CN",
        [0x55, 4, 4] => b"SN",
        [0x55, 4, 5] => b"serialNumber",
        [0x55, 4, 6] => b"C",
        [0x55, 4, 7] => b"L",
        [0x55, 4, 8] => b"ST",
        [0x55, 4, 9] => b"street",
        [0x55, 4, 10] => b"O",
        [0x55, 4, 11] => b"OU",
        [0x55, 4, 12] => b"title",
        [0x55, 4, 13] => b"description",
        [0x55, 4, 15] => b"businessCategory",
        [0x55, 4, 16] => b"postalAddress",
        [0x55, 4, 17] => b"postalCode",
        [0x55, 4, 18] => b"postOfficeBox",
        [0x55, 4, 20] => b"telephoneNumber",
        [0x55, 4, 41] => b"name",
        [0x55, 4, 42] => b"GN",
        [0x55, 4, 43] => b"initials",
        [0x55, 4, 44] => b"generationQualifier",
        [0x55, 4, 45] => b"x500UniqueIdentifier",
        [0x55, 4, 46] => b"dnQualifier",
        [0x55, 4, 65] => b"pseudonym",
        [0x55, 4, 72] => b"role",
        [0x55, 4, 97] => b"organizationIdentifier",
        [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 9, 1] => b"emailAddress",
        [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 9, 2] => b"unstructuredName",
        [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 9, 8] => b"unstructuredAddress",
        [0x09, 0x92, 0x26, 0x89, 0x93, 0xf2, 0x2c, 0x64, 1, 1] => b"UID",
        [0x09, 0x92, 0x26, 0x89, 0x93, 0xf2, 0x2c, 0x64, 1, 25] => b"DC",
        [0x2b, 6, 1, 4, 1, 0x82, 0x37, 60, 2, 1, 1] => b"jurisdictionL",
        [0x2b, 6, 1, 4, 1, 0x82, 0x37, 60, 2, 1, 2] => b"jurisdictionST",
        [0x2b, 6, 1, 4, 1, 0x82, 0x37, 60, 2, 1, 3] => b"jurisdictionC",
        _ => return None,
    })
}

/// Maximum number of attribute sets in one name.
const SETS_MAX: usize = 32;

#[cfg(test)]
mod tests {
    use super::{for_suricata, for_zeek};
    use proptest::prelude::*;

    fn element(tag: u8, content: &[u8]) -> Vec<u8> {
        [&[tag, u8::try_from(content.len()).unwrap()], content].concat()
    }

    fn attribute(object: &[u8], tag: u8, value: &[u8]) -> Vec<u8> {
        element(0x30, &[element(6, object), element(tag, value)].concat())
    }

    fn both(sets: &[&[Vec<u8>]]) -> [String; 2] {
        let name: Vec<u8> = sets
            .iter()
            .flat_map(|set| element(0x31, &set.concat()))
            .collect();
        [for_zeek(&name), for_suricata(&name)]
            .map(|text| String::from_utf8(text.get().to_vec()).unwrap())
    }

    /// RFC 2253 for Zeek, the order of the encoding for Suricata.
    #[test]
    fn names_are_in_the_order_of_each_tool() {
        let country = attribute(b"\x55\x04\x06", 0x13, b"US");
        let organisation = attribute(b"\x55\x04\x0a", 0x0c, "É, Inc. ".as_bytes());
        let host = attribute(b"\x55\x04\x03", 0x0c, b"#a.example");
        assert_eq!(
            both(&[&[country], &[organisation], &[host]]),
            [
                r"CN=\#a.example,O=\C3\89\, Inc.\ ,C=US",
                "C=US, O=É, Inc. , CN=#a.example",
            ]
        );
    }

    /// Jurisdictions of extended validation have names, unknown types are written as numbers, and
    /// the attributes of one set stand together.
    #[test]
    fn every_attribute_is_named() {
        let jurisdiction = attribute(b"\x2b\x06\x01\x04\x01\x82\x37\x3c\x02\x01\x03", 0x13, b"US");
        let unknown = attribute(b"\x2a\x03\x04", 0x13, b"x");
        let wide = attribute(b"\x55\x04\x0b", 0x1e, b"\0O\x20\xac");
        let latin = attribute(b"\x55\x04\x07", 0x14, b"K\xf6ln");
        assert_eq!(
            both(&[&[jurisdiction], &[unknown, wide], &[latin]]),
            [
                r"L=K\C3\B6ln,1.2.3.4=#130178+OU=O\E2\82\AC,jurisdictionC=US",
                "jurisdictionC=US, 1.2.3.4=x + OU=O€, L=Köln",
            ]
        );
    }

    proptest! {
        /// Arbitrary bytes in place of a name do not panic.
        #[test]
        fn any_bytes_are_no_harm(name in prop::collection::vec(any::<u8>(), 0..400)) {
            prop_assert!(for_zeek(&name).get().len() <= 640);
            prop_assert!(for_suricata(&name).get().len() <= 640);
        }
    }
}
