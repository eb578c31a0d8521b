//! Classic pcap files, read whole and written as a stream; simple pcapng files, read.
//!
//! For tests and tools that make captures. Owns no clever format support: microseconds and
//! nanoseconds in either byte order are read, little endian is written. The product's reader is
//! `flowpin-capture`; this one is deliberately separate, so that a test does not check a reader
//! against itself.

use crate::pcapng;
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;

/// The link type of Ethernet frames.
pub const ETHERNET: u32 = 1;
/// The link type of bare IP packets.
pub const RAW: u32 = 101;

const MAGIC_MICROS: u32 = 0xa1b2_c3d4;
const MAGIC_NANOS: u32 = 0xa1b2_3c4d;
const FILE_HEADER_LEN: usize = 24;
const RECORD_HEADER_LEN: usize = 16;

/// Where one packet lies in [`Capture::bytes`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Nanoseconds since the epoch.
    pub time_ns: u64,
    /// The captured bytes.
    pub bytes: Range<usize>,
    /// Bytes on the wire.
    pub wire_len: u32,
}

/// A whole capture in memory.
#[derive(Clone, Debug)]
pub struct Capture {
    /// The file.
    pub bytes: Vec<u8>,
    /// Whether the file counts nanoseconds.
    pub nanos: bool,
    /// LINKTYPE_* number.
    pub link: u32,
    /// Its packets, in file order.
    pub packets: Vec<Packet>,
}

impl Capture {
    /// Reads a file.
    ///
    /// # Errors
    /// The file cannot be read or is no pcap file; a packet cut off at the end is left
    /// out without an error.
    pub fn open(path: &Path) -> io::Result<Self> {
        let bytes = std::fs::read(path).map_err(|error| {
            io::Error::new(error.kind(), format!("{}: {error}", path.display()))
        })?;
        Self::parse(bytes)
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
    }

    /// Finds the packets in the bytes of a file.
    ///
    /// # Errors
    /// The bytes do not start like a capture file.
    pub fn parse(bytes: Vec<u8>) -> io::Result<Self> {
        if pcapng::is_pcapng(&bytes) {
            return pcapng::parse(bytes);
        }
        let no_pcap =
            || io::Error::new(io::ErrorKind::InvalidData, "neither pcap nor simple pcapng");
        let magic = word(&bytes, 0, false).ok_or_else(no_pcap)?;
        let (big_endian, nanos) = match (magic, magic.swap_bytes()) {
            (MAGIC_MICROS, _) => (false, false),
            (MAGIC_NANOS, _) => (false, true),
            (_, MAGIC_MICROS) => (true, false),
            (_, MAGIC_NANOS) => (true, true),
            _ => return Err(no_pcap()),
        };
        let link = word(&bytes, 20, big_endian).ok_or_else(no_pcap)? & 0xffff;
        let mut packets = Vec::new();
        let mut at = FILE_HEADER_LEN;
        while let (Some(secs), Some(fraction), Some(captured), Some(wire_len)) = (
            word(&bytes, at, big_endian),
            word(&bytes, at + 4, big_endian),
            word(&bytes, at + 8, big_endian),
            word(&bytes, at + 12, big_endian),
        ) {
            let start = at + RECORD_HEADER_LEN;
            let end = start + captured as usize;
            if end > bytes.len() {
                break;
            }
            let nanos_in_unit = if nanos { 1 } else { 1000 };
            packets.push(Packet {
                time_ns: u64::from(secs) * 1_000_000_000 + u64::from(fraction) * nanos_in_unit,
                bytes: start..end,
                wire_len,
            });
            at = end;
        }
        Ok(Self {
            bytes,
            nanos,
            link,
            packets,
        })
    }

    /// The captured bytes of a packet.
    pub fn data(&self, packet: &Packet) -> &[u8] {
        self.bytes.get(packet.bytes.clone()).unwrap_or_default()
    }
}

/// Writes a classic pcap file, packet by packet.
#[derive(Debug)]
pub struct Writer<W: Write> {
    out: W,
    nanos: bool,
}

