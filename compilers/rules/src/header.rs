//! A rule's header: action, protocol, addresses, ports, direction.

use crate::option::Word;
use crate::problem::Fault;
use crate::variables::Variables;
use core::net::IpAddr;
use flowpin_rule::{Action, AddressSet, Header, PortSet, Protocol};
use std::collections::HashMap;
use std::sync::Arc;

/// What was made of texts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    addresses: HashMap<String, Arc<AddressSet>>,
    ports: HashMap<String, Arc<PortSet>>,
}

/// A header, and whether the rule's form is that of Snort 3 (no addresses).
pub(crate) struct Read {
    pub(crate) action: Action,
    pub(crate) header: Header,
    pub(crate) is_bare: bool,
}

/// Reads what stands before a rule's parentheses.
pub(crate) fn header(word: Word<'_>, variables: &mut Variables) -> Result<Read, Fault> {
    let parts = word.split_outside(' ', ('[', ']'));
    let mut parts: Vec<Word<'_>> = parts
        .into_iter()
        .filter(|one| !one.text.is_empty())
        .collect();
    let first = parts.first().copied().unwrap_or(word);
    let action = action(first)?;
    let Some(&spoken) = parts.get(1) else {
        return Err(first.fault("a protocol must follow the action"));
    };
    let protocol = protocol(spoken)?;
    let is_bare = parts.len() == 2;
    if is_bare {
        let header = Header {
            transport: None,
            protocol,
            source: Arc::new(AddressSet::any()),
            source_ports: Arc::new(PortSet::any()),
            destination: Arc::new(AddressSet::any()),
            destination_ports: Arc::new(PortSet::any()),
            both_ways: false,
            transactional: false,
        };
        return Ok(Read {
            action,
            header,
            is_bare,
        });
    }
    join_lists(&mut parts, word);
    let [_, _, source, from, arrow, destination, to] = parts.as_slice() else {
        let why = "a header has seven parts: action, protocol, address, port, ->, address, port";
        return Err(word.fault(why));
    };
    let (both_ways, transactional) = match arrow.text {
        "->" => (false, false),
        "<>" => (true, false),
        "=>" => (false, true),
        _ => return Err(arrow.fault("the direction is ->, <> or =>")),
    };
    let header = Header {
        transport: None,
        protocol,
        source: addresses(*source, variables)?,
        source_ports: ports(*from, variables)?,
        destination: addresses(*destination, variables)?,
        destination_ports: ports(*to, variables)?,
        both_ways,
        transactional,
    };
    Ok(Read {
        action,
        header,
        is_bare,
    })
}

/// A list may have blanks behind its `!`.
fn join_lists<'a>(parts: &mut Vec<Word<'a>>, whole: Word<'a>) {
    let mut at = 0;
    while at + 1 < parts.len() {
        if let (Some(&one), Some(&next)) = (parts.get(at), parts.get(at + 1))
            && one.text == "!"
        {
            let text = whole.part(one.at - whole.at, next.at + next.text.len() - whole.at);
            parts.splice(at..at + 2, [text]);
        }
        at += 1;
    }
}

fn action(word: Word<'_>) -> Result<Action, Fault> {
    Ok(match word.text {
        "alert" | "log" => Action::Alert,
        "pass" => Action::Pass,
        "drop" | "block" | "sdrop" => Action::Drop,
        "reject" | "rejectsrc" | "rejectdst" | "rejectboth" => Action::Reject,
        other => {
            let why = format!("\"{other}\" is no action: alert, pass, drop or reject");
            return Err(word.fault(why));
        }
    })
}

fn protocol(word: Word<'_>) -> Result<Protocol, Fault> {
    let name = word.text.to_ascii_lowercase();
    Ok(match name.as_str() {
        "ip" | "pkthdr" => Protocol::Ip,
        "tcp" => Protocol::Tcp,
        "tcp-pkt" => Protocol::TcpPacket,
        "tcp-stream" => Protocol::TcpStream,
        "udp" => Protocol::Udp,
        "icmp" | "icmpv4" | "icmpv6" => Protocol::Icmp,
        "sctp" => Protocol::Sctp,
        "ipv4" | "ip4" => Protocol::IpVersion(4),
        "ipv6" | "ip6" => Protocol::IpVersion(6),
        "http1" => Protocol::App("http".to_owned()),
        other if APPS.contains(&other) => Protocol::App(name),
        other => return Err(word.fault(format!("\"{other}\" is no protocol of rules"))),
    })
}

/// Addresses as rules write them: `any`, one, a network, a range, a list, a variable, a negation.
pub(crate) fn addresses(
    word: Word<'_>,
    variables: &mut Variables,
) -> Result<Arc<AddressSet>, Fault> {
    if let Some(known) = variables.known.addresses.get(word.text) {
        return Ok(Arc::clone(known));
    }
    let set = Arc::new(set::<AddressSet>(word, variables, 0)?);
    if set.is_empty() {
        return Err(word.fault("no address is left of these"));
    }
    let known = &mut variables.known.addresses;
    known.insert(word.text.to_owned(), Arc::clone(&set));
    Ok(set)
}

/// Ports as rules write them.
pub(crate) fn ports(word: Word<'_>, variables: &mut Variables) -> Result<Arc<PortSet>, Fault> {
    if let Some(known) = variables.known.ports.get(word.text) {
        return Ok(Arc::clone(known));
    }
    let set = Arc::new(set::<PortSet>(word, variables, 0)?);
    if set.is_empty() {
        return Err(word.fault("no port is left of these"));
    }
    let known = &mut variables.known.ports;
    known.insert(word.text.to_owned(), Arc::clone(&set));
    Ok(set)
}

