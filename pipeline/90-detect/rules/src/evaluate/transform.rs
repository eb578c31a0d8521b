//! What is done to a buffer before it is examined.

use super::buffer::base64;
use flowpin_rule::Transform;

/// Does all of them to `bytes`, one after another. `spare` is space.
pub(crate) fn transform(all: &[Transform], bytes: &mut Vec<u8>, spare: &mut Vec<u8>) {
    for one in all {
        spare.clear();
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
            Transform::FromBase64 => base64(bytes, spare),
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
        core::mem::swap(bytes, spare);
    }
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
    use super::transform;
    use flowpin_rule::Transform;

    /// One after another, in the order of the rule.
    #[test]
    fn transforms_follow_each_other() {
        let apply = |all: &[Transform], text: &str| {
            let (mut bytes, mut spare) = (text.as_bytes().to_vec(), Vec::new());
            transform(all, &mut bytes, &mut spare);
            String::from_utf8(bytes).unwrap()
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
