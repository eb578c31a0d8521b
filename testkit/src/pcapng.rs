//! The packets of a simple pcapng file: what our own recordings and `flowpin slice` are.
//!
//! Sections of either byte order, enhanced packet blocks, `if_tsresol`, one link type. Enough to
//! check by; the product's reader is `flowpin-capture`.

use crate::pcap::{Capture, Packet};
use std::io;

const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const ENHANCED_PACKET: u32 = 6;
const TS_RESOLUTION: u16 = 9;

/// An interface: how its packets begin and how long a tick of its clock is.
struct Interface {
    link: u32,
    ticks_per_second: u64,
}

/// Whether bytes start like a pcapng file.
pub(crate) fn is_pcapng(bytes: &[u8]) -> bool {
    bytes.starts_with(&SECTION.to_be_bytes())
}

/// Finds the packets; a block that is cut off at the end is left out.
///
/// # Errors
/// Interfaces of different link types, or none.
pub(crate) fn parse(bytes: Vec<u8>) -> io::Result<Capture> {
    let mut reader = Reader {
        bytes: &bytes,
        big_endian: false,
    };
    let (mut interfaces, mut packets, mut links) = (Vec::<Interface>::new(), Vec::new(), None);
    let mut at = 0;
    while let Some((kind, len)) = reader.block(at) {
        match kind {
            SECTION => interfaces.clear(),
            INTERFACE => {
                let interface = reader.interface(at, len);
                let link = *links.get_or_insert(interface.link);
                if link != interface.link {
                    return Err(io::Error::other("interfaces of different link types"));
                }
                interfaces.push(interface);
            }
            ENHANCED_PACKET => packets.extend(reader.packet(at, &interfaces)),
            _ => {}
        }
        at += len;
    }
    let link = links.ok_or_else(|| io::Error::other("no interface"))?;
    Ok(Capture {
        bytes,
        nanos: true,
        link,
        packets,
    })
}

struct Reader<'a> {
    bytes: &'a [u8],
    big_endian: bool,
}

impl Reader<'_> {
    /// Kind and length of the block at `at`, if all of it is there.
    fn block(&mut self, at: usize) -> Option<(u32, usize)> {
        if self.bytes.get(at..)?.starts_with(&SECTION.to_be_bytes()) {
            let magic: [u8; 4] = *self.bytes.get(at + 8..)?.first_chunk()?;
            self.big_endian = magic == [0x1a, 0x2b, 0x3c, 0x4d];
        }
        let len = self.word(at + 4)? as usize;
        (len >= 12 && at + len <= self.bytes.len()).then_some((self.word(at)?, len))
    }

    fn interface(&self, at: usize, len: usize) -> Interface {
        let mut interface = Interface {
            link: u32::from(self.half(at + 8).unwrap_or(0)),
            ticks_per_second: 1_000_000,
        };
        let mut option = at + 16;
        while let (Some(code @ 1..), Some(size)) = (self.half(option), self.half(option + 2)) {
            if option + 4 >= at + len {
                break;
            }
            if let (TS_RESOLUTION, Some(&exponent)) = (code, self.bytes.get(option + 4)) {
                let (base, exponent): (u64, _) = match exponent & 0x80 {
                    0 => (10, exponent),
                    _ => (2, exponent & 0x7f),
                };
                interface.ticks_per_second = base.saturating_pow(u32::from(exponent));
            }
            option += 4 + usize::from(size).next_multiple_of(4);
        }
        interface
    }

    fn packet(&self, at: usize, interfaces: &[Interface]) -> Option<Packet> {
        let interface = interfaces.get(self.word(at + 8)? as usize)?;
        let ticks = u64::from(self.word(at + 12)?) << 32 | u64::from(self.word(at + 16)?);
        let nanos = u128::from(ticks) * 1_000_000_000 / u128::from(interface.ticks_per_second);
        let captured = self.word(at + 20)? as usize;
        let start = at + 28;
        (start + captured <= self.bytes.len()).then_some(Packet {
            time_ns: u64::try_from(nanos).ok()?,
            bytes: start..start + captured,
            wire_len: self.word(at + 24)?,
        })
    }

    fn word(&self, at: usize) -> Option<u32> {
        let chunk: [u8; 4] = *self.bytes.get(at..)?.first_chunk()?;
        Some(if self.big_endian {
            u32::from_be_bytes(chunk)
        } else {
            u32::from_le_bytes(chunk)
        })
    }

    fn half(&self, at: usize) -> Option<u16> {
        let chunk: [u8; 2] = *self.bytes.get(at..)?.first_chunk()?;
        Some(if self.big_endian {
            u16::from_be_bytes(chunk)
        } else {
            u16::from_le_bytes(chunk)
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::corpus;
    use crate::pcap::Capture;

    /// The bundled files of this format: known first packet, times in order of recording.
    #[test]
    fn bundled_files_are_read() {
        let path = corpus::workspace().join("testkit/captures/dns.pcapng");
        let capture = Capture::open(&path).unwrap();
        assert_eq!(capture.link, crate::pcap::ETHERNET);
        assert!(capture.packets.len() >= 40);
        let first = &capture.packets[0];
        assert_eq!(first.bytes.len(), first.wire_len as usize);
        assert!(first.time_ns > 1_700_000_000_000_000_000, "{first:?}");
    }
}
