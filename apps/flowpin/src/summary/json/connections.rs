//! The connections of a run, by what they were and whom they joined.

use super::{ranking, service};
use flowpin_engine::{ConnectionSums, Findings, Traffic};
use flowpin_record::ConnState;
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Serialize)]
pub(super) struct Connections {
    total: u64,
    by_transport: Vec<Row<Transport>>,
    by_state: BTreeMap<&'static str, u64>,
    by_protocol: Vec<Row<Protocol>>,
    not_identified: Row<Nothing>,
    by_server_port: Vec<Row<Port>>,
    by_unidentified_server_port: Vec<Row<Port>>,
    top_talkers: Vec<ranking::Row<ranking::Talker>>,
    addresses_untracked: u64,
    top_host_pairs: Vec<ranking::Row<ranking::Pair>>,
    host_pairs_untracked: u64,
    top_vlans: Vec<ranking::Row<ranking::Vlan>>,
    vlans_untracked: u64,
    without_vlan: Row<Nothing>,
}

#[derive(Serialize)]
struct Row<K: Serialize> {
    #[serde(flatten)]
    key: K,
    connections: u64,
    packets: u64,
    bytes: u64,
}

#[derive(Serialize)]
struct Transport {
    protocol: u8,
    name: String,
}

#[derive(Serialize)]
struct Protocol {
    name: &'static str,
}

#[derive(Serialize)]
struct Nothing {}

#[derive(Serialize)]
struct Port {
    protocol: u8,
    port: u16,
    service: Option<&'static str>,
}

pub(super) fn connections(found: &Findings) -> Connections {
    let sums = &found.connections;
    Connections {
        total: sums.total(),
        by_transport: rows(
            ConnectionSums::top(&sums.by_protocol, usize::MAX),
            |protocol| Transport {
                protocol,
                name: service::transport(protocol).to_lowercase(),
            },
        ),
        by_state: ConnState::ALL
            .into_iter()
            .map(ConnState::name)
            .zip(sums.by_state)
            .collect(),
        by_protocol: rows(ConnectionSums::top(&sums.by_app, usize::MAX), |name| {
            Protocol { name }
        }),
        not_identified: row(Nothing {}, &sums.unknown),
        by_server_port: rows(ConnectionSums::top(&sums.by_port, PORTS_MAX), port),
        by_unidentified_server_port: rows(
            ConnectionSums::top(&sums.by_unknown_port, PORTS_MAX),
            port,
        ),
        top_talkers: ranking::talker_rows(&found.hosts.talkers),
        addresses_untracked: found.hosts.talkers.rest.connections,
        top_host_pairs: ranking::host_pair_rows(&found.hosts.pairs),
        host_pairs_untracked: found.hosts.pairs.rest.connections,
        top_vlans: ranking::vlan_rows(&found.vlans.tagged),
        vlans_untracked: found.vlans.tagged.rest.connections,
        without_vlan: row(Nothing {}, &found.vlans.untagged),
    }
}

fn port((protocol, port): (u8, u16)) -> Port {
    Port {
        protocol,
        port,
        service: Some(service::name(protocol, port)).filter(|name| !name.is_empty()),
    }
}

fn rows<K, T: Serialize>(table: Vec<(K, Traffic)>, key: impl Fn(K) -> T) -> Vec<Row<T>> {
    table
        .into_iter()
        .map(|(k, traffic)| row(key(k), &traffic))
        .collect()
}

const fn row<T: Serialize>(key: T, traffic: &Traffic) -> Row<T> {
    Row {
        key,
        connections: traffic.connections,
        packets: traffic.packets,
        bytes: traffic.bytes,
    }
}

const PORTS_MAX: usize = 100;
