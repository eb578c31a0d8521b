//! What to write instead of an expression in another language than pcap-filter(7)'s.

/// Advice on an expression that does not compile, if it looks like a display filter.
pub(super) fn advice(expression: &str) -> Option<String> {
    let spaced = expression.replace("==", " == ").replace("!=", " != ");
    let words: Vec<&str> = spaced
        .split(|letter: char| letter.is_whitespace() || "()!&|\"".contains(letter))
        .filter(|word| !word.is_empty())
        .collect();
    let instead = words.iter().enumerate().find_map(|(at, word)| {
        if is_field(word) {
            return Some(comparison(word, words.get(at + 1..).unwrap_or_default()));
        }
        // `port http` is fine, and `host http` another mistake.
        let before = at.checked_sub(1).and_then(|before| words.get(before));
        let is_name = before.is_some_and(|before| QUALIFIERS.contains(before));
        let known = PROTOCOLS.iter().find(|(name, _)| name == word && !is_name);
        known.map(|(name, port)| Some(format!("for {name}'s usual port write `{port}`")))
    })?;
    let mut text = "this looks like a display filter; see pcap-filter(7)".to_owned();
    if let Some(instead) = instead {
        text.push_str(": ");
        text.push_str(&instead);
    }
    Some(text)
}

/// `tcp.port`: a field of a display filter, and no host's name.
fn is_field(word: &str) -> bool {
    let (protocol, field) = word.split_once('.').unwrap_or_default();
    let is_protocol = |name: &str| {
        LAYERS.contains(&name) || PROTOCOLS.iter().any(|(protocol, _)| *protocol == name)
    };
    is_protocol(protocol) && field.starts_with(|letter: char| letter.is_ascii_alphabetic())
}

/// What stands for a field and what it is compared with.
fn comparison(field: &str, behind: &[&str]) -> Option<String> {
    let (_, words) = FIELDS.iter().find(|(name, _)| *name == field)?;
    let value = match behind {
        ["==" | "eq", value, ..] => value,
        _ => "VALUE",
    };
    Some(format!("for `{field}` write `{words} {value}`"))
}

const QUALIFIERS: &[&str] = &["host", "net", "port", "portrange", "src", "dst", "gateway"];

/// Protocols that have fields in display filters, besides those with a port.
const LAYERS: &[&str] = &[
    "arp", "eth", "frame", "icmp", "icmpv6", "ip", "ipv6", "sctp", "tcp", "udp", "vlan",
];

const FIELDS: &[(&str, &str)] = &[
    ("eth.addr", "ether host"),
    ("eth.dst", "ether dst"),
    ("eth.src", "ether src"),
    ("ip.addr", "host"),
    ("ip.dst", "dst host"),
    ("ip.proto", "ip proto"),
    ("ip.src", "src host"),
    ("ipv6.addr", "host"),
    ("ipv6.dst", "dst host"),
    ("ipv6.src", "src host"),
    ("tcp.dstport", "tcp dst port"),
    ("tcp.port", "tcp port"),
    ("tcp.srcport", "tcp src port"),
    ("udp.dstport", "udp dst port"),
    ("udp.port", "udp port"),
    ("udp.srcport", "udp src port"),
    ("vlan.id", "vlan"),
];

/// Application protocols, which a packet filter knows by their ports only.
const PROTOCOLS: &[(&str, &str)] = &[
    ("dhcp", "udp port 67"),
    ("dns", "port 53"),
    ("ftp", "tcp port 21"),
    ("http", "tcp port 80"),
    ("http2", "tcp port 443"),
    ("https", "tcp port 443"),
    ("imap", "tcp port 143"),
    ("kerberos", "port 88"),
    ("ldap", "tcp port 389"),
    ("mdns", "udp port 5353"),
    ("mqtt", "tcp port 1883"),
    ("mysql", "tcp port 3306"),
    ("ntp", "udp port 123"),
    ("pop", "tcp port 110"),
    ("quic", "udp port 443"),
    ("rdp", "tcp port 3389"),
    ("redis", "tcp port 6379"),
    ("sip", "port 5060"),
    ("smb", "tcp port 445"),
    ("smb2", "tcp port 445"),
    ("smtp", "tcp port 25"),
    ("snmp", "udp port 161"),
    ("ssh", "tcp port 22"),
    ("ssl", "tcp port 443"),
    ("telnet", "tcp port 23"),
    ("tls", "tcp port 443"),
];

#[cfg(test)]
mod tests {
    use super::advice;

    /// The usual display filters are answered in the other language.
    #[test]
    fn display_filters_are_translated() {
        for (expression, part) in [
            ("http", ": for http's usual port write `tcp port 80`"),
            ("tls && ip", "write `tcp port 443`"),
            ("tcp.port==80", ": for `tcp.port` write `tcp port 80`"),
            ("(ip.src == 10.0.0.1) and tcp", "write `src host 10.0.0.1`"),
            ("ipv6.dst eq fe80::1", "write `dst host fe80::1`"),
            ("tcp.dstport > 1024", "write `tcp dst port VALUE`"),
        ] {
            let text = advice(expression).unwrap();
            assert!(text.starts_with("this looks like a display filter; see pcap-filter(7)"));
            assert!(text.ends_with(part), "{text}");
        }
        for expression in ["http.host contains x", "frame.len > 100", "!tls.handshake"] {
            let text = advice(expression).unwrap();
            assert!(text.ends_with("pcap-filter(7)"), "{text}");
        }
    }

    /// Other mistakes get no advice that leads astray.
    #[test]
    fn other_mistakes_are_left_alone() {
        for expression in [
            "tcp prot 80",
            "host",
            "host http",
            "host tcp",
            "ip.",
            "port 99999",
        ] {
            assert_eq!(advice(expression), None, "{expression}");
        }
    }
}
