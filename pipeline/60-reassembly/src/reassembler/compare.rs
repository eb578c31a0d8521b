//! The fast path against the slow path.

use super::Reassembler;
use crate::{
    Anomaly, Closed, Handshake, ReassemblyOptions, ReassemblyStats, Span, StreamConsumer, Urgent,
};
use flowpin_packet::{FrameBytes, PacketKind, PacketMeta, Seq, TcpFlags};
use proptest::prelude::*;

/// Everything that a consumer receives.
#[derive(Debug, Default, PartialEq)]
struct Log(Vec<Told>);

#[derive(Debug, PartialEq)]
enum Told {
    Data(Span, Vec<u8>),
    Gap(Span, u64),
    Urgent(Span, u8),
    Handshake(Span, Handshake),
    Closed(Span, Closed),
    Over(u32),
    Anomaly(Span, Anomaly),
}

impl StreamConsumer for Log {
    fn data(&mut self, at: Span, bytes: &[u8]) {
        self.0.push(Told::Data(at, bytes.to_vec()));
    }
    fn gap(&mut self, at: Span, len: u64) {
        self.0.push(Told::Gap(at, len));
    }
    fn urgent(&mut self, at: Span, byte: u8) {
        self.0.push(Told::Urgent(at, byte));
    }
    fn handshake(&mut self, at: Span, handshake: Handshake) {
        self.0.push(Told::Handshake(at, handshake));
    }
    fn closed(&mut self, at: Span, how: Closed) {
        self.0.push(Told::Closed(at, how));
    }
    fn over(&mut self, handle: u32) {
        self.0.push(Told::Over(handle));
    }
    fn anomaly(&mut self, at: Span, what: Anomaly) {
        self.0.push(Told::Anomaly(at, what));
    }
}

/// A segment as an undisturbed connection would have it, and how it is disturbed.
#[derive(Clone, Debug)]
struct Step {
    to_server: bool,
    kind: u8,
    len: u8,
    options: u8,
    /// Mostly 0.
    seq_slip: i8,
    ack_slip: i8,
    window: u16,
    stamp_slip: i8,
}

fn step() -> impl Strategy<Value = Step> {
    let slip = || prop_oneof![12 => Just(0i8), 1 => -3i8..4];
    let window = prop_oneof![6 => Just(65_535u16), 1 => Just(0), 1 => 1u16..20];
    (
        any::<bool>(),
        0u8..20,
        prop_oneof![Just(0u8), 1u8..9],
        any::<u8>(),
        slip(),
        slip(),
        window,
        slip(),
    )
        .prop_map(
            |(to_server, kind, len, options, seq_slip, ack_slip, window, stamp_slip)| Step {
                to_server,
                kind,
                len,
                options,
                seq_slip,
                ack_slip,
                window,
                stamp_slip,
            },
        )
}

/// Both ends of a connection, which send as they are told.
struct Ends {
    next: [u32; 2],
    stamp: u32,
    /// Steps of the handshake that were sent.
    opened: u8,
}

