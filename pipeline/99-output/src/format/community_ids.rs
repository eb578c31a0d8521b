//! Community IDs of connections whose messages came lately.

use flowpin_record::{CommunityId, MessagePlace, Ports, Uid};

/// The last connections' identifiers, each at a place that its `uid` says.
// PERF: a request's message and its response's are not far apart, and a hash takes as long as all
// the rest of a record's beginning.
#[derive(Debug)]
pub(super) struct CommunityIds {
    seed: Option<u16>,
    known: Box<[Option<(Uid, CommunityId)>]>,
}

/// Places: they stay in the second-level cache.
const KNOWN: usize = 1 << 10;

impl CommunityIds {
    /// None is told without a seed.
    pub(super) fn new(seed: Option<u16>) -> Self {
        let places = if seed.is_some() { KNOWN } else { 0 };
        Self {
            seed,
            known: vec![None; places].into_boxed_slice(),
        }
    }

    /// That of a message's connection, if it is wanted.
    #[inline]
    pub(super) fn of(&mut self, place: &MessagePlace) -> Option<CommunityId> {
        let seed = self.seed?;
        let known = self.known.get_mut(place.uid.0 as usize % KNOWN)?;
        if !matches!(known, Some((uid, _)) if *uid == place.uid) {
            let (client, server) = (place.client, place.server);
            let ports = Ports::Pair(client.port, server.port);
            let addresses = (client.address, server.address);
            let id = CommunityId::new(seed, place.protocol, addresses.0, addresses.1, ports);
            *known = Some((place.uid, id));
        }
        known.map(|(_, id)| id)
    }
}
