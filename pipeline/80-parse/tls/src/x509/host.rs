//! Whether a certificate is for a host (RFC 6125 §6.4), as records of handshakes say.

use super::read::{AlternativeName, Fields, names_of};

/// Whether the certificate is for the host that the client asked for: by the hosts among the
/// subject's other names; if there are none, by the subject's own. `None`: it is no certificate.
pub(super) fn is_for(certificate: &[u8], host: &[u8]) -> Option<bool> {
    let fields = Fields::read(certificate)?;
    let mut has_hosts = false;
    for name in names_of(fields.alternatives) {
        if let AlternativeName::Host(pattern) = name {
            has_hosts = true;
            if matches(pattern, host) {
                return Some(true);
            }
        }
    }
    let mut common = fields.common_names();
    Some(!has_hosts && common.any(|pattern| matches(pattern, host)))
}

/// §6.4.3, as OpenSSL understands it: a wildcard stands for the whole first label, or for its
/// beginning or end, before at least two more labels.
fn matches(pattern: &[u8], host: &[u8]) -> bool {
    if pattern.eq_ignore_ascii_case(host) {
        return true;
    }
    let star = pattern.iter().position(|&byte| byte == b'*');
    let Some((before, [_, behind @ ..])) = star.and_then(|at| pattern.split_at_checked(at)) else {
        return false;
    };
    let dots = behind.iter().filter(|&&byte| byte == b'.').count();
    let is_at_end = behind.first() == Some(&b'.');
    if dots < 2 || before.contains(&b'.') || !(before.is_empty() || is_at_end) {
        return false;
    }
    let Some((begin, rest)) = host.split_at_checked(before.len()) else {
        return false;
    };
    let len = rest.len().checked_sub(behind.len());
    let Some((middle, end)) = len.and_then(|len| rest.split_at_checked(len)) else {
        return false;
    };
    let is_label = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
    let is_allowed = match before.is_empty() && is_at_end {
        true => !middle.is_empty(),
        // RFC 6125 §6.4.3: not a part of an encoded label.
        false => !host
            .get(..4)
            .is_some_and(|begin| begin.eq_ignore_ascii_case(b"xn--")),
    };
    begin.eq_ignore_ascii_case(before)
        && end.eq_ignore_ascii_case(behind)
        && is_allowed
        && middle.iter().all(is_label)
}

#[cfg(test)]
mod tests {
    use super::matches;

    /// A wildcard is for one label, and for none of a top-level domain.
    #[test]
    fn wildcards_stand_for_one_label() {
        let cases = [
            ("a.example.org", "A.Example.org", true),
            ("*.example.org", "a.example.org", true),
            ("w*.example.org", "www.example.org", true),
            ("*w.example.org", "w.example.org", true),
            ("w*w.example.org", "www.example.org", false),
            ("x*.example.org", "xn--w.example.org", false),
            ("*.example.org", "a.b.example.org", false),
            ("*.example.org", "example.org", false),
            ("*.example.org", ".example.org", false),
            ("*.org", "example.org", false),
            ("a.*.example.org", "a.b.example.org", false),
        ];
        for (pattern, host, expected) in cases {
            assert_eq!(
                matches(pattern.as_bytes(), host.as_bytes()),
                expected,
                "{pattern} {host}"
            );
        }
    }
}
