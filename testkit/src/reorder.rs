//! The same capture with its timestamps shuffled: packets stay in place, clocks do not.

use crate::multiply::split_mix;
use crate::pcap::{Capture, Writer};
use std::io;

/// A copy of a classic pcap file whose timestamps are shuffled within windows of `window`
/// packets; the same seed gives the same bytes.
///
/// # Errors
/// The bytes are no classic pcap file.
pub fn shuffle_times(file: Vec<u8>, window: usize, seed: u64) -> io::Result<Vec<u8>> {
    let capture = Capture::parse(file)?;
    let mut times: Vec<_> = capture
        .packets
        .iter()
        .map(|packet| packet.time_ns)
        .collect();
    let mut random = seed;
    for run in times.chunks_mut(window.max(1)) {
        for last in (1..run.len()).rev() {
            let other = split_mix(&mut random) % (last as u64 + 1);
            run.swap(last, usize::try_from(other).unwrap_or(last));
        }
    }
    let mut writer = Writer::new(Vec::new(), capture.link, capture.nanos)?;
    for (packet, time_ns) in capture.packets.iter().zip(times) {
        writer.packet(time_ns, packet.wire_len, capture.data(packet))?;
    }
    writer.finish()
}

/// A copy in which one byte in `one_in` is another one, from byte `from` on.
pub fn flip_bytes(mut file: Vec<u8>, from: usize, one_in: u64, seed: u64) -> Vec<u8> {
    let mut random = seed;
    for byte in file.iter_mut().skip(from) {
        let drawn = split_mix(&mut random);
        if drawn.is_multiple_of(one_in.max(1)) {
            *byte ^= u8::try_from(drawn >> 32 & 0xff).unwrap_or(0xff).max(1);
        }
    }
    file
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pcap::ethernet_file;

    /// Shuffling must not lose or invent a time, or it would test something else.
    #[test]
    fn shuffled_times_are_the_same_times_in_another_order() {
        let frames: Vec<_> = (0..100u64).map(|n| (n * 1000, [n as u8; 60])).collect();
        let file = ethernet_file(frames.iter().map(|(t, f)| (*t, f.as_slice()))).unwrap();
        let shuffled = Capture::parse(shuffle_times(file, 50, 1).unwrap()).unwrap();
        let mut times: Vec<_> = shuffled.packets.iter().map(|p| p.time_ns).collect();
        assert!(!times.is_sorted());
        times.sort_unstable();
        assert_eq!(times, frames.iter().map(|(t, _)| *t).collect::<Vec<_>>());
    }

    /// The header of the file stays, so that the file is still opened.
    #[test]
    fn flips_start_where_they_are_told_to() {
        let flipped = flip_bytes(vec![7; 1000], 24, 10, 3);
        assert!(flipped[..24].iter().all(|&byte| byte == 7));
        let changed = flipped.iter().filter(|&&byte| byte != 7).count();
        assert!((50..200).contains(&changed), "{changed}");
    }
}
