//! Signature rules on a worker: one more consumer of its connections' packets, bytes and messages.
//!
//! ```text
//!  packets ─┐                                    ┌► key, place ─► sink.alert
//!  bytes ───┼─► Detector ─► what fits (`Found`) ─┘    decided in the order of keys: `Alerts`
//!  messages ┘
//! ```

use super::context::{Cause, Context};
use super::limit::Keys;
use crate::exchange::{Exchange, Watch};
use core::net::IpAddr;
use flowpin_counters::Losses;
use flowpin_detect::{Database, Detector, Ends, Found, Odd, Packet, Tap};
use flowpin_dispatch::{NO_VLAN, TunnelLayer};
use flowpin_memory::{Budget, Pool};
use flowpin_packet::{FrameBytes, PacketFlags, PacketMeta, Timestamp, TunnelKind};
use flowpin_record::{
    Alert, AlertPacket, App, FlowSoFar, MessagePlace, NO_TRANSACTION, RecordEndpoint, RecordSink,
    ToolNames,
};
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// The rules of one worker.
#[derive(Debug)]
pub(super) struct Rules {
    detector: Detector,
    /// Where rules come from that replace these.
    watch: Watch,
    /// Whether rules ask for VLANs.
    reads_vlans: bool,
    /// Whether alerts have the packet that shows them.
    shows_packets: bool,
    /// The packets of events that wait.
    packets: Vec<PacketMeta>,
    found: Vec<Found>,
    of_packets: Keys,
    of_ends: Keys,
    of_time_outs: Keys,
}

impl Rules {
    pub(super) fn new(rules: &Exchange, budget: &Budget, connections_max: u32) -> io::Result<Self> {
        let database = rules.current();
        Ok(Self {
            watch: rules.watch(),
            reads_vlans: database.reads_vlans(),
            shows_packets: database.shows_packets(),
            detector: Detector::new(database, budget, connections_max)?,
            packets: Vec::with_capacity(super::BATCH),
            found: Vec::new(),
            of_packets: Keys::from(PACKET_ORDINAL),
            of_ends: Keys::from(END_ORDINAL),
            of_time_outs: Keys::from(END_ORDINAL),
        })
    }

    /// Whether there are rules that replace those at hand.
    // PERF: once a piece.
    #[inline]
    pub(super) fn is_replaced(&self) -> bool {
        self.watch.has_next()
    }

    /// Takes rules that replace those at hand, if there are any.
    pub(super) fn exchange(&mut self) -> Option<Arc<Database>> {
        let database = self.watch.next()?;
        self.reads_vlans = database.reads_vlans();
        self.shows_packets = database.shows_packets();
        self.detector.exchange(Arc::clone(&database));
        Some(database)
    }

    /// Rules that replace those before are in their place everywhere, after so long.
    pub(super) fn took(&self, pause: Duration) {
        self.watch.took(pause);
    }

    /// A connection begins with this packet; `is_shed`: nothing of it is compared.
    pub(super) fn begin(
        &mut self,
        handle: u32,
        meta: &PacketMeta,
        frames: &FrameBytes<'_>,
        is_shed: bool,
    ) {
        self.detector.begin(handle, meta.shard());
        if is_shed {
            self.detector.pass(handle);
        }
        if meta.flags.has(PacketFlags::TUNNELLED) {
            let frame = frames.frame(meta);
            flowpin_dispatch::tunnels(meta, frame, |layer| {
                if let Some(vlan) = mirrored_vlan(frame, &layer) {
                    self.detector.mirrored(handle, vlan);
                }
            });
        }
    }

    /// Keeps a packet until its event is taken; its number.
    pub(super) fn keep(&mut self, meta: &PacketMeta) -> u32 {
        self.packets.push(*meta);
        u32::try_from(self.packets.len() - 1).unwrap_or(u32::MAX)
    }

    /// No event waits.
    pub(super) fn forget_packets(&mut self) {
        self.packets.clear();
    }

    /// Whether the detector has the name of what a connection speaks by this verdict.
    pub(super) fn is_identified(&self, handle: u32, verdict: u16) -> bool {
        self.detector.is_identified(handle, verdict)
    }

