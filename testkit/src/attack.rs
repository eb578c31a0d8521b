//! Captures of attacks, made: a SYN flood from forged sources, scans amid it, and connections
//! whose segments lie.
//!
//! ```
//! use flowpin_testkit::attack::Attack;
//! let frames = Attack { forged_sources: 10, ..Attack::default() }.frames();
//! assert!(frames.is_sorted_by_key(|(time, _)| *time));
//! ```
//!
//! The same for every call: no clock, no randomness but a fixed sequence.

use crate::build::{Ip, Tcp, flags};

/// What is attacked, and how much. All of it happens within `span_ns` from `start_ns` on.
#[derive(Clone, Copy, Debug)]
pub struct Attack {
    /// Time of the first packet.
    pub start_ns: u64,
    /// From the first packet to the last.
    pub span_ns: u64,
    /// SYNs to port 80 of [`FLOODED`], each from an address of its own.
    pub forged_sources: u32,
    /// Ports of [`SCANNED`] that [`SCANNER`] asks; each refuses but every hundredth.
    pub ports: u16,
    /// Hosts of 10.77.0.0/16 that [`SWEEPER`] asks on port 22, and that are silent.
    pub hosts: u16,
    /// Connections whose segments come out of order, overlap with other bytes and carry data
    /// where none belongs.
    pub lying_streams: u16,
    /// Packets whose IP header has a wrong checksum.
    pub bad_headers: u16,
}

impl Default for Attack {
    fn default() -> Self {
        Self {
            start_ns: 1_700_000_000_000_000_000,
            span_ns: 3_000_000_000,
            forged_sources: 20_000,
            ports: 1000,
            hosts: 300,
            lying_streams: 200,
            bad_headers: 100,
        }
    }
}

/// Who scans.
pub const SCANNER: [u8; 4] = [10, 66, 0, 1];
/// Who looks for one port on many hosts.
pub const SWEEPER: [u8; 4] = [10, 66, 0, 4];
/// Whose ports are scanned.
pub const SCANNED: [u8; 4] = [10, 66, 0, 2];
/// Who is flooded.
pub const FLOODED: [u8; 4] = [10, 66, 0, 3];

impl Attack {
    /// The frames with their times in nanoseconds, in order: each kind is spread evenly over the
    /// whole span.
    pub fn frames(&self) -> Vec<(u64, Vec<u8>)> {
        let mut frames = Vec::new();
        self.spread(&mut frames, self.forged_sources, |nth| {
            vec![forged_syn(nth)]
        });
        self.spread(&mut frames, self.ports.into(), probe_of_port);
        self.spread(&mut frames, self.hosts.into(), |nth| {
            vec![probe_of_host(nth)]
        });
        self.spread(&mut frames, self.lying_streams.into(), lying_stream);
        self.spread(&mut frames, self.bad_headers.into(), |nth| {
            vec![bad_header(nth)]
        });
        // Stable, so that the packets of one exchange stay in their order.
        frames.sort_by_key(|(time, _)| *time);
        frames
    }

    fn spread(
        &self,
        frames: &mut Vec<(u64, Vec<u8>)>,
        count: u32,
        make: impl Fn(u32) -> Vec<Vec<u8>>,
    ) {
        for nth in 0..count {
            let time = self.start_ns + self.span_ns * u64::from(nth) / u64::from(count);
            frames.extend(make(nth).into_iter().map(|frame| (time, frame)));
        }
    }
}

fn forged_syn(nth: u32) -> Vec<u8> {
    // Multiplied by an odd number: no address twice, and no order in them.
    let [_, a, b, c] = (nth.wrapping_mul(2_654_435_761) >> 8).to_be_bytes();
    let port = 1024 + low(nth.wrapping_mul(40_503) >> 4) % 60_000;
    let source = [198, 18 + (a & 1), b, c];
    Ip::v4(source, FLOODED)
        .tcp(Tcp::syn(port, 80, nth), b"")
        .ethernet()
}

fn probe_of_port(nth: u32) -> Vec<Vec<u8>> {
    let port = 1 + low(nth);
    let there = Ip::v4(SCANNER, SCANNED);
    let syn = there.tcp(Tcp::syn(45_000, port, 7), b"");
    let reply = |kind| {
        let tcp = Tcp::new(port, 45_000, 0, 8, kind);
        there.reversed().tcp(tcp, b"").ethernet()
    };
    if nth % 100 != 99 {
        return vec![syn.ethernet(), reply(flags::RST | flags::ACK)];
    }
    // Open: a scanner by SYN breaks off as soon as it knows.
    let reset = there.tcp(Tcp::new(45_000, port, 8, 0, flags::RST), b"");
    let accepted = reply(flags::SYN | flags::ACK);
    vec![syn.ethernet(), accepted, reset.ethernet()]
}

fn probe_of_host(nth: u32) -> Vec<u8> {
    let [_, _, high, low] = nth.to_be_bytes();
    let way = Ip::v4(SWEEPER, [10, 77, high, low]);
    way.tcp(Tcp::syn(46_000, 22, 9), b"").ethernet()
}

/// A handshake with data on the SYN, a hole, two versions of what lies behind it, the hole's
/// bytes, and data behind the end.
fn lying_stream(nth: u32) -> Vec<Vec<u8>> {
    let [_, _, high, low] = nth.to_be_bytes();
    let there = Ip::v4([10, 88, high, low], [10, 88, 255, 254]);
    let send = |seq, kind, data: &[u8]| {
        let tcp = Tcp::new(5000, 8080, seq, 501, kind);
        there.tcp(tcp, data).ethernet()
    };
    let answer = Tcp::new(8080, 5000, 500, 101, flags::SYN | flags::ACK);
    vec![
        there.tcp(Tcp::syn(5000, 8080, 100), b"early").ethernet(),
        there.reversed().tcp(answer, b"").ethernet(),
        send(101, flags::ACK, b""),
        send(111, flags::ACK, b"what the receiver keeps"),
        send(111, flags::ACK, b"WHAT THE RECEIVER KEEPS"),
        send(101, flags::ACK, b"0123456789"),
        send(134, flags::ACK | flags::FIN, b""),
        send(200, flags::ACK, b"too late"),
    ]
}

fn bad_header(nth: u32) -> Vec<u8> {
    let mut frame = forged_syn(nth);
    // The checksum's first byte: behind 14 bytes of Ethernet and 10 of IP.
    if let Some(byte) = frame.get_mut(24) {
        *byte ^= 0x5a;
    }
    frame
}

/// The low half.
const fn low(number: u32) -> u16 {
    let [_, _, high, low] = number.to_be_bytes();
    u16::from_be_bytes([high, low])
}