impl<W: Write> Writer<W> {
    /// Writes the file header.
    ///
    /// # Errors
    /// Whatever `out` reports.
    pub fn new(mut out: W, link: u32, nanos: bool) -> io::Result<Self> {
        let mut header = [0u8; FILE_HEADER_LEN];
        let magic = if nanos { MAGIC_NANOS } else { MAGIC_MICROS };
        header[..4].copy_from_slice(&magic.to_le_bytes());
        header[4..6].copy_from_slice(&2u16.to_le_bytes());
        header[6..8].copy_from_slice(&4u16.to_le_bytes());
        header[16..20].copy_from_slice(&262_144u32.to_le_bytes());
        header[20..].copy_from_slice(&link.to_le_bytes());
        out.write_all(&header)?;
        Ok(Self { out, nanos })
    }

    /// Writes one packet.
    ///
    /// # Errors
    /// Whatever the output reports.
    pub fn packet(&mut self, time_ns: u64, wire_len: u32, data: &[u8]) -> io::Result<()> {
        let captured = u32::try_from(data.len()).map_err(io::Error::other)?;
        self.out
            .write_all(&record_header(time_ns, self.nanos, captured, wire_len))?;
        self.out.write_all(data)
    }

    /// Writes packets that are already laid out as records.
    pub(crate) fn write_raw(&mut self, records: &[u8]) -> io::Result<()> {
        self.out.write_all(records)
    }

    /// Flushes and gives the output back.
    ///
    /// # Errors
    /// Whatever the output reports.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }
}

/// A file of Ethernet frames with a time each, in memory.
///
/// # Errors
/// A frame is longer than the format can say.
pub fn ethernet_file<'a>(frames: impl IntoIterator<Item = (u64, &'a [u8])>) -> io::Result<Vec<u8>> {
    let mut writer = Writer::new(Vec::new(), ETHERNET, true)?;
    for (time_ns, frame) in frames {
        let wire_len = u32::try_from(frame.len()).map_err(io::Error::other)?;
        writer.packet(time_ns, wire_len, frame)?;
    }
    writer.finish()
}

/// The header in front of each packet's bytes, little endian.
pub(crate) fn record_header(time_ns: u64, nanos: bool, captured: u32, wire_len: u32) -> [u8; 16] {
    let unit = if nanos { 1 } else { 1000 };
    #[expect(clippy::cast_possible_truncation, reason = "the format ends in 2106")]
    let secs = (time_ns / 1_000_000_000) as u32;
    let fraction = (time_ns % 1_000_000_000 / unit) as u32;
    let mut header = [0; RECORD_HEADER_LEN];
    header[..4].copy_from_slice(&secs.to_le_bytes());
    header[4..8].copy_from_slice(&fraction.to_le_bytes());
    header[8..12].copy_from_slice(&captured.to_le_bytes());
    header[12..].copy_from_slice(&wire_len.to_le_bytes());
    header
}

fn word(bytes: &[u8], at: usize, big_endian: bool) -> Option<u32> {
    let chunk: [u8; 4] = *bytes.get(at..)?.first_chunk()?;
    Some(if big_endian {
        u32::from_be_bytes(chunk)
    } else {
        u32::from_le_bytes(chunk)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What was written must come back, in either time unit.
    #[test]
    fn written_packets_are_read_back() {
        for (nanos, time_ns) in [(true, 1_700_000_000_123_456_789), (false, 5_000_001_000)] {
            let mut writer = Writer::new(Vec::new(), RAW, nanos).unwrap();
            writer.packet(time_ns, 90, b"abc").unwrap();
            let capture = Capture::parse(writer.finish().unwrap()).unwrap();
            assert_eq!((capture.link, capture.nanos), (RAW, nanos));
            let [packet] = capture.packets.as_slice() else {
                panic!("one packet");
            };
            assert_eq!((packet.time_ns, packet.wire_len), (time_ns, 90));
            assert_eq!(capture.data(packet), b"abc");
        }
    }

    /// A file cut inside its last packet still gives the packets before it.
    #[test]
    fn a_cut_packet_is_left_out() {
        let file = ethernet_file([(1, &b"one"[..]), (2, b"two")]).unwrap();
        let cut = file[..file.len() - 1].to_vec();
        assert_eq!(Capture::parse(cut).unwrap().packets.len(), 1);
    }
}