    /// What a connection speaks.
    pub(super) fn identified(&mut self, handle: u32, app: &App, protocol: u8, verdict: u16) {
        let names = [app.name, app.in_tools.suricata(protocol)];
        self.detector.identified(handle, names, verdict);
    }

    /// Whether a packet that was [kept](Self::keep) is one that no rule asks for: then it is only
    /// counted.
    pub(super) fn passes_over(&mut self, handle: u32, (nth, to_server): (u32, bool)) -> bool {
        let meta = self.packets.get(nth as usize);
        meta.is_some_and(|meta| self.detector.passes_over(handle, meta, to_server))
    }

    /// A packet that was [kept](Self::keep).
    pub(super) fn packet(
        &mut self,
        handle: u32,
        ends: &Ends,
        (nth, to_server): (u32, bool),
        frames: &FrameBytes<'_>,
    ) {
        let Some(meta) = self.packets.get(nth as usize) else {
            return;
        };
        let packet = Packet {
            frame: frames.frame(meta),
            meta,
            payload: frames.payload(meta),
            vlans: match self.reads_vlans {
                true => flowpin_dispatch::vlans(meta, frames.frame(meta)),
                false => [NO_VLAN; 2],
            },
        };
        let found = &mut self.found;
        if meta.flags.has(PacketFlags::TUNNELLED) {
            let frame = packet.frame;
            flowpin_dispatch::tunnels(meta, frame, |layer| {
                if let Some(around) = around(frame, &layer) {
                    self.detector.around(handle, &around, found);
                }
            });
        }
        self.detector
            .packet(handle, &packet, ends, to_server, found);
    }

    /// The next bytes of a stream.
    pub(super) fn bytes(&mut self, handle: u32, ends: &Ends, at: (bool, u64), bytes: &[u8]) {
        let found = &mut self.found;
        self.detector.bytes(handle, ends, at, bytes, found);
    }

    /// A stream has a gap, or has ended.
    pub(super) fn stop(&mut self, handle: u32, ends: &Ends, to_server: bool) {
        self.detector.stop(handle, ends, to_server, &mut self.found);
    }

    /// A side has reset the connection.
    pub(super) fn reset(&mut self, handle: u32, ends: &Ends) {
        self.detector.reset(handle, ends, &mut self.found);
    }

    /// A segment is odd, or bytes of a stream are missing.
    pub(super) fn odd(&mut self, handle: u32, ends: &Ends, odd: Odd, to_server: bool) {
        let found = &mut self.found;
        self.detector.odd(handle, ends, odd, Some(to_server), found);
    }

    /// What the parser has said.
    pub(super) fn messages(
        &mut self,
        handle: u32,
        ends: &Ends,
        said: (&Tap, Option<(bool, &[u8])>),
    ) {
        self.detector.messages(handle, ends, said, &mut self.found);
    }

    /// The connection has ended.
    pub(super) fn end(&mut self, handle: u32, ends: &Ends) {
        self.detector.end(handle, ends, &mut self.found);
    }

    /// Whether something fits that was not handed on yet.
    pub(super) fn has_found(&self) -> bool {
        !self.found.is_empty()
    }

    /// Hands on what fits.
    pub(super) fn hand_on<S: RecordSink>(
        &mut self,
        handle: u32,
        app: Option<App>,
        context: &mut Context<'_, S>,
    ) {
        let peers = context.peers(handle);
        let cause = context.cause;
        let frame = context.frame().filter(|_| self.shows_packets);
        let packet = frame.map(|frame| AlertPacket::shared(frame, cause.link));
        let mut vlans = peers.vlans;
        if let (Some(vlan), [NO_VLAN, second]) = (self.detector.mirrored_vlan(handle), vlans) {
            vlans = [vlan, second];
        }
        let mut found = core::mem::take(&mut self.found);
        let first = self.detector.database().first_number();
        for one in found.drain(..) {
            let (protocol, client, server) = match one.around {
                Some(Ends {
                    protocol,
                    client,
                    server,
                }) => (protocol, end(client), end(server)),
                None => (peers.protocol, peers.client, peers.server),
            };
            let place = MessagePlace {
                time: cause.time,
                uid: peers.uid,
                protocol,
                client,
                server,
                vlans,
                interface: cause.interface,
                app: app.map_or("", |app| app.name),
                in_tools: app.map_or(ToolNames::NONE, |app| app.in_tools),
                transaction: one.transaction.unwrap_or(NO_TRANSACTION),
                packet_number: (!cause.is_end).then_some(cause.number),
                shown_client: None,
            };
            let alert = Alert {
                rule: one.rule + first,
                to_server: one.to_server,
                transaction: one.transaction,
                payload: one.payload.as_ref(),
                packet: packet.as_ref(),
                flow: so_far(&one, cause),
                shown: &one.shown,
                sets: one.sets.as_ref(),
            };
            let key = self.key(&cause);
            context.sink.alert(key, &place, alert);
        }
        self.found = found;
    }

