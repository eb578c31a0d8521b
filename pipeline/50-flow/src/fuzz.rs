//! Fuzzing: any packets, in any batches, with ticks anywhere, in little memory.

use crate::{FlowOptions, ShardSet, Table, Timeouts};
use flowpin_packet::{
    FlowKey, FrameBytes, PacketFlags, PacketKind, PacketMeta, Seq, Shard, TcpFlags, Timestamp,
};
use flowpin_record::{AnomalyRecord, ConnRecord, EndReason, RecordKey, RecordSink, TunnelRecord};

/// Reads packets from `data` and checks the laws that hold for all of them: conservation, unique
/// keys, nothing at or before the watermark afterwards.
#[doc(hidden)]
pub fn fuzz_flow(data: &[u8]) {
    let mut input = Bytes(data);
    let settings = input.byte();
    let options = FlowOptions {
        timeouts: match settings & 3 {
            0 | 1 => Timeouts::Zeek,
            2 => Timeouts::Suricata,
            _ => Timeouts::None,
        },
        interim_ns: (settings & 4 != 0).then_some(1 + input.number() % 5_000_000_000),
        memory_bytes: 0,
        observer_bytes: 0,
        id_seed: 0,
    };
    // Half of the shards: packets of the others are misdirected.
    let shards: ShardSet = (0..=127).map(Shard).collect();
    let Ok(mut table) = Table::new(&options, shards) else {
        return;
    };
    let mut sink = Check::default();
    let mut now = 0u64;
    let mut number = 0;
    let mut batch = Vec::new();
    while !input.0.is_empty() {
        number += 1;
        let (meta, command) = packet(&mut input, number, &mut now);
        batch.push(meta);
        if command & 3 == 0 || input.0.is_empty() {
            let frames = FrameBytes {
                piece: data,
                extra: &[],
            };
            table.prefetch(&batch);
            table.process(frames, &batch, &mut sink, &mut ());
            batch.clear();
        }
        match command & 15 {
            0 => sink.watermark = table.tick(Timestamp(now), &mut sink, &mut ()),
            4 => {
                table.tick_exactly(Timestamp(now), &mut sink, &mut ());
            }
            _ => {}
        }
    }
    table.tick(Timestamp(now), &mut sink, &mut ());
    table.finish(&mut sink, &mut ());
    sink.check(&table, number);
}

fn packet(input: &mut Bytes<'_>, number: u64, now: &mut u64) -> (PacketMeta, u8) {
    let command = input.byte();
    let step = match command >> 4 & 7 {
        0..=3 => input.number() % 10_000_000,
        4 | 5 => input.number() % 10_000_000_000,
        6 => 5_000_000_000,
        _ => input.number() % (1 << 60),
    };
    *now = now.saturating_add(step);
    let kinds = [
        PacketKind::Tcp,
        PacketKind::Tcp,
        PacketKind::Tcp,
        PacketKind::Udp,
        PacketKind::Icmp,
        PacketKind::IcmpError,
        PacketKind::Sctp,
        PacketKind::Other,
    ];
    let choice = input.byte();
    let kind = kinds[usize::from(choice & 7)];
    let protocol = match kind {
        PacketKind::Tcp => 6,
        PacketKind::Udp => 17,
        PacketKind::Icmp | PacketKind::IcmpError => 1,
        PacketKind::Sctp => 132,
        PacketKind::Other => 50,
    };
    let ipv6 = if choice & 8 != 0 {
        FlowKey::IPV6_BIT
    } else {
        0
    };
    let who = input.byte();
    let low = ipv6 | u64::from(protocol) << 48 | u64::from(who & 15) << 16 | u64::from(who >> 4);
    let flags = PacketFlags(u16::from(input.byte()) & 0x1e);
    let meta = PacketMeta {
        key: FlowKey {
            low,
            high: 1 << 40 | 80,
        },
        time: Timestamp(now.saturating_sub(u64::from(choice >> 4) << 28)),
        stream_time: Timestamp(*now),
        number,
        hash: (u32::from(who & 7) * 0x1500_0001) ^ (u32::from(choice & 0x80) << 24),
        frame_start: input.number() as u32 % 64,
        captured_len: u32::from(input.byte()),
        wire_len: input.number() as u32,
        ip_len: input.number() as u32,
        payload_len: input.number() as u32 >> (command >> 3 & 24),
        seq: Seq(input.number() as u32),
        ack: Seq(input.number() as u32),
        fingerprint: u32::from(input.byte() & 1),
        window: u16::from(input.byte() & 3),
        l3_offset: u16::from(input.byte() & 63),
        l4_offset: u16::from(input.byte() & 63),
        tcp_flags: TcpFlags(input.byte()),
        icmp_code: input.byte(),
        kind,
        protocol,
        flags,
        ..PacketMeta::default()
    };
    (meta, command)
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

    /// Small and large numbers alike: one to eight bytes.
    fn number(&mut self) -> u64 {
        let len = self.byte() & 7;
        (0..=len).fold(0, |number, _| number << 8 | u64::from(self.byte()))
    }
}

#[derive(Default)]
struct Check {
    keys: Vec<RecordKey>,
    watermark: Timestamp,
    packets: u64,
    errors: u64,
    last: u64,
}

impl RecordSink for Check {
    fn conn(&mut self, key: RecordKey, record: &ConnRecord) {
        assert!(
            key.time > self.watermark || self.watermark.0 == 0,
            "behind the watermark"
        );
        self.keys.push(key);
        if record.reason != EndReason::Interim {
            self.last += 1;
            for side in [&record.to_server, &record.to_client] {
                self.packets += side.packets;
                self.errors += u64::from(side.icmp_errors);
            }
        }
    }
    fn anomaly(&mut self, _: RecordKey, _: &AnomalyRecord) {}
    fn tunnel(&mut self, _: RecordKey, _: &TunnelRecord) {}
}

impl Check {
    fn check(&mut self, table: &Table, number: u64) {
        let counters = table.counters();
        self.keys.sort_unstable();
        assert!(
            self.keys.windows(2).all(|pair| pair[0] != pair[1]),
            "keys are unique"
        );
        assert_eq!(counters.packets, number);
        let counted = self.packets + self.errors + counters.misdirected + counters.unplaced;
        assert_eq!(counted, number, "packets are conserved");
        assert_eq!(counters.unplaced, 0);
        assert_eq!(counters.created_total(), self.last);
        assert_eq!(counters.ended_total(), self.last);
        assert_eq!(table.live(), 0);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// No input panics or breaks conservation (the fuzzer tries more).
        #[test]
        fn no_packets_break_the_table(data in prop::collection::vec(any::<u8>(), 0..3000)) {
            super::fuzz_flow(&data);
        }
    }

    /// Stream time may reach the end of its range.
    #[test]
    fn the_end_of_time_is_reached_safely() {
        for settings in 0..8 {
            let mut data = vec![settings, 7];
            for _ in 0..40 {
                data.extend([0x70, 7, 255, 255, 255, 255, 255, 255, 255, 255, 0, 3, 2]);
            }
            super::fuzz_flow(&data);
        }
    }
}
