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

/// Writes `replicas_wanted` replicas of `original` to `out`.
///
/// # Errors
/// The original is no Ethernet capture, there are more hosts than addresses for them, or `out`
/// fails.
pub fn multiply(
    original: &Capture,
    replicas_wanted: u32,
    layout: Layout,
    seed: u64,
    out: impl Write,
) -> io::Result<Written> {
    let mut writer = crate::pcap::Writer::new(out, ETHERNET, original.nanos)?;
    let mut buffer = Vec::with_capacity(BUFFER_LEN + (1 << 18));
    let written = replicas(
        original,
        replicas_wanted,
        layout,
        seed,
        |time_ns, wire_len, frame| {
            let captured = u32::try_from(frame.len()).map_err(io::Error::other)?;
            let header = record_header(time_ns, original.nanos, captured, wire_len);
            buffer.extend_from_slice(&header);
            buffer.extend_from_slice(frame);
            if buffer.len() >= BUFFER_LEN {
                writer.write_raw(&buffer)?;
                buffer.clear();
            }
            Ok(())
        },
    )?;
    writer.write_raw(&buffer)?;
    writer.finish()?;
    Ok(written)
}

/// Gives the frames of `count` replicas of `original` to `each`, in order of time: time in
/// nanoseconds, length on the wire, frame.
///
/// # Errors
/// The original is no Ethernet capture, there are more hosts than addresses for them, or `each`
/// fails.
pub fn replicas(
    original: &Capture,
    count: u32,
    layout: Layout,
    seed: u64,
    each: impl FnMut(u64, u32, &[u8]) -> io::Result<()>,
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
    let mapped = (1..=count)
        .map(|replica| hosts.map(&mut pool, replica))
        .collect::<io::Result<Vec<_>>>()?;
    let offsets = offsets(original, count, layout, seed);

    let mut merge = Merge {
        original,
        patches: &patches,
        mapped: &mapped,
        each,
        frame: Vec::with_capacity(1 << 18),
    };
    let bytes = merge.run(&offsets)?;
    let not_ip = patches.iter().filter(|patches| !patches.any()).count();
    Ok(Written {
        packets: original.packets.len() as u64 * u64::from(count),
        bytes,
        hosts: hosts.len() as u64 * u64::from(count),
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

struct Merge<'a, E> {
    original: &'a Capture,
    patches: &'a [Patches],
    mapped: &'a [Vec<Mapped>],
    each: E,
    frame: Vec<u8>,
}

impl<E: FnMut(u64, u32, &[u8]) -> io::Result<()>> Merge<'_, E> {
    /// Always the earliest next packet of all replicas, ties by replica. Returns frame bytes.
    fn run(&mut self, offsets: &[u64]) -> io::Result<u64> {
        let Some(start) = self.original.packets.first() else {
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
        self.frame.clear();
        self.frame.extend_from_slice(data);
        patches.apply(&mut self.frame, mapped);
        (self.each)(time_ns, packet.wire_len, &self.frame)?;
        Ok(data.len() as u64)
    }
}

#[cfg(test)]
mod tests;
