//! All headers of one frame, used by explanations only, never by a run.
//!
//! The walk is that of the peel loop; the fields of each header are read by the views that the
//! loop itself uses.

mod extensions;
mod fields;

use crate::peel::{NonIp, Outcome, Peel, TunnelLayer, Watch};
use flowpin_packet::{LinkType, Malformed, TunnelKind};

use flowpin_wire::{Next, ip_protocol};

/// One header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// What it is: lower case, words joined by `_`.
    pub name: &'static str,
    /// Where it starts in the frame.
    pub offset: usize,
    /// Its length; of one that was refused: what was captured of it.
    pub len: usize,
    /// Its main fields, by name.
    pub fields: Vec<(&'static str, String)>,
}

/// What the peel loop sees of a frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Headers {
    /// From the link header to the innermost one that was read.
    pub all: Vec<Header>,
    /// Why a header was refused: the last one, or, inside a tunnel, one that counts for nothing.
    pub refused: Option<Malformed>,
    /// What the frame is, if it is no IP packet.
    pub non_ip: Option<&'static str>,
}

/// How a frame is to be read.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// How its first bytes are to be read.
    pub link: LinkType,
    /// Its length on the wire.
    pub wire_len: u32,
    /// It was accepted: outer lengths of a reassembled datagram are those of one fragment.
    pub again: bool,
    /// Refuse IP headers whose checksum does not hold.
    pub verify: bool,
}

/// Lists the headers of a frame.
pub fn headers(frame: &[u8], seen: Seen) -> Headers {
    let mut peel = Peel::new(frame, seen.wire_len as usize, Walk(Vec::new()));
    peel.again = seen.again;
    peel.verify = seen.verify;
    let outcome = peel.run(Next::Link(seen.link));
    let (refused, non_ip) = match outcome {
        Outcome::Packet(refused) => (refused, None),
        Outcome::Malformed(refused) => (Some(refused), None),
        Outcome::NonIp(what) => (None, Some(name_of_non_ip(what))),
        Outcome::Fragment(_) | Outcome::Headless => (None, None),
    };
    let found = peel.found.as_ref().map(|found| found.meta);
    let mut places = peel.watch.0;
    // What only leads to the next one at the same place is none.
    places.retain(|place| !matches!(place.what, What::Layer(Next::Ip | Next::Opaque)));
    let mut all = Vec::with_capacity(places.len());
    for (nth, place) in places.iter().enumerate() {
        let end = match places.get(nth.saturating_add(1)) {
            Some(next) => next.at,
            None => match found {
                Some(meta) if usize::from(meta.payload_offset) > place.at => {
                    usize::from(meta.payload_offset)
                }
                _ => fields::end(place.what, frame, place.at),
            },
        };
        let len = end.saturating_sub(place.at);
        if len == 0 && matches!(place.what, What::Layer(Next::Link(_))) {
            continue;
        }
        let rest = frame.get(place.at..).unwrap_or_default();
        let header = Header {
            name: name_of(place.what),
            offset: place.at,
            len,
            fields: fields::of(place.what, rest),
        };
        extensions::push(&mut all, header, rest);
    }
    Headers {
        all,
        refused,
        non_ip,
    }
}

/// A header, by how it was found.
#[derive(Clone, Copy, Debug)]
enum What {
    Layer(Next),
    Transport(u8),
    Tunnel(TunnelKind, u32),
}

#[derive(Clone, Copy, Debug)]
struct Place {
    what: What,
    at: usize,
}

/// Notes where each header starts.
struct Walk(Vec<Place>);

impl Watch for Walk {
    fn vlan(&mut self, _: u16) {}

    /// A tunnel's own header stands between the one that led to it and what is inside.
    fn tunnel(&mut self, layer: TunnelLayer) {
        let what = What::Tunnel(layer.kind, layer.id);
        match self.0.last_mut() {
            Some(last) if leads(last.what) => {
                let at = last.at.saturating_add(UDP_LEN);
                self.0.push(Place { what, at });
            }
            // GRE, L2TP over IP, a service header: what was found is the tunnel's header.
            Some(last) => last.what = what,
            None => {}
        }
    }

    fn layer(&mut self, next: Next, at: usize) {
        let what = What::Layer(next);
        self.0.push(Place { what, at });
    }

    fn transport(&mut self, protocol: u8, at: usize) {
        let what = What::Transport(protocol);
        self.0.push(Place { what, at });
    }
}

const fn leads(what: What) -> bool {
    matches!(what, What::Transport(ip_protocol::UDP))
}

const UDP_LEN: usize = 8;

const fn name_of(what: What) -> &'static str {
    match what {
        What::Transport(ip_protocol::TCP) => "tcp",
        What::Transport(ip_protocol::UDP) => "udp",
        What::Transport(ip_protocol::SCTP) => "sctp",
        What::Transport(ip_protocol::ICMP) => "icmp",
        What::Transport(ip_protocol::ICMPV6) => "icmpv6",
        What::Transport(_) => "ip_protocol",
        What::Tunnel(TunnelKind::Ip, _) => "ip_in_ip",
        What::Tunnel(kind, _) => kind.name(),
        What::Layer(next) => match next {
            Next::Ipv4 => "ipv4",
            Next::Ipv6 => "ipv6",
            Next::Ethernet => "ethernet",
            Next::Llc => "llc",
            Next::Vlan => "vlan",
            Next::VnTag => "vn_tag",
            Next::ExtenderTag => "extender_tag",
            Next::CiscoMetadata => "cisco_metadata",
            Next::ServiceTag => "service_tag",
            Next::FabricPath => "fabric_path",
            Next::Mpls => "mpls",
            Next::PppoeSession => "pppoe",
            Next::Ppp => "ppp",
            Next::Nsh => "nsh",
            Next::Erspan2 | Next::Erspan3 => "erspan",
            Next::Arp => "arp",
            Next::Link(_) => "link",
            Next::Ip | Next::Opaque => "other",
        },
    }
}

const fn name_of_non_ip(what: NonIp) -> &'static str {
    match what {
        NonIp::Arp => "arp",
        NonIp::Lldp => "lldp",
        NonIp::Stp => "stp",
        NonIp::Ppp => "ppp",
        NonIp::Ieee80211 => "ieee80211",
        NonIp::Other => "other",
        NonIp::UnsupportedLink(_) => "unsupported_link",
    }
}
