//! The client that a proxy names in a request (`X-Forwarded-For`).

use crate::alert::Candidate;
use crate::columns::FORWARDED;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use flowpin_rule::ForwardedHop;

/// The address of the client that counts; none if the request names none there.
pub(crate) fn named_client(candidate: &Candidate, hop: ForwardedHop) -> Option<IpAddr> {
    let mut shown = candidate.shown.iter();
    let text = shown.find(|(nth, _)| *nth == FORWARDED)?;
    address(core::str::from_utf8(&text.1).ok()?, hop)
}

/// The first address of a list, or the last one: perhaps in brackets, perhaps with a port.
fn address(list: &str, hop: ForwardedHop) -> Option<IpAddr> {
    let mut all = list.split(',').map(str::trim);
    let text = match hop {
        ForwardedHop::First => all.next(),
        ForwardedHop::Last => all.next_back(),
    }?;
    if let Ok(address) = text.parse() {
        return Some(address);
    }
    if let Some(rest) = text.strip_prefix('[') {
        let (inner, _) = rest.split_once(']')?;
        return inner.parse::<Ipv6Addr>().ok().map(IpAddr::V6);
    }
    let (before, _) = text.split_once(':')?;
    before.parse::<Ipv4Addr>().ok().map(IpAddr::V4)
}

#[cfg(test)]
mod tests {
    use super::address;
    use flowpin_rule::ForwardedHop::{First, Last};

    /// The hop that counts, without its port; what is no address names nobody.
    #[test]
    fn proxies_name_a_client() {
        for (list, hop, expected) in [
            ("10.0.0.1", Last, Some("10.0.0.1")),
            ("10.0.0.1, 10.0.0.2", First, Some("10.0.0.1")),
            ("10.0.0.1, 10.0.0.2", Last, Some("10.0.0.2")),
            ("10.0.0.1:80", Last, Some("10.0.0.1")),
            ("2001:db8::1", Last, Some("2001:db8::1")),
            ("[2001:db8::1]:443", Last, Some("2001:db8::1")),
            ("[2001:db8::1", Last, None),
            ("unknown", First, None),
            ("10.0.0.1,", Last, None),
            ("", First, None),
        ] {
            let expected = expected.map(|text| text.parse().unwrap());
            assert_eq!(address(list, hop), expected, "{list}");
        }
    }
}
