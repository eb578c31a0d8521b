//! A pcapng file of one section, with several interfaces.

use super::pcap::write_words;
use super::{SNAP_LEN, check};
use flowpin_packet::Timestamp;
use std::io::{self, Write};

/// Writes pcapng, little-endian, times in nanoseconds.
///
/// Give it a [`io::BufWriter`], and [`flush`](Self::flush) it at the end, so that a full disk
/// is noticed.
#[derive(Debug)]
pub struct PcapngWriter<W: Write> {
    out: W,
    interface_count: u32,
}

impl<W: Write> PcapngWriter<W> {
    /// Writes the section header.
    ///
    /// # Errors
    /// As writing to `out`.
    pub fn new(mut out: W) -> io::Result<Self> {
        let unknown_len = u32::MAX;
        let words = [
            0x0a0d_0d0a,
            28,
            0x1a2b_3c4d,
            1,
            unknown_len,
            unknown_len,
            28,
        ];
        write_words(&mut out, words)?;
        Ok(Self {
            out,
            interface_count: 0,
        })
    }

    /// Describes an interface, by its LINKTYPE_ number and its name, which may be empty. Returns
    /// its number for [`Self::write`].
    ///
    /// # Errors
    /// As writing to `out`; a name of more than 65,535 bytes.
    pub fn add_interface(&mut self, link_number: u16, name: &str) -> io::Result<u32> {
        let name_len = u16::try_from(name.len()).map_err(io::Error::other)?;
        let name_block_len = match name_len {
            0 => 0,
            len => 4 + u32::from(len).next_multiple_of(4),
        };
        let block_len = 32 + name_block_len;
        write_words(&mut self.out, [1, block_len, link_number.into(), SNAP_LEN])?;
        if name_len > 0 {
            // if_name (2).
            write_words(&mut self.out, [u32::from(name_len) << 16 | 2])?;
            self.padded(name.as_bytes())?;
        }
        // if_tsresol (9), one byte: 9, that is nanoseconds; then the end of options.
        write_words(&mut self.out, [1 << 16 | 9, 9, 0, block_len])?;
        self.interface_count += 1;
        Ok(self.interface_count - 1)
    }

    /// Writes one frame of an interface.
    ///
    /// # Errors
    /// As writing to `out`; if there are more bytes than [`SNAP_LEN`] or `wire_len`; if the
    /// interface was not added.
    pub fn write(
        &mut self,
        interface: u32,
        time: Timestamp,
        wire_len: u32,
        bytes: &[u8],
    ) -> io::Result<()> {
        let captured_len = check(wire_len, bytes)?;
        if interface >= self.interface_count {
            let text = format!("no interface {interface} was added");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        let block_len = 32 + captured_len.next_multiple_of(4);
        #[expect(clippy::cast_possible_truncation, reason = "split into halves")]
        let (high, low) = ((time.0 >> 32) as u32, time.0 as u32);
        let words = [6, block_len, interface, high, low, captured_len, wire_len];
        write_words(&mut self.out, words)?;
        self.padded(bytes)?;
        write_words(&mut self.out, [block_len])
    }

    fn padded(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)?;
        let padding = bytes.len().next_multiple_of(4) - bytes.len();
        self.out
            .write_all([0; 3].get(..padding).unwrap_or_default())
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
