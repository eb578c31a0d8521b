//! One indicator: what a text is.

use core::net::IpAddr;

/// Something that is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Indicator {
    /// An address, or a network of those with these first bits.
    Network(IpAddr, u8),
    /// A host or domain, in small letters.
    Domain(String),
    /// A URL without its scheme: host in small letters, and target.
    Url(String),
    /// Hashes and fingerprints, in small hexadecimal digits.
    Md5(String),
    Sha1(String),
    Sha256(String),
    Ja3(String),
    Ja4(String),
}

/// What a text is, by its form. A hash of 16 bytes is that of a file or of a TLS hello.
pub(super) fn classify(text: &str) -> Vec<Indicator> {
    let text = refanged(text.trim().trim_matches('"').trim());
    if text.chars().any(char::is_whitespace) {
        return Vec::new();
    }
    if let Some(url) = url(&text) {
        return vec![url];
    }
    if let Some(network) = network(&text) {
        return vec![network];
    }
    if is_ja4(&text) {
        return vec![Indicator::Ja4(text)];
    }
    let hash = text.to_ascii_lowercase();
    let is_hash = hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    match hash.len() {
        32 if is_hash => return vec![Indicator::Md5(hash.clone()), Indicator::Ja3(hash)],
        40 if is_hash => return vec![Indicator::Sha1(hash)],
        64 if is_hash => return vec![Indicator::Sha256(hash)],
        _ => {}
    }
    domain(&text).into_iter().collect()
}

/// Texts for people have links that no one follows by accident: `hxxp://a[.]example`.
pub(super) fn refanged(text: &str) -> String {
    let plain = text.replace("[.]", ".").replace("(.)", ".");
    let plain = plain.replace("[:]", ":").replace("[://]", "://");
    for (cut, whole) in [("hxxps://", "https://"), ("hxxp://", "http://")] {
        let begin = plain.get(..cut.len()).unwrap_or_default();
        if begin.eq_ignore_ascii_case(cut) {
            return format!("{whole}{}", plain.get(cut.len()..).unwrap_or_default());
        }
    }
    plain
}

/// An address, with a port or with the length of a network's prefix.
pub(super) fn network(text: &str) -> Option<Indicator> {
    if let Some((address, prefix)) = text.split_once('/') {
        let address: IpAddr = address.parse().ok()?;
        let prefix: u8 = prefix.parse().ok()?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        return (prefix > 0 && prefix <= most).then_some(Indicator::Network(address, prefix));
    }
    let address = text.parse::<IpAddr>().ok();
    let with_port = || {
        text.parse()
            .ok()
            .map(|socket: core::net::SocketAddr| socket.ip())
    };
    let address = address.or_else(with_port)?;
    let most = if address.is_ipv4() { 32 } else { 128 };
    Some(Indicator::Network(address, most))
}

/// A name of at least two labels.
pub(super) fn domain(text: &str) -> Option<Indicator> {
    let name = text.trim_start_matches("*.").trim_start_matches('.');
    let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
    let is_label = |label: &str| {
        let known = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        !label.is_empty() && label.len() <= 63 && label.bytes().all(known)
    };
    let is_name = name.contains('.') && name.len() <= 253 && name.split('.').all(is_label);
    // The last label of a domain is no number: an address that is none is none.
    let last = name.rsplit('.').next().unwrap_or_default();
    let is_domain = is_name && !last.bytes().all(|byte| byte.is_ascii_digit());
    is_domain.then_some(Indicator::Domain(name))
}

/// A URL of HTTP.
pub(super) fn url(text: &str) -> Option<Indicator> {
    let (scheme, rest) = text.split_once("://")?;
    if !["http", "https"].contains(&scheme.to_ascii_lowercase().as_str()) {
        return None;
    }
    let rest = rest.split('#').next().unwrap_or_default();
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (host, target) = rest.split_at(end);
    let host = host.rsplit('@').next().unwrap_or_default();
    let host = host.to_ascii_lowercase();
    let slash = if target.starts_with('/') { "" } else { "/" };
    (!host.is_empty()).then(|| Indicator::Url(format!("{host}{slash}{target}")))
}

/// `t13d1516h2_8daaf6152771_e5627efa2ab1`
pub(super) fn is_ja4(text: &str) -> bool {
    let parts: Vec<&str> = text.split('_').collect();
    let [head, ciphers, extensions] = parts.as_slice() else {
        return false;
    };
    let is_hash = |part: &&str| part.len() == 12 && part.bytes().all(|b| b.is_ascii_hexdigit());
    head.len() == 10
        && head.starts_with(['t', 'q', 'd'])
        && [ciphers, extensions].into_iter().all(is_hash)
}

#[cfg(test)]
mod tests {
    use super::{Indicator, classify};

    #[test]
    fn texts_are_known_by_their_form() {
        let network = |text: &str, prefix| Indicator::Network(text.parse().unwrap(), prefix);
        let md5 = "D41D8CD98F00B204E9800998ECF8427E";
        let small = md5.to_ascii_lowercase();
        for (text, expected) in [
            ("192.0.2.7", vec![network("192.0.2.7", 32)]),
            ("192.0.2.7:443", vec![network("192.0.2.7", 32)]),
            ("198.51.100.0/24", vec![network("198.51.100.0", 24)]),
            ("2001:db8::1", vec![network("2001:db8::1", 128)]),
            (
                "evil[.]Example",
                vec![Indicator::Domain("evil.example".to_owned())],
            ),
            (
                "*.evil.example.",
                vec![Indicator::Domain("evil.example".to_owned())],
            ),
            (
                "hxxp://A.example/B?c#d",
                vec![Indicator::Url("a.example/B?c".to_owned())],
            ),
            (
                "https://u:p@a.example:8443",
                vec![Indicator::Url("a.example:8443/".to_owned())],
            ),
            (
                md5,
                vec![Indicator::Md5(small.clone()), Indicator::Ja3(small)],
            ),
            (
                "t13d1516h2_8daaf6152771_e5627efa2ab1",
                vec![Indicator::Ja4(
                    "t13d1516h2_8daaf6152771_e5627efa2ab1".to_owned(),
                )],
            ),
        ] {
            assert_eq!(classify(text), expected, "{text}");
        }
        for text in [
            "",
            "evil",
            "1.2.3",
            "1.2.3.400",
            "0.0.0.0/0",
            "ftp://a.example/",
            "two words.example",
            "a..example",
        ] {
            assert_eq!(classify(text), [], "{text}");
        }
    }
}
