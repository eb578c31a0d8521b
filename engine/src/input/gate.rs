//! Which packets of a part's input are its own: a part gets fragments whose datagrams belong to
//! other parts, and packets that matter for the input stage's records only.

use super::slow_path::addresses;
use super::{Arrival, Lane};
use crate::parts::Carried;
use flowpin_defrag::Inserted;
use flowpin_dispatch::Dispatched;
use flowpin_output::Formatter;
use flowpin_packet::{FragmentRef, Frame, FrameBytes, PacketMeta, Piece, SHARD_COUNT};
use std::collections::BTreeSet;
use std::net::IpAddr;

/// A pair of addresses, the lower one first.
pub(crate) type HostPair = (IpAddr, IpAddr);

/// Decides what a part has.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    /// Its shards.
    pub(crate) shards: [bool; SHARD_COUNT],
    /// Connections of these hosts are together, whatever their shards.
    pub(crate) hosts: BTreeSet<HostPair>,
    /// It is the part that has them.
    pub(crate) has_hosts: bool,
    /// It has the records of the input stage.
    pub(crate) has_records: bool,
    /// Of a slice: what of the packets before it matters.
    pub(crate) carried: Option<Carried>,
}

impl Gate {
    fn has(&self, meta: &PacketMeta, frame: &[u8]) -> bool {
        if self
            .carried
            .as_ref()
            .is_some_and(|carried| !carried.has(meta))
        {
            return false;
        }
        if is_between(&self.hosts, meta, frame) {
            return self.has_hosts;
        }
        let shard = usize::from(meta.shard().0);
        self.shards.get(shard).copied().unwrap_or(false)
    }
}

/// Whether a packet is one of a connection between two of these hosts. `frame` are the bytes that
/// it is described by.
pub(crate) fn is_between(hosts: &BTreeSet<HostPair>, meta: &PacketMeta, frame: &[u8]) -> bool {
    if hosts.is_empty() {
        return false;
    }
    let packet = frame.get(usize::from(meta.l3_offset)..).unwrap_or_default();
    let (source, destination) = addresses(packet, meta.key.is_ipv6());
    hosts.contains(&in_order(source, destination))
}

/// The lower one first.
pub(crate) fn in_order(one: IpAddr, other: IpAddr) -> HostPair {
    (one.min(other), one.max(other))
}

/// A lane behind a gate.
pub(super) struct Gated<'a, L> {
    pub(super) gate: &'a Gate,
    pub(super) lane: &'a mut L,
}

impl<L: Lane> Lane for Gated<'_, L> {
    fn slot(&mut self) -> &mut PacketMeta {
        self.lane.slot()
    }

    fn commit(&mut self, piece: &Piece) {
        let bytes = piece.bytes.get(..piece.len).unwrap_or_default();
        let frames = FrameBytes {
            piece: bytes,
            extra: &[],
        };
        let slot = self.lane.slot();
        if self.gate.has(slot, frames.frame(slot)) {
            self.lane.commit(piece);
        }
    }

    fn input_records(&mut self, records: &mut Formatter) {
        if self.gate.has_records {
            self.lane.input_records(records);
        } else {
            drop(records.take_all());
        }
    }

    fn commit_datagram(&mut self, piece: &Piece, datagram: &[u8]) {
        if self.gate.has(self.lane.slot(), datagram) {
            self.lane.commit_datagram(piece, datagram);
        }
    }

    fn fragment(&mut self, fragment: &FragmentRef, bytes: &[u8]) {
        self.lane.fragment(fragment, bytes);
    }

    fn fragment_inserted(&mut self, inserted: &Inserted) {
        self.lane.fragment_inserted(inserted);
    }

    fn slow_path(&mut self, frame: &Frame, arrival: &Arrival, piece: &Piece) {
        self.lane.slow_path(frame, arrival, piece);
    }

    fn dispatched(&mut self, dispatched: &Dispatched) {
        self.lane.dispatched(dispatched);
    }
}
