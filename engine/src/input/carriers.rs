//! The UDP connections around tunnels, as Zeek logs them beside what they carry.
//!
//! Kept in the in-order step, as the packets of one carrier go to all workers. Only packets that
//! were entered count: what else the same ports exchange is a connection of its own.

use crate::worker::limit::Keys;
use core::net::IpAddr;
use flowpin_config::{Format, Plan, Timeouts};
use flowpin_counters::{Loss, Losses};
use flowpin_dispatch::TunnelLayer;
use flowpin_packet::{PacketMeta, TcpFlags, Timestamp, TunnelKind};
use flowpin_record::{
    App, Confidence, ConnRecord, ConnState, Direction, EndReason, FlowState, History,
    RecordEndpoint, RecordKey, RecordSink, TcpState, ToolNames, Uid,
};
use std::collections::BTreeMap;

/// Most carriers tracked at once; packets of further ones are counted as untracked.
const CARRIERS_MAX: usize = 1 << 14;

/// With little memory there is one for each of so many bytes.
const MEMORY_PER_CARRIER: u64 = 4 << 10;

/// Both ends, the lower one first.
type Ends = [(IpAddr, u16); 2];

/// The carriers of a run. Ordered by their ends, so that a sweep writes in one order.
#[derive(Debug)]
pub(super) struct Carriers {
    /// Whether a format has records of them.
    are_wanted: bool,
    id_seed: u64,
    /// How many are tracked at once.
    most: usize,
    idle_ns_max: [u64; 2],
    all: BTreeMap<Ends, Carrier>,
}

#[derive(Clone, Copy, Debug)]
struct Carrier {
    record: ConnRecord,
    kind: TunnelKind,
    last_seen: Timestamp,
    /// How many carriers are around it.
    depth: u32,
}

impl Carriers {
    pub(super) fn new(plan: &Plan) -> Self {
        let seconds = |count: u64| count * 1_000_000_000;
        Self {
            are_wanted: {
                let formats = &plan.output.formats;
                formats.contains(&Format::ZeekTsv) || formats.contains(&Format::ZeekJson)
            },
            id_seed: plan.id_seed,
            most: usize::try_from(plan.memory_bytes / MEMORY_PER_CARRIER)
                .unwrap_or(CARRIERS_MAX)
                .min(CARRIERS_MAX),
            idle_ns_max: match plan.timeouts {
                Timeouts::Zeek => [seconds(60), seconds(60)],
                Timeouts::Suricata => [seconds(30), seconds(300)],
                Timeouts::None => [u64::MAX; 2],
            },
            all: BTreeMap::new(),
        }
    }

    /// Adds a packet to the carrier of one of its tunnels, if that has one. `around`: the tunnel
    /// and the number of carriers around it.
    pub(super) fn count(
        &mut self,
        meta: &PacketMeta,
        layer: &TunnelLayer,
        around: (Option<(TunnelKind, Uid)>, u32),
        vlans: impl FnOnce() -> [u16; 2],
        losses: &mut Losses,
        sink: &mut impl RecordSink,
    ) {
        let is_carried = self.are_wanted && layer.ports != (0, 0);
        let Some((source, destination)) = layer.addresses.filter(|_| is_carried) else {
            return;
        };
        let from = (source, layer.ports.0);
        let to = (destination, layer.ports.1);
        let ends = if from <= to { [from, to] } else { [to, from] };
        if let Some(known) = self.all.get(&ends)
            && meta.stream_time.nanos_since(known.last_seen) >= known.idle_max(self.idle_ns_max)
            && let Some(mut known) = self.all.remove(&ends)
        {
            let mut keys = Keys::from(AGAIN_ORDINAL.wrapping_add(known.depth));
            let key = keys.next(meta.stream_time, meta.number);
            sink.carrier(key, known.finish(EndReason::Timeout));
        }
        if self.all.len() >= self.most && !self.all.contains_key(&ends) {
            return losses.count(Loss::TunnelsUntracked, 1);
        }
        let id_seed = self.id_seed;
        let carrier = self.all.entry(ends).or_insert_with(|| {
            let (tunnel, depth) = around;
            Carrier {
                record: begin(
                    meta,
                    from,
                    to,
                    vlans(),
                    tunnel,
                    uid(id_seed, &ends, meta.time),
                ),
                kind: layer.kind,
                last_seen: meta.stream_time,
                depth,
            }
        });
        carrier.add(meta, layer, from);
    }

    /// Writes the carriers that have been idle too long at `now`.
    pub(super) fn sweep(
        &mut self,
        now: Timestamp,
        number: u64,
        keys: &mut Keys,
        sink: &mut impl RecordSink,
    ) {
        let idle_ns_max = self.idle_ns_max;
        self.all.retain(|_, carrier| {
            let keep = now.nanos_since(carrier.last_seen) < carrier.idle_max(idle_ns_max);
            if !keep {
                sink.carrier(keys.next(now, number), carrier.finish(EndReason::Timeout));
            }
            keep
        });
    }

    /// Writes all that are left. `after`: added to the number of their first packets.
    pub(super) fn finish(&mut self, now: Timestamp, after: u64, sink: &mut impl RecordSink) {
        for mut carrier in std::mem::take(&mut self.all).into_values() {
            let key = RecordKey {
                time: now,
                number: after | carrier.record.first_packet,
                ordinal: LAST_ORDINAL.wrapping_add(carrier.depth),
            };
            sink.carrier(key, carrier.finish(EndReason::EndOfInput));
        }
    }
}

