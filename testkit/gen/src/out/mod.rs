//! Captures out: records laid out in one buffer, written a mebibyte at a time.

mod interface;

pub use interface::Interface;

use crate::options::Format;
use std::io::{self, Write};

const BUFFER_LEN: usize = 1 << 20;
/// The longest record there is: a frame and the headers around it.
const RECORD_LEN_MAX: usize = 1 << 17;
const PCAP_HEADER_LEN: usize = 16;
const NG_HEADER_LEN: usize = 28;
const NANOS: u64 = 1_000_000_000;

/// Takes frames and writes a capture.
#[derive(Debug)]
pub(crate) struct Capture<W> {
    out: W,
    buffer: Vec<u8>,
    format: Format,
    snap_len: usize,
    /// Where the record begins that is being written.
    record: usize,
    /// Bytes written out before those in the buffer.
    written: u64,
}

impl<W: Write> Capture<W> {
    pub(crate) fn new(out: W, format: Format, snap_len: u32) -> Self {
        let mut buffer = Vec::with_capacity(BUFFER_LEN + RECORD_LEN_MAX);
        match format {
            Format::Pcap => pcap_file_header(snap_len, &mut buffer),
            Format::PcapNg => ng_file_header(snap_len, &mut buffer),
        }
        Self {
            out,
            buffer,
            format,
            snap_len: snap_len as usize,
            record: 0,
            written: 0,
        }
    }

    /// Begins a record: its frame is appended to what this gives.
    #[inline]
    pub(crate) fn begin(&mut self) -> &mut Vec<u8> {
        self.record = self.buffer.len();
        // A constant length in each arm: two stores, not a call.
        match self.format {
            Format::Pcap => self.buffer.extend_from_slice(&[0; PCAP_HEADER_LEN]),
            Format::PcapNg => self.buffer.extend_from_slice(&[0; NG_HEADER_LEN]),
        }
        &mut self.buffer
    }

    /// Ends a record, and gives the length of its frame on the wire.
    ///
    /// # Errors
    /// What the output reports.
    #[inline]
    pub(crate) fn end(&mut self, time_ns: u64) -> io::Result<u32> {
        let len = self.buffer.len() - self.record - self.header_len();
        let wire_len = u32::try_from(len).unwrap_or(u32::MAX);
        self.close(time_ns, wire_len)?;
        Ok(wire_len)
    }

    /// Ends a record with a frame that was longer on the wire.
    ///
    /// # Errors
    /// What the output reports.
    pub(crate) fn end_cut(&mut self, time_ns: u64, wire_len: u32) -> io::Result<()> {
        self.close(time_ns, wire_len)
    }

    /// Takes back what was appended since the beginning of the record.
    pub(crate) fn abandon(&mut self) {
        self.buffer.truncate(self.record);
    }

    /// What was appended last: `len` bytes of it.
    pub(crate) fn last(&self, len: usize) -> &[u8] {
        let start = self.buffer.len().saturating_sub(len);
        self.buffer.get(start..).unwrap_or_default()
    }

    /// Writes the last record once more, unless it was written out already.
    ///
    /// # Errors
    /// What the output reports.
    pub(crate) fn repeat(&mut self, time_ns: u64, wire_len: u32) -> io::Result<bool> {
        if self.buffer.is_empty() {
            return Ok(false);
        }
        let frame = self.record + self.header_len();
        let end = (frame + self.snap_len.min(wire_len as usize)).min(self.buffer.len());
        self.begin();
        self.buffer.extend_from_within(frame..end);
        self.close(time_ns, wire_len)?;
        Ok(true)
    }

    const fn header_len(&self) -> usize {
        match self.format {
            Format::Pcap => PCAP_HEADER_LEN,
            Format::PcapNg => NG_HEADER_LEN,
        }
    }

    #[inline]
    fn close(&mut self, time_ns: u64, wire_len: u32) -> io::Result<()> {
        let frame = self.record + self.header_len();
        let captured = (self.buffer.len() - frame).min(self.snap_len);
        self.buffer.truncate(frame + captured);
        let header = self.buffer.get_mut(self.record..frame).unwrap_or_default();
        let captured = u32::try_from(captured).unwrap_or(u32::MAX);
        match self.format {
            Format::Pcap => pcap_header(time_ns, captured, wire_len, header),
            Format::PcapNg => {
                let padded = captured.next_multiple_of(4);
                let total = 32 + padded;
                ng_header(time_ns, captured, wire_len, total, header);
                self.buffer.resize(frame + padded as usize, 0);
                self.buffer.extend_from_slice(&total.to_le_bytes());
            }
        }
        if self.buffer.len() >= BUFFER_LEN {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.write_all(&self.buffer)?;
        self.written += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    /// Writes the rest; gives the output back, and the bytes written.
    ///
    /// # Errors
    /// What the output reports.
    pub(crate) fn finish(mut self) -> io::Result<(W, u64)> {
        self.flush()?;
        self.out.flush()?;
        Ok((self.out, self.written))
    }
}

/// Nanoseconds, little endian, Ethernet.
fn pcap_file_header(snap_len: u32, out: &mut Vec<u8>) {
    out.extend_from_slice(&0xa1b2_3c4du32.to_le_bytes());
    out.extend_from_slice(&[2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    out.extend_from_slice(&snap_len.to_le_bytes());
    out.extend_from_slice(&1u32.to_le_bytes());
}

#[inline]
fn pcap_header(time_ns: u64, captured: u32, wire_len: u32, header: &mut [u8]) {
    // The format ends in 2106.
    let secs = u32::try_from(time_ns / NANOS).unwrap_or(u32::MAX);
    let nanos = u32::try_from(time_ns % NANOS).unwrap_or(0);
    words([secs, nanos, captured, wire_len], header);
}

#[inline]
fn words<const COUNT: usize>(values: [u32; COUNT], out: &mut [u8]) {
    for (value, field) in values.iter().zip(out.chunks_exact_mut(4)) {
        field.copy_from_slice(&value.to_le_bytes());
    }
}

/// A section header and one interface, Ethernet, whose times count nanoseconds.
fn ng_file_header(snap_len: u32, out: &mut Vec<u8>) {
    let mut add = |word: u32| out.extend_from_slice(&word.to_le_bytes());
    for word in [0x0a0d_0d0a, 28, 0x1a2b_3c4d, 1, u32::MAX, u32::MAX, 28] {
        add(word);
    }
    // if_tsresol (9): 10^-9; the end of options (0).
    for word in [1, 32, 1, snap_len, 9 | 1 << 16, 9, 0, 32] {
        add(word);
    }
}

/// An enhanced packet block up to its data.
#[inline]
fn ng_header(time_ns: u64, captured: u32, wire_len: u32, total: u32, header: &mut [u8]) {
    let (high, low) = ((time_ns >> 32) as u32, (time_ns & 0xffff_ffff) as u32);
    words([6, total, 0, high, low, captured, wire_len], header);
}
