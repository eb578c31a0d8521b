//! Names inside values: hosts in `Host` fields and targets, users in `Authorization`, files in
//! `Content-Disposition`.

use super::trimmed;
use core::ops::Range;
use memchr::{memchr, memmem};

/// The host, and its port if one is named. An IPv6 address loses its brackets.
pub(crate) fn split_port(host: &[u8]) -> (&[u8], Option<u16>) {
    let (name, rest) = match host {
        [b'[', inside @ ..] => match inside.iter().position(|&byte| byte == b']') {
            Some(end) => (
                inside.get(..end).unwrap_or_default(),
                inside.get(end.wrapping_add(1)..).unwrap_or_default(),
            ),
            None => return (host, None),
        },
        _ => match host.iter().rposition(|&byte| byte == b':') {
            Some(at) => host.split_at_checked(at).unwrap_or((host, &[])),
            None => return (host, None),
        },
    };
    match rest {
        [] => (name, None),
        [b':', digits @ ..] if digits.iter().all(u8::is_ascii_digit) => (name, number(digits)),
        _ => (host, None),
    }
}

fn number(digits: &[u8]) -> Option<u16> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0u16, |sum, &byte| {
        sum.checked_mul(10)?
            .checked_add(u16::from(byte.wrapping_sub(b'0')))
    })
}

/// The host and port of an absolute target: `http://user@example.org:80/path`.
pub(crate) fn authority(uri: &[u8]) -> Option<&[u8]> {
    let scheme = uri.iter().take(16).position(|&byte| byte == b':')?;
    let is_scheme = uri.get(..scheme)?.iter().all(u8::is_ascii_alphabetic);
    let rest = uri.get(scheme..)?.strip_prefix(b"://")?;
    if !is_scheme || scheme == 0 {
        return None;
    }
    let end = rest
        .iter()
        .position(|byte| matches!(byte, b'/' | b'?' | b'#'));
    let whole = rest.get(..end.unwrap_or(rest.len()))?;
    let host = whole.iter().rposition(|&byte| byte == b'@');
    whole.get(host.map_or(0, |at| at.wrapping_add(1))..)
}

/// Where in a URL its password stands: `http://user:password@host/` (RFC 3986 §3.2.1).
pub(crate) fn password(url: &[u8]) -> Option<Range<usize>> {
    let at = memchr(b'@', url)?;
    let start = memmem::find(url.get(..at)?, b"://")?.wrapping_add(3);
    let rest = url.get(start..)?;
    let end = rest
        .iter()
        .position(|byte| matches!(byte, b'/' | b'?' | b'#'));
    let authority = rest.get(..end.unwrap_or(rest.len()))?;
    // The host is what browsers take for it: behind the last `@`.
    let user = authority.iter().rposition(|&byte| byte == b'@')?;
    let colon = memchr(b':', authority.get(..user)?)?;
    Some(start.wrapping_add(colon).wrapping_add(1)..start.wrapping_add(user))
}

/// Longest user name that is kept.
pub(crate) const USER_MAX: usize = 256;

/// The user name of `Basic` credentials (RFC 7617), written into `room`; the password is dropped.
pub(crate) fn basic_user<'a>(value: &[u8], room: &'a mut [u8; USER_MAX]) -> Option<&'a [u8]> {
    let (scheme, rest) = value.split_first_chunk::<5>()?;
    if !scheme.eq_ignore_ascii_case(b"basic") || !matches!(rest.first(), Some(b' ' | b'\t')) {
        return None;
    }
    let mut len = 0usize;
    let (mut bits, mut count) = (0u32, 0u32);
    for &letter in trimmed(rest) {
        let Some(six) = six_bits(letter) else { break };
        bits = bits.wrapping_shl(6) | six;
        count = count.wrapping_add(6);
        if count < 8 {
            continue;
        }
        count = count.wrapping_sub(8);
        let byte = bits.wrapping_shr(count).to_le_bytes()[0];
        if byte == b':' {
            return room.get(..len);
        }
        *room.get_mut(len)? = byte;
        len = len.wrapping_add(1);
    }
    // Without a colon there is no password: all is the name.
    room.get(..len).filter(|name| !name.is_empty())
}

fn six_bits(letter: u8) -> Option<u32> {
    let value = match letter {
        b'A'..=b'Z' => letter.wrapping_sub(b'A'),
        b'a'..=b'z' => letter.wrapping_sub(b'a').wrapping_add(26),
        b'0'..=b'9' => letter.wrapping_sub(b'0').wrapping_add(52),
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    };
    Some(u32::from(value))
}

/// Whether the scheme of an Authorization field is one of IANA's registry, or one of two that are
/// common without that.
pub(crate) fn is_known_scheme(value: &[u8]) -> bool {
    let scheme = value.split(|&byte| byte == b' ' || byte == b'\t').next();
    let scheme = scheme.unwrap_or_default();
    let mut known = SCHEMES.split(' ');
    known.any(|one| scheme.eq_ignore_ascii_case(one.as_bytes()))
}

const SCHEMES: &str = "Basic Bearer Concealed Digest DPoP GNAP HOBA Mutual Negotiate OAuth \
                       PrivateToken SCRAM-SHA-1 SCRAM-SHA-256 vapid NTLM AWS4-HMAC-SHA256";

#[cfg(test)]
mod tests {
    use super::{USER_MAX, authority, basic_user, password, split_port};

    /// RFC 3986 §3.2.1: what stands between the first colon of the user's part and its end.
    #[test]
    fn passwords_are_found() {
        for (url, expected) in [
            ("http://user:secret@h/x", Some("secret")),
            ("http://:s:e@c@h", Some("s:e@c")),
            ("ftp://u:@h/", Some("")),
            ("http://user@h/a:b", None),
            ("http://h:80/a@b", None),
            ("http://h/?u=http://a:b@c/", None),
            ("/x://a:b@c", Some("b")),
            ("mailto:a@b", None),
            ("", None),
        ] {
            let found = password(url.as_bytes()).map(|range| &url[range]);
            assert_eq!(found, expected, "{url}");
        }
    }

    /// RFC 9110 §7.2: a host, maybe a port; IPv6 addresses stand in brackets.
    #[test]
    fn hosts_and_ports_are_told_apart() {
        for (host, name, port) in [
            ("example.org", "example.org", None),
            ("example.org:8080", "example.org", Some(8080)),
            ("[2001:db8::1]:80", "2001:db8::1", Some(80)),
            ("[2001:db8::1]", "2001:db8::1", None),
            ("example.org:", "example.org", None),
            ("example.org:http", "example.org:http", None),
            ("[broken", "[broken", None),
            ("", "", None),
        ] {
            assert_eq!(split_port(host.as_bytes()), (name.as_bytes(), port));
        }
        assert_eq!(authority(b"http://u:p@h:1/x@y"), Some(b"h:1".as_slice()));
        assert_eq!(authority(b"/http://h/"), None);
        assert_eq!(authority(b"h:443"), None);
    }

    /// RFC 7617 §2: the example of the specification; never the password.
    #[test]
    fn user_names_lose_their_password() {
        let mut room = [0; USER_MAX];
        let value = b"Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==";
        assert_eq!(basic_user(value, &mut room), Some(b"Aladdin".as_slice()));
        assert_eq!(basic_user(b"Bearer abc", &mut room), None);
        assert_eq!(basic_user(b"Basic", &mut room), None);
        let long = [b"basic ".as_slice(), &[b'A'; 4000]].concat();
        assert_eq!(basic_user(&long, &mut room), None);
    }
}
