//! For the tests of protocols: what is a direction, or a datagram, by itself?

use crate::{Identifier, On, Search, SearchOptions, Searches, Step, Whose};
use flowpin_packet::Shard;
use std::sync::{Arc, OnceLock};

/// All protocols, compiled once for all tests.
pub(crate) fn identifier() -> Arc<Identifier> {
    static ONE: OnceLock<Arc<Identifier>> = OnceLock::new();
    Arc::clone(ONE.get_or_init(|| Arc::new(Identifier::new().unwrap())))
}

/// Few searches, for tests.
pub(crate) fn searches() -> Searches {
    let options = SearchOptions {
        shard_bytes_max: 64 << 10,
        keeps_datagrams: true,
    };
    Searches::new(identifier(), options).unwrap()
}

/// Whose bytes: of shard 0.
pub(crate) fn whose(on: On, to_server: bool, ports: (u16, u16)) -> Whose<'static> {
    Whose {
        shard: Shard(0),
        ports,
        on,
        to_server,
        connection: 0,
        lives: None,
        offset: 0,
        again: None,
    }
}

/// What a connection is whose client sends this and no more.
pub(crate) fn client(bytes: &[u8]) -> Option<&'static str> {
    stream(&[(true, bytes)], (50_000, 50_001))
}

/// What a connection is whose server sends this and no more.
pub(crate) fn server(bytes: &[u8]) -> Option<&'static str> {
    stream(&[(false, bytes)], (50_000, 50_001))
}

/// What a connection of these turns (true: the client's) is.
pub(crate) fn stream(turns: &[(bool, &[u8])], ports: (u16, u16)) -> Option<&'static str> {
    let mut searches = searches();
    let mut search = Search::default();
    let mut steps = Vec::new();
    for &(to_server, bytes) in turns {
        let whose = whose(On::Tcp, to_server, ports);
        steps.push(searches.stream_bytes(&mut search, whose, bytes));
    }
    for to_server in [true, false] {
        steps.push(searches.stream_ended(&mut search, whose(On::Tcp, to_server, ports)));
    }
    name(&searches, &steps)
}

/// What a connection of one datagram is.
pub(crate) fn datagram(bytes: &[u8]) -> Option<&'static str> {
    datagrams(&[(true, bytes)], (50_000, 50_001))
}

/// What a connection of these datagrams (true: the client's) is.
pub(crate) fn datagrams(sent: &[(bool, &[u8])], ports: (u16, u16)) -> Option<&'static str> {
    let mut searches = searches();
    let mut search = Search::default();
    let steps: Vec<Step> = sent
        .iter()
        .map(|&(to_server, bytes)| {
            let whose = whose(On::Udp, to_server, ports);
            searches.datagram(&mut search, whose, bytes, bytes.len())
        })
        .collect();
    name(&searches, &steps)
}

fn name(searches: &Searches, steps: &[Step]) -> Option<&'static str> {
    steps.iter().find_map(|step| match step {
        Step::Verdict(verdict) => searches
            .identifier()
            .protocol(verdict.protocol)
            .map(|p| p.name),
        _ => None,
    })
}
