//! BitTorrent. BEP 3: the handshake; BEP 5: DHT; BEP 15: trackers; BEP 29: uTP.

use crate::{Answer, Group, Lead, Look, On, Protocol, Rule};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "bittorrent",
    groups: &[Group::Peers],
    ports: &[6881],
    rules: &[
        Rule::pattern("bittorrent-handshake", On::Tcp, r"\x13BitTorrent protocol"),
        Rule::pattern(
            "bittorrent-handshake-udp",
            On::Udp,
            r"\x13BitTorrent protocol",
        ),
        Rule::pattern(
            "bittorrent-dht",
            On::Udp,
            r"d1:(ad2:id20:|rd2:id20:|eli20[0-4]e|y1:|t[0-9]:|v4:|ip[46]:|q[0-9])",
        ),
        Rule::pattern(
            "bittorrent-local",
            On::Udp,
            r"BT-SEARCH \* HTTP/1\.[01]\r\n",
        ),
        Rule::pattern(
            "bittorrent-tracker",
            On::Tcp,
            r"GET /(announce|scrape)(\.php)?\?[^ ]*info_hash=",
        ),
        Rule::check(
            "utp-header",
            On::Udp,
            &[Lead::ANY.masked(0, 0x0f, 1).masked(1, 0xfc, 0).len_min(20)],
            utp,
        ),
        Rule::check(
            "bittorrent-udp-tracker",
            On::Udp,
            &[Lead::start(&[0, 0, 4, 0x17, 0x27, 0x10, 0x19, 0x80]).len_min(16)],
            tracker,
        ),
    ],
};

/// BEP 15: the magic number of a connection request.
fn tracker(look: &Look<'_>) -> Option<Answer> {
    Answer::when(look.be64(0)? == 0x0417_2710_1980 && look.be32(8)? == 0)
}

/// BEP 29: type and version, extensions, identifiers of which one is the other's plus one.
fn utp(look: &Look<'_>) -> Option<Answer> {
    let [first, extension] = look.array(0)?;
    let (kind, id) = (first >> 4, look.be16(2)?);
    if kind > 4 || extension > 2 {
        return Some(Answer::No);
    }
    let window = look.be32(12)?;
    if kind == 4 {
        // SYN: sequence 1, nothing acknowledged, no difference measured yet.
        let is_fresh = look.be16(16)? == 1 && look.be32(8)? == 0;
        let is_sized = look.len == 20 || (extension == 2 && look.len == 30);
        return Some(if is_fresh && is_sized {
            Answer::Yes
        } else {
            Answer::No
        });
    }
    // The other direction's identifier differs by one; its number is what this one acknowledges.
    let reply = Look {
        bytes: look.reply,
        ..*look
    };
    let theirs = reply.be16(2).unwrap_or(id);
    let is_pair = theirs.abs_diff(id) == 1 && reply.u8(0)? & 15 == 1;
    Answer::when(is_pair && (look.be16(18)? == reply.be16(16)? || window > 0))
}
