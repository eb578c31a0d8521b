//! Community IDs of connections whose messages came lately.

use flowpin_record::{CommunityId, MessagePlace, Ports, RecordEndpoint, Uid};

/// The last connections' identifiers, each at a place that its `uid` says.
// PERF: a request's message and its response's are not far apart, and a hash takes as long as all
// the rest of a record's beginning.
#[derive(Debug)]
pub(super) struct CommunityIds {
    seed: Option<u16>,
    known: Box<[Option<(Ends, CommunityId)>]>,
}

/// Whose identifier it is. A packet around a tunnel has the connection of what it carries, and
/// other ends.
type Ends = (Uid, u8, RecordEndpoint, RecordEndpoint);

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

    /// That of a message's connection, if it is wanted; none of a packet that belongs to none.
    #[inline]
    pub(super) fn of(&mut self, place: &MessagePlace) -> Option<CommunityId> {
        let seed = self.seed.filter(|_| place.uid != Uid(0))?;
        let known = self.known.get_mut(place.uid.0 as usize % KNOWN)?;
        let ends = (place.uid, place.protocol, place.client, place.server);
        if !matches!(known, Some((whose, _)) if *whose == ends) {
            let (client, server) = (place.client, place.server);
            // ICMP has its type for a port, and the type of answers, or else its code.
            let [first, second] = [client.port, server.port];
            let ports = Ports::new(place.protocol, (first, second), (first as u8, second as u8));
            let addresses = (client.address, server.address);
            let id = CommunityId::new(seed, place.protocol, addresses.0, addresses.1, ports);
            *known = Some((ends, id));
        }
        known.map(|(_, id)| id)
    }
}

#[cfg(test)]
mod tests {
    use super::CommunityIds;
    use core::net::IpAddr;
    use flowpin_packet::{InterfaceId, Timestamp};
    use flowpin_record::{MessagePlace, NO_TRANSACTION, RecordEndpoint, ToolNames, Uid};

    fn place(uid: u64, protocol: u8, ports: (u16, u16)) -> MessagePlace {
        let end = |last: u8, port| RecordEndpoint {
            address: IpAddr::from([192, 0, 2, last]),
            port,
        };
        MessagePlace {
            time: Timestamp(0),
            uid: Uid(uid),
            protocol,
            client: end(1, ports.0),
            server: end(2, ports.1),
            vlans: [0xffff; 2],
            interface: InterfaceId::NONE,
            app: "",
            in_tools: ToolNames::NONE,
            transaction: NO_TRANSACTION,
            packet_number: None,
            shown_client: None,
        }
    }

    /// Computed by the Python package `communityid`: echo, ICMP's port unreachable, ESP, and UDP
    /// around and inside of a tunnel, which have one `uid`.
    #[test]
    fn each_protocol_has_what_stands_for_ports() {
        let mut ids = CommunityIds::new(Some(0));
        let mut of = |place: MessagePlace| ids.of(&place).map(|id| id.to_string());
        for (place, id) in [
            (place(1, 1, (8, 0)), "1:IOfYZQoUwQ3ZLk3+qU6KcSd9W5k="),
            (place(2, 1, (3, 3)), "1:e2rzpasNE3KiFDVpajbbtUAlU0c="),
            (place(3, 50, (0, 0)), "1:1Pi0i107PPs72n4uQ5aFS5GetRY="),
            (place(4, 17, (1000, 53)), "1:LBL/L1bitj4hKao4uRHn6OG+v1o="),
            (place(4, 17, (4789, 4789)), "1:zGuIV+DXEZAV2KOTVxoJUtzOkoo="),
        ] {
            assert_eq!(of(place).as_deref(), Some(id));
        }
        assert_eq!(of(place(0, 17, (1, 2))), None);
    }
}
