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
    let is_pair = theirs.abs_diff(id) == 1 && reply.u8(0).is_some_and(|first| first & 15 == 1);
    let acknowledges = look.be16(18)? == reply.be16(16).unwrap_or_default();
    Answer::when((is_pair && (acknowledges || window > 0)) || goes_on(look)?)
}

/// Whether the datagram goes on where the one before it in the same direction stood: the clock, in
/// microseconds, has gone on by a minute at most, and the numbers by a window at most.
fn goes_on(look: &Look<'_>) -> Option<bool> {
    let Some(before) = look.earlier.first_chunk::<20>() else {
        return Some(false);
    };
    let before = Look {
        bytes: before,
        ..*look
    };
    let (kind, kind_before) = (look.u8(0)? >> 4, before.u8(0)? >> 4);
    let same = look.be16(2)? == before.be16(2)? && before.u8(0)? & 15 == 1 && kind_before < 4;
    let clock = look.be32(4)?.wrapping_sub(before.be32(4)?);
    let sent = look.be16(16)?.wrapping_sub(before.be16(16)?);
    let received = look.be16(18)?.wrapping_sub(before.be16(18)?);
    let numbers = (look.be16(16)? | look.be16(18)?) != 0 && sent <= 256 && received <= 256;
    let window = look.be32(12)? > 0 && before.be32(12)? > 0;
    // What only acknowledges has no payload; extension 1 has a length of its own.
    let extension = look
        .u8(21)
        .map_or(0, |len| usize::from(len).saturating_add(2));
    let is_sized = match (kind, look.u8(1)?) {
        (0, _) => look.len > 20,
        (_, 0) => look.len == 20,
        _ => look.len == 20usize.saturating_add(extension),
    };
    Some(same && (1..60_000_000).contains(&clock) && numbers && window && is_sized)
}

#[cfg(test)]
mod tests {
    use crate::testing::{datagram, datagrams};

    /// State packets of one direction, `later` microseconds after the first.
    fn state(id: u8, later: u8, acknowledged: u8) -> [u8; 20] {
        let mut bytes = [0; 20];
        bytes[..4].copy_from_slice(&[0x21, 0, 0xac, id]);
        bytes[4..8].copy_from_slice(&[0xf8, 0x2a, 0x43, later]);
        bytes[12..].copy_from_slice(&[0, 0x10, 0, 0, 0xd4, 0x49, 0x6c, acknowledged]);
        bytes
    }

    fn two(one: &[u8], other: &[u8]) -> Option<&'static str> {
        datagrams(&[(true, one), (true, other)], (50_000, 50_001))
    }

    /// One direction of uTP tells, wherever the capture begins: clock and numbers go on.
    #[test]
    fn one_direction_of_utp_tells() {
        let told = two(&state(1, 7, 0x42), &state(1, 9, 0x43));
        assert_eq!(told, Some("bittorrent"));
    }

    #[test]
    fn a_near_miss_of_utp_does_not_tell() {
        assert_eq!(datagram(&state(1, 7, 0x42)), None);
        assert_eq!(two(&state(1, 7, 0x42), &state(2, 9, 0x43)), None);
        assert_eq!(two(&state(1, 9, 0x42), &state(1, 9, 0x43)), None);
        let mut long = state(1, 9, 0x43).to_vec();
        long.push(0);
        assert_eq!(two(&state(1, 7, 0x42), &long), None);
    }
}
