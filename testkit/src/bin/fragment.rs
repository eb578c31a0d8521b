//! Cuts every IPv4 packet of an Ethernet capture into fragments: input of nothing but fragments.

use flowpin_testkit::pcap::{Capture, Writer};
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;
use std::process::ExitCode;

const USAGE: &str = "usage: fragment REAL.pcap OUT.pcap [PAYLOAD]
    PAYLOAD     bytes of payload in a fragment, a multiple of 8 (default 552); packets
                with less are cut in two; what is no whole IPv4 packet is left out";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (read, write, payload) = match words.as_slice() {
        [read, write] => (read, write, Some(552)),
        [read, write, payload] => (read, write, payload.parse().ok()),
        _ => (&String::new(), &String::new(), None),
    };
    let Some(payload) = payload.filter(|len: &usize| *len > 0 && len.is_multiple_of(8)) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match run(Path::new(read), Path::new(write), payload) {
        Ok((packets, fragments)) => {
            eprintln!("{write}: {fragments} fragments of {packets} packets");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("fragment: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(read: &Path, write: &Path, payload_max: usize) -> io::Result<(u64, u64)> {
    let capture = Capture::open(read)?;
    let mut out = Writer::new(BufWriter::new(File::create(write)?), 1, true)?;
    let (mut packets, mut fragments) = (0, 0);
    for packet in &capture.packets {
        let Some((frame_header, header, payload)) = whole_ipv4(capture.data(packet)) else {
            continue;
        };
        packets += 1;
        let half = payload.len().div_ceil(2).next_multiple_of(8);
        let pieces = payload.chunks(payload_max.min(half));
        let last = pieces.len() - 1;
        for (index, piece) in pieces.enumerate() {
            let offset = index * payload_max.min(half) / 8;
            let mut frame = frame_header.to_vec();
            frame.extend(cut_header(
                header,
                piece.len(),
                offset,
                index < last,
                packets,
            ));
            frame.extend(piece);
            out.packet(packet.time_ns, frame.len() as u32, &frame)?;
            fragments += 1;
        }
    }
    out.finish()?;
    Ok((packets, fragments))
}

/// Frame header, IPv4 header without options and payload of more than 8 bytes.
fn whole_ipv4(frame: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let (frame_header, packet) = frame.split_at_checked(14)?;
    let (header, rest) = packet.split_at_checked(20)?;
    let len = usize::from(u16::from_be_bytes([header[2], header[3]]));
    let is_whole = header[6] & 0x3f == 0 && header[7] == 0;
    let payload = rest.get(..len.checked_sub(20)?)?;
    let is_plain = frame_header[12..] == [8, 0] && header[0] == 0x45 && is_whole;
    (is_plain && payload.len() > 8).then_some((frame_header, header, payload))
}

fn cut_header(header: &[u8], len: usize, offset: usize, more: bool, id: u64) -> Vec<u8> {
    let mut header = header.to_vec();
    let word = offset as u16 | u16::from(more) << 13;
    header[2..4].copy_from_slice(&(len as u16 + 20).to_be_bytes());
    header[4..6].copy_from_slice(&(id as u16).to_be_bytes());
    header[6..8].copy_from_slice(&word.to_be_bytes());
    header[10..12].fill(0);
    let sum: u32 = header
        .chunks(2)
        .map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])))
        .sum();
    let sum = (sum & 0xffff) + (sum >> 16);
    let sum = !((sum & 0xffff) + (sum >> 16)) as u16;
    header[10..12].copy_from_slice(&sum.to_be_bytes());
    header
}
