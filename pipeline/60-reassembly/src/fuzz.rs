//! Fuzzing: any segments of a few connections, in little memory.

use crate::{
    Anomaly, Closed, Handshake, Reassembler, ReassemblyOptions, Span, StreamConsumer, Urgent,
};
use flowpin_config::{Named, SegmentOverlap};
use flowpin_packet::{FrameBytes, NetworkMap, PacketFlags, PacketKind, PacketMeta, Seq, TcpFlags};
use std::collections::BTreeMap;

const MEMORY_BYTES: u64 = 256 * (6 << 10);

/// Reads settings and segments from `data` and checks the laws that hold for all of them: every
/// byte is accounted for, every offset reported once and in order, nothing after an end, no cap
/// exceeded, nothing held at the end.
pub fn fuzz_reassembly(data: &[u8]) {
    let mut input = Bytes(data);
    let settings = input.byte();
    let policies = SegmentOverlap::ALL;
    let choice = usize::from(input.byte()).checked_rem(policies.len());
    let policy = choice.and_then(|index| policies.get(index));
    let policy = policy.map_or(SegmentOverlap::First, |&(policy, ..)| policy);
    let options = ReassemblyOptions {
        policy: NetworkMap::new(policy, []),
        memory_bytes: MEMORY_BYTES,
        stream_bytes_max: 4 << 10,
        depth_bytes: u64::from(settings & 1).saturating_mul(700),
        compared_bytes: u64::from(settings & 32 != 0).saturating_mul(16 << 18),
        midstream: settings & 2 == 0,
        one_sided: settings & 4 == 0,
        paws: settings & 8 == 0,
        urgent: if settings & 16 == 0 {
            Urgent::InLine
        } else {
            Urgent::OutOfBand
        },
    };
    let Ok(mut reassembler) = Reassembler::new(&options, 256, 8) else {
        return;
    };
    let mut check = Check::default();
    while !input.0.is_empty() {
        let command = input.byte();
        let handle = u32::from(command & 3);
        match command >> 2 & 31 {
            0 => {
                reassembler.end(handle, &mut check);
                check.forget(handle);
            }
            1 => reassembler.skip(handle, command & 128 != 0),
            kind => {
                if kind == 2 {
                    // The streams of the handle's previous connection are reported first, then
                    // forgotten.
                    reassembler.end(handle, &mut check);
                    check.forget(handle);
                }
                send(&mut reassembler, &mut input, handle, kind == 2, &mut check);
            }
        }
        let stats = reassembler.stats();
        assert_eq!(stats.received(), stats.accounted());
        assert!(stats.memory_bytes <= MEMORY_BYTES >> 8 << 2);
    }
    for handle in 0..4 {
        reassembler.end(handle, &mut check);
    }
    let stats = reassembler.stats();
    assert_eq!((stats.memory_bytes, stats.held), (0, 0));
}

/// One segment: small numbers most of the time, so that it meets others.
fn send(
    reassembler: &mut Reassembler,
    input: &mut Bytes<'_>,
    handle: u32,
    begins: bool,
    check: &mut Check,
) {
    let shape = input.byte();
    let to_server = shape & 1 == 0;
    let base = |to_server| if to_server { u32::MAX - 99 } else { 77 };
    let mut number = |to_server: bool, wide: bool| {
        let offset = if wide {
            input.word() << 16 | input.word()
        } else {
            input.word() >> 6
        };
        Seq(offset.wrapping_add(base(to_server)))
    };
    let seq = number(to_server, shape & 62 == 62);
    let ack = number(!to_server, shape & 62 == 2);
    let flags = TcpFlags(input.byte());
    let plain = shape & 64 != 0;
    let flags = if plain { TcpFlags::ACK } else { flags };
    let len = input.word() & 0x7ff;
    let window = input.byte();
    // A header whose options and urgent pointer come from the input, then bytes.
    let mut frame = vec![0; 20];
    frame.extend([0; 20]);
    if let Some(field) = frame.get_mut(32) {
        *field = 8 << 4;
    }
    if let Some(field) = frame.get_mut(39) {
        *field = window;
    }
    frame.extend((0..12).map(|_| input.byte()));
    let fill = input.byte();
    frame.resize(frame.len().saturating_add(len as usize), fill);
    let snapped = shape & 128 != 0 && !plain;
    if snapped {
        frame.truncate(frame.len().saturating_sub(usize::from(window)));
    }
    let meta = PacketMeta {
        hash: handle << 24,
        captured_len: u32::try_from(frame.len()).unwrap_or(0),
        payload_len: len,
        seq,
        ack,
        window: u16::from(window) << 4,
        l4_offset: 20,
        payload_offset: 52,
        tcp_flags: flags,
        kind: PacketKind::Tcp,
        flags: if snapped {
            PacketFlags::SNAPPED
        } else {
            PacketFlags(0)
        },
        ..PacketMeta::default()
    };
    let frames = FrameBytes {
        piece: &frame,
        extra: &[],
    };
    reassembler.segment(&frames, &meta, handle, to_server, begins, check);
}

/// The position of each stream; none after its end.
#[derive(Default)]
struct Check {
    streams: BTreeMap<(u32, bool), Option<u64>>,
}

impl Check {
    fn forget(&mut self, handle: u32) {
        self.streams.retain(|stream, _| stream.0 != handle);
    }

    fn moves(&mut self, at: Span, len: u64) {
        assert!(len > 0);
        let stream = self.streams.entry((at.handle, at.to_server));
        let stream = stream.or_insert(Some(0));
        // A depth or a skip omits bytes without a report.
        let known = *stream;
        assert!(
            known.is_some_and(|offset| at.offset >= offset),
            "{known:?} {at:?}"
        );
        *stream = Some(at.offset.saturating_add(len));
    }
}

impl StreamConsumer for Check {
    fn data(&mut self, at: Span, bytes: &[u8]) {
        self.moves(at, bytes.len() as u64);
    }
    fn gap(&mut self, at: Span, len: u64) {
        self.moves(at, len);
    }
    fn urgent(&mut self, at: Span, _: u8) {
        self.moves(at, 1);
    }
    fn handshake(&mut self, _: Span, _: Handshake) {}
    fn closed(&mut self, at: Span, _: Closed) {
        let stream = self.streams.entry((at.handle, at.to_server));
        let stream = stream.or_insert(Some(0));
        assert!(stream.is_some(), "ends once");
        *stream = None;
    }
    fn over(&mut self, handle: u32) {
        for to_server in [true, false] {
            let end = self.streams.get(&(handle, to_server));
            assert_eq!(end, Some(&None), "what is over has ended");
        }
    }
    fn goes_on(&mut self, at: Span, told: bool) {
        let stream = self.streams.entry((at.handle, at.to_server));
        let before = *stream.or_insert(Some(0));
        assert_eq!(before.is_none(), told);
        assert!(before.is_none_or(|offset| at.offset >= offset));
        self.streams
            .insert((at.handle, at.to_server), Some(at.offset));
    }
    fn anomaly(&mut self, _: Span, _: Anomaly) {}
}

struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn byte(&mut self) -> u8 {
        match self.0.split_first() {
            Some((&first, rest)) => {
                self.0 = rest;
                first
            }
            None => 0,
        }
    }

    fn word(&mut self) -> u32 {
        u32::from(self.byte()) << 8 | u32::from(self.byte())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        /// No input panics or breaks a law (the fuzzer tries more).
        #[test]
        fn no_segments_break_the_reassembler(data in prop::collection::vec(any::<u8>(), 0..4000)) {
            super::fuzz_reassembly(&data);
        }
    }
}