/// What lists, negations and variables are the same for.
trait Set: Sized {
    fn any() -> Self;
    fn union(&self, other: &Self) -> Self;
    fn complement(&self) -> Self;
    fn without(&self, other: &Self) -> Self;
    /// One element: no list, no negation, no variable.
    fn one(word: Word<'_>) -> Result<Self, Fault>;
}

fn set<T: Set>(word: Word<'_>, variables: &Variables, depth: u32) -> Result<T, Fault> {
    if depth > DEPTH_MAX {
        return Err(word.fault("variables or lists are nested too deep"));
    }
    let word = word.trim();
    if let Some(rest) = word.strip_prefix('!') {
        return Ok(set::<T>(rest, variables, depth + 1)?.complement());
    }
    if let Some(inner) = word.strip_prefix('[') {
        let Some(inner) = inner
            .text
            .strip_suffix(']')
            .map(|text| Word { text, ..inner })
        else {
            return Err(word.fault("a list ends in ]"));
        };
        return list(inner, variables, depth);
    }
    if let Some(name) = word.strip_prefix('$') {
        let Some(value) = variables.get(name.text) else {
            let why = format!("${} is not defined: --var {}=VALUE", name.text, name.text);
            return Err(word.fault(why));
        };
        let value = Word { text: value, at: 0 };
        let found = if value.text.contains(',') && !value.text.starts_with(['[', '!']) {
            list(value, variables, depth)
        } else {
            set(value, variables, depth + 1)
        };
        return found.map_err(|why| word.fault(format!("${}: {}", name.text, why.why)));
    }
    if word.text == "any" {
        return Ok(T::any());
    }
    T::one(word)
}

/// All that is listed, without what is negated; if all of it is, everything else.
fn list<T: Set>(word: Word<'_>, variables: &Variables, depth: u32) -> Result<T, Fault> {
    let (mut is, mut is_not): (Option<T>, Option<T>) = (None, None);
    for part in word.split_outside(',', ('[', ']')) {
        if part.text.is_empty() {
            return Err(word.fault("an element of the list is empty"));
        }
        let (place, part) = match part.strip_prefix('!') {
            Some(part) => (&mut is_not, part),
            None => (&mut is, part),
        };
        let one = set::<T>(part, variables, depth + 1)?;
        *place = Some(match place.take() {
            Some(all) => all.union(&one),
            None => one,
        });
    }
    Ok(match (is, is_not) {
        (Some(is), Some(is_not)) => is.without(&is_not),
        (Some(is), None) => is,
        (None, Some(is_not)) => is_not.complement(),
        (None, None) => T::any(),
    })
}

macro_rules! set_by_inherent {
    ($set:ty) => {
        fn any() -> Self {
            <$set>::any()
        }
        fn union(&self, other: &Self) -> Self {
            <$set>::union(self, other)
        }
        fn complement(&self) -> Self {
            <$set>::complement(self)
        }
        fn without(&self, other: &Self) -> Self {
            <$set>::without(self, other)
        }
    };
}

impl Set for AddressSet {
    set_by_inherent!(AddressSet);

    fn one(word: Word<'_>) -> Result<Self, Fault> {
        let wrong = || word.fault(format!("\"{}\" is no address, network or range", word.text));
        let address = |text: &str| text.trim().parse::<IpAddr>().ok();
        if let Some((low, high)) = word.text.split_once('-') {
            let range = address(low).zip(address(high));
            return range
                .and_then(|(low, high)| Self::range(low, high))
                .ok_or_else(wrong);
        }
        let (text, prefix) = match word.text.split_once('/') {
            Some((text, prefix)) => (text, Some(prefix)),
            None => (word.text, None),
        };
        let address = address(text).ok_or_else(wrong)?;
        let bits = if address.is_ipv4() { 32 } else { 128 };
        let prefix = match prefix {
            None => bits,
            Some(prefix) => prefix
                .parse()
                .ok()
                .or_else(|| mask(prefix))
                .ok_or_else(wrong)?,
        };
        Self::network(address, prefix).ok_or_else(wrong)
    }
}

/// The length of a prefix that a mask names (`255.255.0.0`).
fn mask(text: &str) -> Option<u8> {
    let mask: core::net::Ipv4Addr = text.parse().ok()?;
    let bits = mask.to_bits();
    let len = bits.leading_ones();
    (bits.count_ones() == len).then(|| u8::try_from(len).ok())?
}

impl Set for PortSet {
    set_by_inherent!(PortSet);

    fn one(word: Word<'_>) -> Result<Self, Fault> {
        let wrong = || word.fault(format!("\"{}\" is no port or range of ports", word.text));
        let port = |text: &str, other: u16| match text.trim() {
            "" => Some(other),
            text => text.parse().ok(),
        };
        let (low, high) = word.text.split_once(':').unwrap_or((word.text, word.text));
        if low.is_empty() && high.is_empty() {
            return Err(wrong());
        }
        let range = port(low, 0).zip(port(high, u16::MAX));
        range
            .and_then(|(low, high)| Self::range(low, high))
            .ok_or_else(wrong)
    }
}

/// Variables that name each other.
const DEPTH_MAX: u32 = 24;

/// Application protocols of rules.
#[rustfmt::skip]
pub(crate) const APPS: &[&str] = &[
    "http", "http2", "dns", "tls", "ssl", "quic", "smtp", "ftp", "ftp-data", "smb", "ssh",
    "dcerpc", "nfs", "imap", "pop3", "tftp", "sip", "rdp", "rfb", "mqtt", "krb5", "snmp", "dhcp",
    "ike", "ntp", "modbus", "dnp3", "enip", "ldap", "pgsql", "telnet", "doh2", "mdns", "websocket",
    "bittorrent-dht", "template", "irc", "llmnr", "redis", "memcached", "gopher", "nut", "fix",
    "file",
];
