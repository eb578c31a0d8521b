//! The first packet of a connection: room for an entry, and which side is the client.

use super::count::{SCTP_INIT, SCTP_INIT_ACK};
use super::{Arrival, Cause, Table, granule_before};
use crate::entry::history::Letter;
use crate::entry::{Addresses, Bits, Cold, FREE_KEY, Handle, Hot, NIL, UNLINKED};
use crate::observe::FlowObserver;
use crate::options::{ADDRESSES_BYTES, EXTRA_BYTES};
use crate::table::ports::is_server_port;
use crate::time::timeouts::Class;
use flowpin_counters::Loss;
use flowpin_packet::{
    Endpoints, FlowKey, PacketFlags, PacketKind, PacketMeta, Seq, Shard, TcpFlags, Timestamp,
};
use flowpin_record::RecordSink;

impl Table {
    /// Makes an entry for a packet that belongs to no connection; [`NIL`] if there is no room.
    #[inline(never)]
    pub(super) fn begin<S: RecordSink, O: FlowObserver>(
        &mut self,
        key: FlowKey,
        arrival: &Arrival<'_>,
        cause: &mut Cause<'_>,
        sink: &mut S,
        observer: &mut O,
    ) -> Handle {
        let meta = arrival.meta;
        if !self.index.owns(meta.hash) {
            self.counters.misdirected += 1;
            self.counters.losses.count(Loss::Misdirected, 1);
            return NIL;
        }
        let own_addresses = key.is_ipv6() || meta.kind == PacketKind::IcmpError;
        let bytes = self.connection_bytes + if own_addresses { ADDRESSES_BYTES } else { 0 };
        let handle = if self.take_room(meta.hash, bytes, NIL, cause, sink, observer) {
            let handle = self.insert(key, meta);
            if handle == NIL {
                self.give_back(meta.hash, bytes);
            }
            handle
        } else {
            NIL
        };
        if handle == NIL {
            self.counters.unplaced += 1;
            return NIL;
        }
        let birth = self.birth(meta, None);
        self.cold[handle].birth_or_addresses = if own_addresses {
            let endpoints = match meta.kind {
                PacketKind::IcmpError => super::icmp_error::addresses(arrival),
                _ => arrival.frames.endpoints(meta),
            };
            let addresses = Addresses { endpoints, birth };
            self.addresses.insert(addresses).unwrap_or(NIL)
        } else {
            birth.0
        };
        self.set_up(handle, arrival, observer);
        // PERF: prefetches the lines of the next connection.
        let next = self.hot.next_handle();
        self.hot.prefetch(next);
        self.cold.prefetch(next);
        observer.prefetch(next);
        handle
    }

    /// Slots for an entry in both slabs and in the index.
    fn insert(&mut self, key: FlowKey, meta: &PacketMeta) -> Handle {
        if self.counters.live == 0 {
            self.wheel.skip_to(granule_before(meta.stream_time));
        }
        let hot = Hot::new(key, meta.hash, idle_from(meta), first_class(meta.kind));
        let Some(handle) = self.hot.insert(hot) else {
            return NIL;
        };
        let cold = self.cold.insert(Cold::new(meta, NIL));
        debug_assert_eq!(cold, Some(handle), "both slabs give out the same handles");
        if cold != Some(handle) || !self.index.insert(meta.hash, handle) {
            self.hot[handle].key = FREE_KEY;
            self.hot.remove(handle);
            if let Some(cold) = cold {
                self.cold.remove(cold);
            }
            return NIL;
        }
        self.counters.live += 1;
        self.counters.live_max = self.counters.live_max.max(self.counters.live);
        handle
    }

    /// Turns an entry whose connection has ended into a new connection of the same key.
    #[inline(never)]
    pub(super) fn begin_again<O: FlowObserver>(
        &mut self,
        handle: Handle,
        arrival: &Arrival<'_>,
        observer: &mut O,
    ) {
        let meta = arrival.meta;
        let before = self.known_before(handle, meta);
        let birth = self.birth(meta, before);
        self.free_extra(handle);
        let ended = &self.hot[handle];
        let Hot {
            key, hash, slot, ..
        } = *ended;
        let apart = ended.has_addresses_apart();
        let class = first_class(meta.kind);
        self.hot[handle] = Hot {
            slot,
            ..Hot::new(key, hash, idle_from(meta), class)
        };
        let addresses = self.cold[handle].birth_or_addresses;
        self.cold[handle] = Cold::new(meta, if apart { addresses } else { birth.0 });
        if apart && let Some(stored) = self.addresses.get_mut(addresses) {
            stored.birth = birth;
            if meta.kind == PacketKind::IcmpError {
                stored.endpoints = super::icmp_error::addresses(arrival);
            }
        }
        self.set_up(handle, arrival, observer);
    }

    /// Direction, VLANs, and other facts of the first packet.
    fn set_up<O: FlowObserver>(&mut self, handle: Handle, arrival: &Arrival<'_>, observer: &mut O) {
        let meta = arrival.meta;
        self.counters.begun(meta.kind);
        let (hot, cold) = (&mut self.hot[handle], &mut self.cold[handle]);
        orient(hot, arrival);
        hot.end = meta.time;
        if matches!(meta.kind, PacketKind::Icmp | PacketKind::IcmpError) {
            let types = u32::from(meta.icmp_type()) << 8 | u32::from(meta.icmp_code);
            cold.start_seq[0] = Seq(types);
        }
        if meta.kind == PacketKind::IcmpError {
            hot.bits.set(Bits::ICMP_ERROR);
        }
        hot.bits.set(Bits::CHANGED);
        if meta.flags.has(PacketFlags::VLAN) {
            cold.vlans = observer.vlans(*arrival.frames, meta);
        }
    }

