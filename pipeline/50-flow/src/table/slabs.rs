//! The slabs of all connections: their pools, and the parts that one connection has in them.

use super::Table;
use crate::FlowObserver;
use crate::entry::{Addresses, Cold, Extra, Handle, Hot, NIL};
use crate::record::Parts;
use flowpin_memory::{Pool, Slab};
use flowpin_record::{EndReason, RecordKey, RecordSink, Uid};

impl Table {
    /// The pools of all connections.
    pub fn pools(&mut self, visit: &mut dyn FnMut(&mut dyn Pool)) {
        visit(&mut Entries(&mut self.hot, &mut self.cold));
        visit(&mut self.extra);
        visit(&mut self.addresses);
    }

    /// Writes the record of a connection as of now.
    pub(super) fn hand_out<S: RecordSink, O: FlowObserver>(
        &mut self,
        handle: Handle,
        reason: EndReason,
        interim: u32,
        key: RecordKey,
        sink: &mut S,
        observer: &mut O,
    ) {
        let slabs = (&self.hot, &self.cold, &self.extra, &self.addresses);
        parts_of(slabs, handle).write(self.identity, reason, interim, &mut self.record);
        if O::OBSERVES {
            if reason == EndReason::Interim {
                observer.goes_on(handle, &mut self.record);
            } else {
                observer.ended(handle, &mut self.record, key, sink);
            }
        }
        self.counters.recorded(&self.record);
        sink.conn(key, &self.record);
    }

    /// A connection's identifier.
    pub(crate) fn uid(&self, handle: Handle) -> Uid {
        self.parts(handle).uid(self.identity)
    }

    /// Prefetches what [`peers_of`](Self::peers_of) reads.
    #[inline]
    pub fn prefetch_peers(&self, handle: Handle) {
        self.hot.prefetch(handle);
        self.cold.prefetch(handle);
    }

    /// All parts of a connection.
    #[inline]
    pub(crate) fn parts(&self, handle: Handle) -> Parts<'_> {
        let slabs = (&self.hot, &self.cold, &self.extra, &self.addresses);
        parts_of(slabs, handle)
    }
}

/// Both parts of all entries as one pool: they must go on giving out the same handles.
struct Entries<'a>(&'a mut Slab<Hot>, &'a mut Slab<Cold>);

impl Pool for Entries<'_> {
    fn touched_bytes(&self) -> u64 {
        self.0.touched_bytes() + self.1.touched_bytes()
    }

    fn trim(&mut self) {
        self.0.trim();
        self.1.trim();
    }
}

type Slabs<'a> = (
    &'a Slab<Hot>,
    &'a Slab<Cold>,
    &'a Slab<Extra>,
    &'a Slab<Addresses>,
);

/// All parts of a connection: apart from [`Table::parts`], so that other fields of the table can be
/// borrowed at the same time.
#[inline]
fn parts_of((hot, cold, extra, addresses): Slabs<'_>, handle: Handle) -> Parts<'_> {
    let (hot, cold) = (&hot[handle], &cold[handle]);
    Parts {
        hot,
        cold,
        extra: extra.get(hot.extra),
        addresses: stored_addresses(addresses, hot, cold),
    }
}

/// The addresses of a connection whose key does not hold them.
#[inline]
fn stored_addresses<'a>(
    addresses: &'a Slab<Addresses>,
    hot: &Hot,
    cold: &Cold,
) -> Option<&'a Addresses> {
    addresses.get(if hot.has_addresses_apart() {
        cold.birth_or_addresses
    } else {
        NIL
    })
}
