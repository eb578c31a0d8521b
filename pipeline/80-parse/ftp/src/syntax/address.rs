//! Parses the addresses and ports of data connections in commands and replies.

use core::net::{IpAddr, Ipv4Addr};
use flowpin_record::RecordEndpoint;

/// The endpoint in PORT and in the reply to PASV: `h1,h2,h3,h4,p1,p2` (RFC 959 §4.1.2). Port 0 is
/// invalid.
pub(crate) fn of_port(text: &[u8]) -> Option<RecordEndpoint> {
    let mut parts = text.trim_ascii().split(|&byte| byte == b',');
    let mut numbers = [0_u8; 6];
    for number in &mut numbers {
        *number = u8::try_from(decimal(parts.next()?.trim_ascii())?).ok()?;
    }
    if parts.next().is_some() {
        return None;
    }
    let [a, b, c, d, high, low] = numbers;
    endpoint(
        IpAddr::V4(Ipv4Addr::new(a, b, c, d)),
        u16::from_be_bytes([high, low]).into(),
    )
}

/// The endpoint in a reply to PASV. The six numbers may be anywhere in the text, mostly in
/// parentheses (RFC 1123 §4.1.2.6).
pub(crate) fn in_passive_reply(text: &[u8]) -> Option<RecordEndpoint> {
    let is_part = |byte: &u8| byte.is_ascii_digit() || *byte == b',';
    let mut runs = text.split(|byte| !is_part(byte));
    runs.find_map(|run| of_port(run.strip_suffix(b",").unwrap_or(run)))
}

/// The endpoint in EPRT: `|1|132.235.1.2|6275|`, with any delimiter (RFC 2428 §2).
pub(crate) fn of_extended_port(text: &[u8]) -> Option<RecordEndpoint> {
    let (delimiter, rest) = text.trim_ascii().split_first()?;
    let mut parts = rest.split(|byte| byte == delimiter);
    let family = parts.next()?;
    let address = core::str::from_utf8(parts.next()?).ok()?;
    let address: IpAddr = match family {
        b"1" => IpAddr::V4(address.parse().ok()?),
        b"2" => IpAddr::V6(address.parse().ok()?),
        _ => return None,
    };
    endpoint(address, decimal(parts.next()?)?)
}

/// The port in a reply to EPSV: `(|||6446|)`, with any delimiter (RFC 2428 §3).
pub(crate) fn in_extended_reply(text: &[u8]) -> Option<u16> {
    let (_, inner) = text.split_at_checked(memchr::memrchr(b'(', text)?)?;
    let [b'(', a, b, c, rest @ ..] = inner else {
        return None;
    };
    if a != b || b != c || a.is_ascii_digit() {
        return None;
    }
    let port = rest.split(|byte| byte == a).next()?;
    u16::try_from(decimal(port)?).ok().filter(|&port| port != 0)
}

fn endpoint(address: IpAddr, port: u64) -> Option<RecordEndpoint> {
    let port = u16::try_from(port).ok().filter(|&port| port != 0)?;
    Some(RecordEndpoint { address, port })
}

/// Parses a text of decimal digits only, below 10^15.
pub(crate) fn decimal(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 15 || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    core::str::from_utf8(text).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{in_extended_reply, in_passive_reply, of_extended_port, of_port};

    fn spelled(end: Option<super::RecordEndpoint>) -> String {
        end.map_or("none".into(), |end| format!("{} {}", end.address, end.port))
    }

    /// RFC 959 §4.1.2; the replies are taken from real servers.
    #[test]
    fn six_numbers_are_an_address_and_a_port() {
        let port = |text: &str| spelled(of_port(text.as_bytes()));
        assert_eq!(port("192,168,0,13,234,10"), "192.168.0.13 59914");
        assert_eq!(port(" 10,0,0,1,0,21 "), "10.0.0.1 21");
        for text in [
            "1,2,3,4,5",
            "1,2,3,4,5,6,7",
            "1,2,3,4,0,0",
            "256,2,3,4,5,6",
            "1,2,3,4,5,-6",
        ] {
            assert_eq!(port(text), "none", "{text}");
        }
        let reply = |text: &str| spelled(in_passive_reply(text.as_bytes()));
        assert_eq!(
            reply("Entering Passive Mode (10,91,2,2,117,72)."),
            "10.91.2.2 30024"
        );
        assert_eq!(
            reply("Entering Passive Mode 10,91,2,2,117,72"),
            "10.91.2.2 30024"
        );
        assert_eq!(reply("Ok, 3 of 4: =10,91,2,2,117,72"), "10.91.2.2 30024");
        assert_eq!(reply("Entering Passive Mode (10,91,2)"), "none");
    }

    /// RFC 2428 §2 and §3.
    #[test]
    fn delimiters_may_be_any() {
        let port = |text: &str| spelled(of_extended_port(text.as_bytes()));
        assert_eq!(port("|1|132.235.1.2|6275|"), "132.235.1.2 6275");
        assert_eq!(
            port("!2!1080::8:800:200C:417A!5282!"),
            "1080::8:800:200c:417a 5282"
        );
        for text in [
            "",
            "|3|1.2.3.4|5|",
            "|1|::1|5|",
            "|1|1.2.3.4|0|",
            "|1|1.2.3.4|65536|",
            "|1|",
        ] {
            assert_eq!(port(text), "none", "{text}");
        }
        let reply = |text: &str| in_extended_reply(text.as_bytes());
        assert_eq!(
            reply("Entering Extended Passive Mode (|||57086|)"),
            Some(57086)
        );
        assert_eq!(reply("Mode (extended) (!!!6446!)."), Some(6446));
        for text in [
            "(|||0|)",
            "(|!|1|)",
            "(|||70000|)",
            "|||5|",
            "(",
            "(111111)",
        ] {
            assert_eq!(reply(text), None, "{text}");
        }
    }
}
