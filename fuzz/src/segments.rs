//! TCP reassembly against the slow oracle.

use flowpin_config::{Named, SegmentOverlap};
use flowpin_packet::{FrameBytes, NetworkMap, PacketFlags, PacketKind, PacketMeta, Seq, TcpFlags};
use flowpin_reassembly::{Reassembler, ReassemblyOptions, Span, StreamConsumer};
use flowpin_testkit::oracle::segments::{SlowStream, Told, tell_data, tell_gap};

/// Makes segments of one stream out of `data`, and acknowledgements of it, and reads it under one
/// policy: what is told must be what the oracle tells, after each segment. The first two bytes
/// choose the policy and the first number; then four bytes a segment say what it is, where it
/// lies, how long it is and what it is filled with.
pub fn fuzz_reassembly_oracle(data: &[u8]) {
    let Some((&[choice, first], rest)) = data.split_first_chunk() else {
        return;
    };
    let (policy, name, _) = SegmentOverlap::ALL[usize::from(choice) % SegmentOverlap::ALL.len()];
    let options = ReassemblyOptions {
        policy: NetworkMap::new(policy, []),
        memory_bytes: 1 << 34,
        ..ReassemblyOptions::default()
    };
    let Ok(reassembler) = Reassembler::new(&options, 1, 1) else {
        return;
    };
    let isn = u32::from(first).wrapping_sub(200);
    let window = u16::from(first) << 2;
    let mut wire = Wire {
        reassembler,
        log: Log::default(),
    };
    let start = isn.wrapping_add(1);
    wire.send(true, TcpFlags::SYN, isn, 0, window, &[]);
    wire.send(
        false,
        TcpFlags::SYN.with(TcpFlags::ACK),
        0,
        start,
        window,
        &[],
    );
    let mut slow = SlowStream::new(name, Some(window.into()));
    for words in rest.chunks_exact(4).take(300) {
        let [kind, place, len, fill] = [words[0], words[1], words[2], words[3]];
        let scale = if kind & 2 != 0 { 16 } else { 1 };
        let at = i64::from(place) * scale - 8;
        let seq = start.wrapping_add_signed(i32::try_from(at).unwrap_or(0));
        if kind & 1 == 0 {
            let len = usize::from(len % 32) * usize::try_from(scale).unwrap_or(1) * 8;
            let bytes: Vec<u8> = (0..len).map(|nth| fill ^ (nth as u8 & 1)).collect();
            wire.send(true, TcpFlags::ACK, seq, 1, 1000, &bytes);
            slow.segment(at, &bytes);
        } else if let Ok(to) = u64::try_from(at) {
            let window = u16::from(len) << (fill & 7);
            wire.send(false, TcpFlags::ACK, 1, seq, window, &[]);
            slow.acknowledge(to, window.into());
        }
        assert_eq!(wire.log.told, slow.told);
    }
    wire.reassembler.end(0, &mut wire.log);
    slow.end();
    assert_eq!(wire.log.told, slow.told);
}

struct Wire {
    reassembler: Reassembler,
    log: Log,
}

impl Wire {
    fn send(&mut self, up: bool, flags: TcpFlags, seq: u32, ack: u32, window: u16, bytes: &[u8]) {
        let len = u32::try_from(bytes.len()).unwrap_or(0);
        let meta = PacketMeta {
            captured_len: len,
            payload_len: len,
            seq: Seq(seq),
            ack: Seq(ack),
            window,
            tcp_flags: flags,
            kind: PacketKind::Tcp,
            flags: PacketFlags(if up { 0 } else { PacketFlags::HIGH_TO_LOW.0 }),
            ..PacketMeta::default()
        };
        let frames = FrameBytes {
            piece: bytes,
            extra: &[],
        };
        let log = &mut self.log;
        self.reassembler
            .segment(&frames, &meta, 0, up, flags == TcpFlags::SYN, log);
    }
}

#[derive(Default)]
struct Log {
    told: Vec<Told>,
}

impl StreamConsumer for Log {
    fn data(&mut self, at: Span, bytes: &[u8]) {
        tell_data(&mut self.told, at.offset, bytes);
    }
    fn gap(&mut self, at: Span, len: u64) {
        tell_gap(&mut self.told, at.offset, len);
    }
}
