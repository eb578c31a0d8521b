//! Makes a big capture out of a small real one: replicas with addresses of their own.
//!
//! ```text
//!  original ──► taken apart once ──► K replicas, each: new address per host, checksums
//!               (where addresses     updated, Ethernet addresses follow ──► merged by time
//!               and checksums lie)
//! ```
//!
//! Every host of the original becomes another host in each replica, one to one, so nothing that
//! belongs together is torn apart and no two replicas share a connection. Payload, ports, lengths
//! and the gaps between packets stay. The same input, count and seed give the same bytes.
//!
//! Does not look into tunnels: a capture whose addresses lie inside GRE or VXLAN would collide
//! there. Reads Ethernet captures only.

mod addresses;
mod rewrite;

use crate::pcap::{Capture, ETHERNET, record_header};
use addresses::{Hosts, Mapped, Pool};
use rewrite::Patches;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, Write};

/// How the replicas lie in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Each begins at a chosen-by-seed moment such that all lie within `window_ns`.
    Interleaved {
        /// From the first packet to the end of the last replica, at most; a replica longer than
        /// this starts at once.
        window_ns: u64,
    },
    /// Each begins a second after the one before has ended.
    Appended,
}

/// What was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// Packets.
    pub packets: u64,
    /// Bytes of frames.
    pub bytes: u64,
    /// Hosts, over all replicas.
    pub hosts: u64,
    /// Packets of the original that are not IP and so are the same in each replica.
    pub not_ip: u64,
}

/// Writes `replicas` replicas of `original` to `out`.
///
/// # Errors
/// The original is no Ethernet capture, there are more hosts than addresses for them, or `out`
/// fails.
pub fn multiply(
    original: &Capture,
    replicas: u32,
    layout: Layout,
    seed: u64,
    out: impl Write,
) -> io::Result<Written> {
    if original.link != ETHERNET {
        let text = format!("link type {} is not Ethernet", original.link);
        return Err(io::Error::new(io::ErrorKind::InvalidData, text));
    }
    let mut hosts = Hosts::default();
    let mut patches = Vec::with_capacity(original.packets.len());
    for packet in &original.packets {
        patches.push(Patches::of(original.data(packet), &mut hosts)?);
    }
    let mut pool = Pool::default();
    let mapped = (1..=replicas)
        .map(|replica| hosts.map(&mut pool, replica))
        .collect::<io::Result<Vec<_>>>()?;
    let offsets = offsets(original, replicas, layout, seed);

    let mut merge = Merge {
        original,
        patches: &patches,
        mapped: &mapped,
        out: crate::pcap::Writer::new(out, ETHERNET, original.nanos)?,
        buffer: Vec::with_capacity(BUFFER_LEN + (1 << 18)),
    };
    let bytes = merge.run(&offsets)?;
    let not_ip = patches.iter().filter(|patches| !patches.any()).count();
    Ok(Written {
        packets: original.packets.len() as u64 * u64::from(replicas),
        bytes,
        hosts: hosts.len() as u64 * u64::from(replicas),
        not_ip: not_ip as u64,
    })
}

const BUFFER_LEN: usize = 1 << 20;

/// By how much each replica is later than the original.
fn offsets(original: &Capture, replicas: u32, layout: Layout, seed: u64) -> Vec<u64> {
    let times = || original.packets.iter().map(|packet| packet.time_ns);
    let first = times().min().unwrap_or(0);
    let last = times().max().unwrap_or(0);
    let duration = last - first;
    let mut random = seed;
    (0..u64::from(replicas))
        .map(|replica| match layout {
            Layout::Appended => replica * (duration + 1_000_000_000),
            // The first replica starts at 0, so that the output starts with the original's time.
            Layout::Interleaved { .. } if replica == 0 => 0,
            Layout::Interleaved { window_ns } => match window_ns.saturating_sub(duration) {
                0 => 0,
                room => split_mix(&mut random) % room,
            },
        })
        .collect()
}

/// SplitMix64: small, seeded, good enough to spread starting moments.
pub(crate) fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

struct Merge<'a, W: Write> {
    original: &'a Capture,
    patches: &'a [Patches],
    mapped: &'a [Vec<Mapped>],
    out: crate::pcap::Writer<W>,
    buffer: Vec<u8>,
}

impl<W: Write> Merge<'_, W> {
    /// Always the earliest next packet of all replicas, ties by replica. Returns frame bytes.
    fn run(&mut self, offsets: &[u64]) -> io::Result<u64> {
        let Some(start) = self.original.packets.first() else {
            self.out.write_raw(&[])?;
            return Ok(0);
        };
        let mut heads: BinaryHeap<_> = (0..offsets.len())
            .map(|replica| {
                let offset = offsets.get(replica).copied().unwrap_or(0);
                Reverse((start.time_ns + offset, replica, 0usize))
            })
            .collect();
        let mut bytes = 0;
        while let Some(mut head) = heads.peek_mut() {
            let Reverse((time_ns, replica, index)) = *head;
            bytes += self.packet(index, replica, time_ns)?;
            let offset = offsets.get(replica).copied().unwrap_or(0);
            match self.original.packets.get(index + 1) {
                Some(next) => *head = Reverse((next.time_ns + offset, replica, index + 1)),
                None => drop(std::collections::binary_heap::PeekMut::pop(head)),
            }
        }
        self.out.write_raw(&self.buffer)?;
        Ok(bytes)
    }

    fn packet(&mut self, index: usize, replica: usize, time_ns: u64) -> io::Result<u64> {
        let found = (
            self.original.packets.get(index),
            self.patches.get(index),
            self.mapped.get(replica),
        );
        let (Some(packet), Some(patches), Some(mapped)) = found else {
            return Ok(0);
        };
        let data = self.original.data(packet);
        let captured = u32::try_from(data.len()).map_err(io::Error::other)?;
        let header = record_header(time_ns, self.original.nanos, captured, packet.wire_len);
        self.buffer.extend_from_slice(&header);
        let start = self.buffer.len();
        self.buffer.extend_from_slice(data);
        if let Some(frame) = self.buffer.get_mut(start..) {
            patches.apply(frame, mapped);
        }
        if self.buffer.len() >= BUFFER_LEN {
            self.out.write_raw(&self.buffer)?;
            self.buffer.clear();
        }
        Ok(u64::from(captured))
    }
}

#[cfg(test)]
mod tests;
