//! Writes a capture of many connections that stay open: silent, to measure memory with, or each
//! sending in turn, to measure what their number costs.

use flowpin_testkit::build::{Ip, Tcp, flags};
use flowpin_testkit::pcap::{ETHERNET, Writer};
use std::io::{self, BufWriter, Write};
use std::net::Ipv6Addr;
use std::process::ExitCode;

const USAGE: &str =
    "usage: connections -n COUNT [--handshake|--syn|--udp] [--ipv6] [--rounds ROUNDS] > OUT.pcap
    COUNT may be 0: then the capture has no packet.
    --rounds (with --handshake): so often every connection sends 100 bytes and gets them
    acknowledged, in an order that no cache foresees.";

/// What is to be written.
struct What {
    count: u32,
    kind: Kind,
    ipv6: bool,
    rounds: u32,
}

/// What each connection consists of.
#[derive(Clone, Copy)]
enum Kind {
    Handshake,
    Syn,
    Udp,
}

fn main() -> ExitCode {
    let Some(what) = parse(std::env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match write(&what) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("connections: {error}");
            ExitCode::FAILURE
        }
    }
}

fn parse(mut words: impl Iterator<Item = String>) -> Option<What> {
    let (mut count, mut kind, mut ipv6, mut rounds) = (None, Kind::Handshake, false, 0);
    while let Some(word) = words.next() {
        match word.as_str() {
            "-n" => count = Some(words.next()?.parse().ok()?),
            "--handshake" => kind = Kind::Handshake,
            "--syn" => kind = Kind::Syn,
            "--udp" => kind = Kind::Udp,
            "--ipv6" => ipv6 = true,
            "--rounds" => rounds = words.next()?.parse().ok()?,
            _ => return None,
        }
    }
    Some(What {
        count: count?,
        kind,
        ipv6,
        rounds,
    })
}

/// Ten microseconds between connections, so that a million of them fit into any time-out.
fn write(what: &What) -> io::Result<()> {
    let &What {
        count,
        kind,
        ipv6,
        rounds,
    } = what;
    let mut writer = Writer::new(BufWriter::new(io::stdout().lock()), ETHERNET, true)?;
    let mut time_ns = 1_700_000_000_000_000_000;
    for nth in 0..count {
        let (there, port) = ends(nth, ipv6);
        let frames = match kind {
            Kind::Udp => vec![there.udp(port, 53, b"?").ethernet()],
            Kind::Syn => vec![there.tcp(Tcp::syn(port, 80, nth), b"").ethernet()],
            Kind::Handshake => handshake(there, port, nth),
        };
        for frame in frames {
            let len = u32::try_from(frame.len()).map_err(io::Error::other)?;
            writer.packet(time_ns, len, &frame)?;
            time_ns += 1000;
        }
        time_ns += 7000;
    }
    for round in 0..rounds {
        for turn in 0..count {
            // A prime that divides no usual count: every connection once, far from the one before.
            let nth = (u64::from(turn) * 2_654_435_761 % u64::from(count)) as u32;
            for frame in exchange(ends(nth, ipv6), nth, round) {
                let len = u32::try_from(frame.len()).map_err(io::Error::other)?;
                writer.packet(time_ns, len, &frame)?;
                time_ns += 1000;
            }
        }
    }
    writer.finish()?.flush()
}

fn ends(nth: u32, ipv6: bool) -> (Ip, u16) {
    let [_, a, b, c] = nth.to_be_bytes();
    let there = if ipv6 {
        let high = u16::from(a);
        let source = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, high, u16::from_be_bytes([b, c]));
        let last = u16::from(1 + (c & 63));
        Ip::new(source, Ipv6Addr::new(0x2001, 0xdb8, 1, 0, 0, 0, 0, last))
    } else {
        Ip::v4([10, a, b, c], [192, 0, 2, 1 + (c & 63)])
    };
    (there, 1024 + u16::from_be_bytes([b, c]) % 60_000)
}

/// A segment of data and its acknowledgement, behind the handshake of the same connection.
fn exchange((there, port): (Ip, u16), nth: u32, round: u32) -> [Vec<u8>; 2] {
    let seq = nth.wrapping_add(1).wrapping_add(round * 100);
    let data = Tcp::new(port, 80, seq, 78, flags::ACK);
    let answer = Tcp::new(80, port, 78, seq.wrapping_add(100), flags::ACK);
    [
        there.tcp(data, &[b'x'; 100]).ethernet(),
        there.reversed().tcp(answer, b"").ethernet(),
    ]
}

fn handshake(there: Ip, port: u16, seq: u32) -> Vec<Vec<u8>> {
    let both = flags::SYN | flags::ACK;
    let answer = Tcp::new(80, port, 77, seq.wrapping_add(1), both);
    let last = Tcp::new(port, 80, seq.wrapping_add(1), 78, flags::ACK);
    vec![
        there.tcp(Tcp::syn(port, 80, seq), b"").ethernet(),
        there.reversed().tcp(answer, b"").ethernet(),
        there.tcp(last, b"").ethernet(),
    ]
}
