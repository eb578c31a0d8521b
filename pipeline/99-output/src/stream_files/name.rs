//! Names of files: `128.129.130.131.02345-010.011.012.013.45103`, as tcpflow has them.
//!
//! Sender first. IPv4 addresses have three digits for each byte and ports five, so that names
//! sort as addresses do; IPv6 addresses are in their canonical form (RFC 5952). The name of a
//! second stream between the same two ends has the suffix `c1`. VLANs are not in the name: they do
//! not distinguish connections.

use core::net::{IpAddr, SocketAddr};

/// The name of the first stream from one end to the other.
pub(super) fn of(from: SocketAddr, to: SocketAddr) -> String {
    format!("{}-{}", end(from), end(to))
}

/// The name of a stream that has `before` earlier ones between the same two ends.
pub(super) fn numbered(name: String, before: u32) -> String {
    match before {
        0 => name,
        before => format!("{name}c{before}"),
    }
}

/// Whether a stream's file may have this name.
pub(super) fn is_stream_name(name: &str) -> bool {
    let is_end = |end: &str| {
        let is_letter = |letter: u8| letter.is_ascii_hexdigit() || matches!(letter, b'.' | b':');
        end.contains('.') && end.bytes().all(is_letter)
    };
    name.split_once('-')
        .is_some_and(|(from, to)| is_end(from) && is_end(to))
}

fn end(end: SocketAddr) -> String {
    let port = end.port();
    match end.ip() {
        IpAddr::V4(address) => {
            let [a, b, c, d] = address.octets();
            format!("{a:03}.{b:03}.{c:03}.{d:03}.{port:05}")
        }
        IpAddr::V6(address) => format!("{address}.{port:05}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{numbered, of};

    /// tcpflow(1): "128.129.130.131.02345-010.011.012.013.45103".
    #[test]
    fn names_are_those_of_tcpflow() {
        let (a, b) = ("128.129.130.131:2345", "10.11.12.13:45103");
        let name = of(a.parse().unwrap(), b.parse().unwrap());
        assert_eq!(name, "128.129.130.131.02345-010.011.012.013.45103");
        let (a, b) = ("[fd91:1::2]:41006", "[fd91:2::2]:80");
        let name = of(a.parse().unwrap(), b.parse().unwrap());
        assert_eq!(name, "fd91:1::2.41006-fd91:2::2.00080");
        assert_eq!(numbered(name.clone(), 0), name);
        assert_eq!(numbered("x".to_owned(), 1), "xc1");
    }
}
