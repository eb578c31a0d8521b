//! A pcap file of one link type.

use super::{SNAP_LEN, check};
use flowpin_packet::Timestamp;
use std::io::{self, Write};

/// The unit of a pcap file's times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// Microseconds: read by every tool.
    Micros,
    /// Nanoseconds.
    #[default]
    Nanos,
}

/// Writes pcap, little-endian, version 2.4.
///
/// Give it a [`io::BufWriter`], and [`flush`](Self::flush) it at the end, so that a full disk
/// is noticed.
#[derive(Debug)]
pub struct PcapWriter<W: Write> {
    out: W,
    precision: Precision,
}

impl<W: Write> PcapWriter<W> {
    /// Writes the file header. `link_number` is a LINKTYPE_ number, see
    /// [`link_number`](crate::link_number).
    ///
    /// # Errors
    /// As writing to `out`.
    pub fn new(mut out: W, link_number: u16, precision: Precision) -> io::Result<Self> {
        let magic: u32 = match precision {
            Precision::Micros => 0xa1b2_c3d4,
            Precision::Nanos => 0xa1b2_3c4d,
        };
        let words = [magic, 4 << 16 | 2, 0, 0, SNAP_LEN, link_number.into()];
        write_words(&mut out, words)?;
        Ok(Self { out, precision })
    }

    /// Writes one frame.
    ///
    /// # Errors
    /// As writing to `out`; if there are more bytes than [`SNAP_LEN`] or `wire_len`; if the time
    /// is past the year 2106, which the format cannot tell.
    pub fn write(&mut self, time: Timestamp, wire_len: u32, bytes: &[u8]) -> io::Result<()> {
        let captured_len = check(wire_len, bytes)?;
        let secs = u32::try_from(time.secs()).map_err(|_| {
            io::Error::new(io::ErrorKind::InvalidInput, "pcap has no times past 2106")
        })?;
        let fraction = match self.precision {
            Precision::Micros => time.subsec_nanos() / 1000,
            Precision::Nanos => time.subsec_nanos(),
        };
        write_words(&mut self.out, [secs, fraction, captured_len, wire_len])?;
        self.out.write_all(bytes)
    }

    /// Flushes `out`.
    ///
    /// # Errors
    /// As flushing `out`.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// What was written to, unflushed.
    pub fn into_inner(self) -> W {
        self.out
    }
}

/// Writes 32-bit numbers, little-endian.
pub(super) fn write_words<const N: usize>(out: &mut impl Write, words: [u32; N]) -> io::Result<()> {
    out.write_all(words.map(u32::to_le_bytes).as_flattened())
}