impl Carrier {
    fn add(&mut self, meta: &PacketMeta, layer: &TunnelLayer, from: (IpAddr, u16)) {
        let record = &mut self.record;
        self.last_seen = meta.stream_time;
        record.end = record.end.max(meta.time);
        record.open_until = record.end;
        let by_client = (record.client.address, record.client.port) == from;
        let (direction, letter) = if by_client {
            (&mut record.to_server, b'D')
        } else {
            (&mut record.to_client, b'd')
        };
        if direction.packets == 0 {
            push(&mut record.history, letter);
        }
        let (ip_len, payload_len) = layer.outer_lens;
        direction.packets += 1;
        direction.frame_bytes += u64::from(meta.wire_len);
        direction.ip_bytes += u64::from(ip_len);
        direction.payload_bytes += u64::from(payload_len);
        direction.stream_bytes = direction.payload_bytes;
    }

    /// Whether both sides were seen decides how long it may be idle.
    const fn idle_max(&self, by_state: [u64; 2]) -> u64 {
        let [new, established] = by_state;
        let (there, back) = (&self.record.to_server, &self.record.to_client);
        if there.packets > 0 && back.packets > 0 {
            established
        } else {
            new
        }
    }

    /// Its record, complete.
    fn finish(&mut self, reason: EndReason) -> &ConnRecord {
        let record = &mut self.record;
        let sent = (record.to_server.packets > 0, record.to_client.packets > 0);
        record.conn_state = match sent {
            (true, true) => ConnState::SF,
            (true, false) => ConnState::S0,
            (false, _) => ConnState::SHR,
        };
        record.flow_state = match sent {
            (true, true) => FlowState::Established,
            _ => FlowState::New,
        };
        record.reason = reason;
        record.app = app(self.kind);
        record
    }
}

/// A record without packets. Who uses a tunnel's port is the server, if only the sender does.
fn begin(
    meta: &PacketMeta,
    from: (IpAddr, u16),
    to: (IpAddr, u16),
    vlans: [u16; 2],
    tunnel: Option<(TunnelKind, Uid)>,
    uid: Uid,
) -> ConnRecord {
    let of_server = |end: (IpAddr, u16)| flowpin_dispatch::is_tunnel_port(end.1);
    let flipped = of_server(from) && !of_server(to);
    let (client, server) = if flipped { (to, from) } else { (from, to) };
    let end = |(address, port)| RecordEndpoint { address, port };
    let silence = Direction {
        tcp_flags: TcpFlags(0),
        ..Direction::default()
    };
    let mut history = History::default();
    if flipped {
        push(&mut history, b'^');
    }
    ConnRecord {
        uid,
        start: meta.time,
        end: meta.time,
        open_until: meta.time,
        first_packet: meta.number,
        protocol: UDP,
        client: end(client),
        server: end(server),
        to_server: silence,
        to_client: silence,
        conn_state: ConnState::OTH,
        history,
        flow_state: FlowState::New,
        tcp_state: TcpState::None,
        reason: EndReason::Timeout,
        interim: 0,
        rtt_ns: None,
        vlans,
        interface: meta.interface,
        tunnel,
        flipped,
        midstream: false,
        icmp: None,
        app: None,
        alerted: false,
    }
}

fn push(history: &mut History, letter: u8) {
    if let Some(place) = history.letters.get_mut(usize::from(history.len)) {
        *place = letter;
        history.len += 1;
    }
}

/// What a carrier speaks, if that has a name.
fn app(kind: TunnelKind) -> Option<App> {
    let name = match kind {
        TunnelKind::Vxlan => "vxlan",
        TunnelKind::Geneve => "geneve",
        TunnelKind::Teredo => "teredo",
        TunnelKind::Gtpu => "gtp",
        TunnelKind::Ayiya => "ayiya",
        TunnelKind::Lisp => "lisp",
        TunnelKind::L2tp => "l2tp",
        TunnelKind::Capwap => "capwap",
        _ => return None,
    };
    Some(App {
        name,
        in_tools: ToolNames::known(name)?,
        original: None,
        original_in_tools: ToolNames::NONE,
        rule: "tunnel",
        confidence: Confidence::Sure,
        by_client: true,
        number: 0,
    })
}

/// From both ends and the first packet's time.
fn uid(id_seed: u64, ends: &Ends, start: Timestamp) -> Uid {
    let mut state = id_seed ^ CARRIER;
    let mut add = |word: u64| {
        state = (state ^ word).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        state = (state ^ (state >> 29)).wrapping_mul(0x94d0_49bb_1331_11eb);
        state ^= state >> 32;
    };
    for &(address, port) in ends {
        let bits = match address {
            IpAddr::V4(address) => u128::from(address.to_bits()),
            IpAddr::V6(address) => address.to_bits(),
        };
        add((bits >> 64) as u64);
        add(bits as u64);
        add(u64::from(port));
    }
    add(start.0);
    Uid(state)
}

/// Behind those of a sweep before the same packet.
const AGAIN_ORDINAL: u32 = (1 << 23) + (1 << 22);
/// Behind those of tunnels that are left.
const LAST_ORDINAL: u32 = 2;
const UDP: u8 = 17;
/// Distinguishes carriers' identifiers from others made with the same seed.
const CARRIER: u64 = 0x6361_7272_6965_7200;