impl Ends {
    /// The next segment, its direction, and whether it begins the connection.
    fn segment(&mut self, step: &Step) -> (Vec<u8>, PacketMeta, bool, bool) {
        let (mut flags, mut to_server, mut len) = (TcpFlags::ACK, step.to_server, step.len);
        let mut begins = false;
        match self.opened {
            0 => (flags, to_server, len, begins) = (TcpFlags::SYN, true, len & 1, true),
            1 => (flags, to_server, len) = (TcpFlags::SYN.with(flags), false, 0),
            2 => to_server = true,
            _ => match step.kind {
                0 | 1 => flags = TcpFlags::FIN.with(flags),
                2 => flags = TcpFlags::RST.with(flags),
                3 => flags = TcpFlags::URG.with(flags),
                4 => flags = TcpFlags::SYN,
                5 => (flags, begins) = (TcpFlags::SYN, true),
                6 => begins = true,
                _ => {}
            },
        }
        // Sometimes a step of the handshake is missing or repeated.
        if step.kind != 7 || self.opened > 2 {
            self.opened = self.opened.saturating_add(1);
        }
        let me = usize::from(!to_server);
        let len = if flags.has(TcpFlags::SYN) && len > 1 {
            0
        } else {
            len
        };
        let seq = self.next[me].wrapping_add_signed(step.seq_slip.into());
        let ack = self.next[me ^ 1].wrapping_add_signed(step.ack_slip.into());
        let controls = u32::from(flags.has(TcpFlags::SYN)) + u32::from(flags.has(TcpFlags::FIN));
        if step.seq_slip == 0 {
            self.next[me] = self.next[me].wrapping_add(u32::from(len) + controls);
        }
        self.stamp += 1;
        let stamp = self.stamp.wrapping_add_signed(step.stamp_slip.into());
        let mut frame = vec![0; 40];
        let mut options = Vec::new();
        if flags.has(TcpFlags::SYN) {
            options.extend([2, 4, 5, 0xb4, 4, 2]);
            if step.options & 1 == 0 {
                options.extend([8, 10]);
                options.extend(stamp.to_be_bytes());
                options.extend([0; 4]);
            }
            if step.options & 2 == 0 {
                options.extend([3, 3, step.options >> 4]);
            }
        } else if step.options & 12 != 0 {
            options.extend([1, 1, 8, 10]);
            options.extend(stamp.to_be_bytes());
            options.extend([0; 4]);
        }
        options.resize(options.len().next_multiple_of(4), 0);
        frame[32] = u8::try_from((20 + options.len()) / 4).unwrap() << 4;
        frame[33] = flags.0;
        frame[39] = 2;
        frame.extend(options);
        let payload_offset = u16::try_from(frame.len()).unwrap();
        frame.extend((0..len).map(|nth| b'a' + nth));
        let meta = PacketMeta {
            captured_len: u32::try_from(frame.len()).unwrap(),
            payload_len: len.into(),
            seq: Seq(seq),
            ack: Seq(ack),
            window: step.window,
            l4_offset: 20,
            payload_offset,
            tcp_flags: flags,
            kind: PacketKind::Tcp,
            ..PacketMeta::default()
        };
        (frame, meta, to_server, begins)
    }
}

/// The destinations of bytes, whichever path they took.
fn sums(stats: &ReassemblyStats) -> (u64, u64, ReassemblyStats) {
    let others = ReassemblyStats {
        in_order: 0,
        considered: 0,
        delivered: 0,
        steps: 0,
        ..*stats
    };
    (stats.received(), stats.in_order + stats.delivered, others)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Which path a segment takes must not show: reports, counts and state are the same.
    #[test]
    fn the_fast_path_does_what_the_slow_path_does(
        steps in prop::collection::vec(step(), 1..24),
        settings in any::<u8>(),
        start in prop_oneof![Just(100u32), Just(u32::MAX - 4)],
    ) {
        let options = ReassemblyOptions {
            depth_bytes: u64::from(settings & 3 == 3) * 6,
            midstream: settings & 4 == 0,
            one_sided: settings & 8 == 0,
            paws: settings & 48 != 0,
            urgent: if settings & 64 == 0 { Urgent::InLine } else { Urgent::OutOfBand },
            compared_bytes: u64::from(settings & 64 != 0) * (16 << 18),
            ..ReassemblyOptions::default()
        };
        let mut fast = Reassembler::new(&options, 256, 4).unwrap();
        let mut slow = Reassembler::new(&options, 256, 4).unwrap();
        slow.slow_only = true;
        let (mut told, mut expected) = (Log::default(), Log::default());
        let opened = u8::from(settings & 128 != 0) * 3;
        let mut ends = Ends { next: [start, 7], stamp: 50, opened };
        for step in &steps {
            let (frame, meta, to_server, begins) = ends.segment(step);
            let frames = FrameBytes { piece: &frame, extra: &[] };
            if step.kind == 8 {
                fast.skip(2, step.to_server);
                slow.skip(2, step.to_server);
            }
            if step.kind == 9 && step.options & 3 == 0 {
                fast.end(2, &mut told);
                slow.end(2, &mut expected);
            }
            fast.segment(&frames, &meta, 2, to_server, begins, &mut told);
            slow.segment(&frames, &meta, 2, to_server, begins, &mut expected);
            prop_assert_eq!(&told, &expected);
            prop_assert_eq!(fast.connections.get(2), slow.connections.get(2));
            prop_assert_eq!(sums(&fast.stats()), sums(&slow.stats()));
        }
        fast.end(2, &mut told);
        slow.end(2, &mut expected);
        prop_assert_eq!(&told, &expected);
        prop_assert_eq!(fast.connections.get(2), slow.connections.get(2));
    }
}