    /// Steps that must follow the counting of the packet: the tunnel, which needs an `Extra`, and
    /// the time-out, which the packet decides.
    #[inline(never)]
    pub(super) fn finish_beginning<S: RecordSink, O: FlowObserver>(
        &mut self,
        handle: Handle,
        arrival: &Arrival<'_>,
        cause: &mut Cause<'_>,
        sink: &mut S,
        observer: &mut O,
    ) {
        if arrival.meta.flags.has(PacketFlags::TUNNELLED)
            && let Some(tunnel) = observer.tunnel(*arrival.frames, arrival.meta)
            && let Some(extra) = self.extra_of(handle, cause, sink, observer)
        {
            self.extra[extra].tunnel = Some(tunnel);
        }
        self.schedule(handle);
    }

    /// Frees an entry and everything that belongs to it.
    pub(super) fn remove(&mut self, handle: Handle) {
        self.index.remove(self.hot[handle].hash, handle);
        self.free(handle);
    }

    /// As [`Table::remove`], but leaves the index and the wheel alone.
    pub(super) fn free(&mut self, handle: Handle) {
        self.free_extra(handle);
        let hash = self.hot[handle].hash;
        let mut bytes = self.connection_bytes;
        if self.hot[handle].has_addresses_apart() {
            bytes += ADDRESSES_BYTES;
            let addresses = self.cold[handle].birth_or_addresses;
            if addresses != NIL {
                self.addresses.remove(addresses);
            }
        }
        self.give_back(hash, bytes);
        let hot = &mut self.hot[handle];
        hot.key = FREE_KEY;
        // Its place in the wheel is stale from now on.
        hot.slot = UNLINKED;
        self.hot.remove(handle);
        self.cold.remove(handle);
        self.counters.live -= 1;
    }

    fn free_extra(&mut self, handle: Handle) {
        let Hot { extra, hash, .. } = self.hot[handle];
        if extra != NIL {
            self.extra.remove(extra);
            self.hot[handle].extra = NIL;
            self.give_back(hash, EXTRA_BYTES);
        }
    }

    #[inline]
    pub(super) fn give_back(&self, hash: u32, bytes: u64) {
        self.budget.give_back(Shard::of_hash(hash).0, bytes);
    }
}

/// The time from which a new connection's time-out counts: stream time, or the packet's own if that
/// is later. Stream time does not follow the first packet after a gap of hours, in case that one is
/// wrong; the connection that it begins must not end when the second packet confirms it.
fn idle_from(meta: &PacketMeta) -> Timestamp {
    meta.stream_time.max(meta.time)
}

const fn first_class(kind: PacketKind) -> Class {
    match kind {
        PacketKind::Tcp => Class::Attempt,
        PacketKind::Udp => Class::UdpNew,
        PacketKind::Icmp | PacketKind::IcmpError => Class::IcmpNew,
        PacketKind::Sctp | PacketKind::Other => Class::OtherNew,
    }
}

/// Decides which side is the client: the sender of the SYN (INIT), else the receiver of the SYN-ACK
/// (INIT ACK), else the sender of the first packet, unless only the source port is a server's.
fn orient(hot: &mut Hot, arrival: &Arrival<'_>) {
    let (meta, side) = (arrival.meta, arrival.side);
    let sender_is_client = match beginning(arrival) {
        Beginning::Request => true,
        Beginning::Answer => {
            hot.history.push_for(Letter::Flip, true);
            false
        }
        Beginning::Unseen => {
            let flipped = is_from_server(hot, arrival);
            if flipped {
                hot.bits.set(Bits::FLIPPED);
                hot.history.push_for(Letter::Flip, true);
            }
            if meta.kind == PacketKind::Tcp {
                hot.bits.set(Bits::MIDSTREAM);
            }
            !flipped
        }
    };
    let client = if sender_is_client { side } else { side ^ 1 };
    if client == 1 {
        hot.bits.set(Bits::CLIENT_HIGH);
    }
    // Only a handshake seen from its SYN on can be timed.
    if meta.kind != PacketKind::Tcp
        || !sender_is_client
        || !meta.tcp_flags.has(TcpFlags::SYN)
        || meta.tcp_flags.has(TcpFlags::ACK)
        || meta.flags.has(PacketFlags::BAD_CHECKSUM)
    {
        hot.bits.set(Bits::RTT_VOID);
    }
}

enum Beginning {
    Request,
    Answer,
    Unseen,
}

fn beginning(arrival: &Arrival<'_>) -> Beginning {
    let meta = arrival.meta;
    match meta.kind {
        PacketKind::Tcp if meta.tcp_flags.has(TcpFlags::SYN) => {
            if meta.tcp_flags.has(TcpFlags::ACK) {
                Beginning::Answer
            } else {
                Beginning::Request
            }
        }
        PacketKind::Sctp => match arrival.sctp_chunk() {
            Some(SCTP_INIT) => Beginning::Request,
            Some(SCTP_INIT_ACK) => Beginning::Answer,
            _ => Beginning::Unseen,
        },
        _ => Beginning::Unseen,
    }
}

/// Whether only the source port is well known. A broadcast has no server at its other end.
fn is_from_server(hot: &Hot, arrival: &Arrival<'_>) -> bool {
    let (meta, side) = (arrival.meta, arrival.side);
    let (low, high) = hot.key.ports();
    let (source, destination) = if side == 0 { (low, high) } else { (high, low) };
    if !is_server_port(meta.kind, source) || is_server_port(meta.kind, destination) {
        return false;
    }
    let Endpoints { low, high } = arrival.frames.endpoints(meta);
    let to = if side == 0 { high } else { low };
    hot.key.is_ipv6() || to.first_chunk() != Some(&[255; 4])
}
