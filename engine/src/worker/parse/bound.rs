//! Connections that are bound to a parser, and the state of each.

use super::numbering::Numbering;
use super::places::{Known, NIL, Places};
use super::registry::{Handle, Kind};
use flowpin_identify::ProtocolId;
use flowpin_memory::{Pool, Slab};
use flowpin_packet::Shard;
use flowpin_reassembly::Span;
use flowpin_record::MessagePlace;
use std::io;

/// A bound connection's number; 0: none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::worker) struct Binding(u32);

impl Binding {
    #[inline]
    pub(in crate::worker) const fn is_none(self) -> bool {
        self.0 == 0
    }

    #[inline]
    const fn index(self) -> Option<u32> {
        self.0.checked_sub(1)
    }
}

/// A connection to bind to a parser.
pub(in crate::worker) struct BindRequest {
    pub(in crate::worker) kind: Kind,
    /// The connection's handle in the connection table.
    pub(in crate::worker) connection: u32,
    /// The protocol of its verdict; a parser reads it.
    pub(in crate::worker) protocol: ProtocolId,
    pub(in crate::worker) shard: Shard,
    /// The offset of each direction's first byte for the parser, the client's first.
    pub(in crate::worker) next: [u64; 2],
}

/// The offset of a stream whose position is unknown: its next byte is the expected one.
pub(in crate::worker) const ANYWHERE: u64 = u64::MAX;

/// A connection and its parser.
// PERF: the state that every segment needs is one cache line; the state that only a record needs is
// in `places`, and made for the first record that is read. FIX in short connections, records not
// read: 12 MB less is touched.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Bound {
    pub(super) handle: Handle,
    /// Its index in the places; [`NIL`] before its first record.
    place: u32,
    /// Its handle in the connection table.
    pub(super) connection: u32,
    pub(super) numbering: Numbering,
    /// The offset of each direction's next byte, the client's first.
    pub(super) next: [u64; 2],
    /// The memory that it took of its shard when it was bound.
    pub(super) memory: u32,
    /// The protocol of its verdict.
    protocol: ProtocolId,
    pub(super) shard: Shard,
}

const _: () = assert!(size_of::<Bound>() == 64);

/// What a bound connection takes beside its parser's state: its binding, its place, and the two's
/// places in the lists of free ones.
pub(super) const BOUND_BYTES: u32 = {
    let bytes = size_of::<Bound>() + size_of::<MessagePlace>() + 8;
    assert!(bytes < 1 << 10);
    bytes as u32
};

/// All bound connections of a worker.
#[derive(Debug)]
pub(super) struct Bindings {
    bound: Slab<Bound>,
    places: Slab<MessagePlace>,
}

/// A bound connection, for a call of its parser.
pub(super) struct Called<'a> {
    pub(super) handle: Handle,
    pub(super) next: &'a mut [u64; 2],
    pub(super) numbering: &'a mut Numbering,
    pub(super) shard: Shard,
    pub(super) places: Places<'a>,
}

impl Bindings {
    pub(super) fn new(connections_max: u32) -> io::Result<Self> {
        Ok(Self {
            bound: Slab::with_capacity(connections_max)?,
            places: Slab::with_capacity(connections_max)?,
        })
    }

    pub(super) fn pools(&mut self, visit: &mut dyn FnMut(&mut dyn Pool)) {
        visit(&mut self.bound);
        visit(&mut self.places);
    }

    /// Binds a connection to a parser's `handle`, which takes `memory`.
    pub(super) fn insert(
        &mut self,
        request: &BindRequest,
        (handle, memory): (Handle, u32),
    ) -> Binding {
        let bound = self.bound.insert(Bound {
            place: NIL,
            connection: request.connection,
            numbering: Numbering::default(),
            handle,
            next: request.next,
            memory,
            protocol: request.protocol,
            shard: request.shard,
        });
        Binding(bound.map_or(0, |bound| bound + 1))
    }

    /// Binds a connection to another parser; its place is rebuilt for the next record.
    pub(super) fn replace(&mut self, binding: Binding, (handle, memory): (Handle, u32)) {
        self.remove_place(binding);
        if let Some(bound) = self.get_mut(binding) {
            (bound.handle, bound.memory) = (handle, memory);
            (bound.place, bound.next) = (NIL, [ANYWHERE; 2]);
        }
    }

    pub(super) fn remove(&mut self, binding: Binding) {
        self.remove_place(binding);
        if let Some(index) = binding.index() {
            self.bound.remove(index);
        }
    }

    /// A connection without records has none.
    fn remove_place(&mut self, binding: Binding) {
        if let Some(place) = self.get(binding).map(|bound| bound.place)
            && place != NIL
        {
            self.places.remove(place);
        }
    }

    #[inline]
    pub(super) fn prefetch(&self, binding: Binding) {
        if let Some(index) = binding.index() {
            self.bound.prefetch(index);
        }
    }

    #[inline]
    pub(super) fn get(&self, binding: Binding) -> Option<&Bound> {
        self.bound.get(binding.index()?)
    }

    #[inline]
    pub(super) fn get_mut(&mut self, binding: Binding) -> Option<&mut Bound> {
        self.bound.get_mut(binding.index()?)
    }

    #[inline]
    pub(super) fn call<'a>(
        &'a mut self,
        binding: Binding,
        known: &'a [Option<Known>],
    ) -> Option<Called<'a>> {
        let bound = self.bound.get_mut(binding.index()?)?;
        Some(Called {
            handle: bound.handle,
            next: &mut bound.next,
            numbering: &mut bound.numbering,
            shard: bound.shard,
            places: Places {
                all: &mut self.places,
                place: &mut bound.place,
                connection: bound.connection,
                protocol: bound.protocol,
                handle: bound.handle,
                known,
            },
        })
    }
}

/// The offset of one direction's next byte.
#[inline]
pub(super) const fn side(next: &mut [u64; 2], to_server: bool) -> &mut u64 {
    let [client, server] = next;
    if to_server { client } else { server }
}

/// Advances one direction by `len` bytes that came or are missing; returns the offset that its
/// parser expects, and the one where they end.
#[inline]
pub(super) fn pass(next: &mut [u64; 2], at: Span, len: u64) -> (u64, u64) {
    let next = side(next, at.to_server);
    let expected = if *next == ANYWHERE { at.offset } else { *next };
    let end = at.offset.saturating_add(len);
    *next = end.max(expected);
    (expected, end)
}