    /// Whether a rule has alerted of a connection.
    pub(super) fn has_alerted(&self, handle: u32) -> bool {
        self.detector.has_alerted(handle)
    }

    /// Behind all other records that a packet or an end causes.
    fn key(&mut self, cause: &Cause) -> flowpin_record::RecordKey {
        let keys = match (cause.is_end, cause.is_time_out) {
            (false, _) => &mut self.of_packets,
            (true, false) => &mut self.of_ends,
            (true, true) => &mut self.of_time_outs,
        };
        keys.next(cause.stream_time, cause.number)
    }

    pub(super) fn forget_above(&mut self, below: u32) {
        self.detector.forget_above(below);
    }

    pub(super) fn pools(&mut self, visit: &mut dyn FnMut(&mut dyn Pool)) {
        self.detector.pools(visit);
    }

    pub(super) const fn losses(&self) -> &Losses {
        self.detector.losses()
    }
}

/// The connection with the packet that shows it.
fn so_far(found: &Found, cause: Cause) -> FlowSoFar {
    let mut flow = found.flow;
    if !found.is_counted && !cause.is_end {
        let side = usize::from(!found.to_server);
        if let (Some(packets), Some(bytes)) = (flow.packets.get_mut(side), flow.bytes.get_mut(side))
        {
            *packets += 1;
            *bytes += u64::from(cause.frame_len);
        }
    }
    if flow.packets == [1, 0] || flow.begin == Timestamp(0) {
        flow.begin = cause.stream_time;
    }
    flow
}

/// The VLAN in the header of ERSPAN's type II, which stands right before what it carries: it has
/// the version 1, 12 bits of the VLAN, and no more fields of types (draft-foschiano-erspan §4.1).
fn mirrored_vlan(frame: &[u8], layer: &TunnelLayer) -> Option<u16> {
    if layer.kind != TunnelKind::Erspan {
        return None;
    }
    let begin = usize::from(layer.inner_offset).checked_sub(ERSPAN_HEADER)?;
    let word = u16::from_be_bytes(*frame.get(begin..)?.first_chunk()?);
    (word >> 12 == 1).then_some(word & 0xfff)
}

/// The ends of the packet around a tunnel, and its protocol.
fn around(frame: &[u8], layer: &TunnelLayer) -> Option<Ends> {
    let (from, to) = layer.addresses?;
    let inner = frame.get(usize::from(layer.inner_offset))?;
    let protocol = match (layer.ports, layer.kind, inner >> 4) {
        ((0, 0), TunnelKind::Ip, 6) => IPV6,
        ((0, 0), TunnelKind::Ip, _) => IPV4,
        ((0, 0), ..) => GRE,
        _ => UDP,
    };
    Some(Ends {
        protocol,
        client: (from, layer.ports.0),
        server: (to, layer.ports.1),
    })
}

const fn end((address, port): (IpAddr, u16)) -> RecordEndpoint {
    RecordEndpoint { address, port }
}

// Protocol numbers of IP.
const IPV4: u8 = 4;
const UDP: u8 = 17;
const IPV6: u8 = 41;
const GRE: u8 = 47;

const ERSPAN_HEADER: usize = 8;
const PACKET_ORDINAL: u32 = 3 << 30;
const END_ORDINAL: u32 = PACKET_ORDINAL + (1 << 29);
