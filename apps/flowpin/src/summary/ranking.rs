//! Tables of the addresses, host pairs and VLANs with the most traffic.

use super::page::{Cell, Page};
use super::{Detail, number};
use core::net::IpAddr;
use flowpin_engine::{HostPair, Ranking, RunReport, VlanTags};
use serde::Serialize;

/// Addresses with the most bytes.
pub(super) fn talkers(page: &mut Page, report: &RunReport, detail: Detail) {
    let ranking = &report.found.hosts.talkers;
    let name = |address: IpAddr| vec![Cell::left(address.to_string())];
    section(
        page,
        report,
        detail,
        ranking,
        ("Top talkers", "address"),
        name,
    );
}

/// Pairs of client and server with the most bytes.
pub(super) fn host_pairs(page: &mut Page, report: &RunReport, detail: Detail) {
    let ranking = &report.found.hosts.pairs;
    let name = |pair: HostPair| {
        vec![
            Cell::left(pair.client.to_string()),
            Cell::left(pair.server.to_string()),
        ]
    };
    section(
        page,
        report,
        detail,
        ranking,
        ("Top host pairs", "pair"),
        name,
    );
}

/// VLANs with the most bytes, and how much had none; nothing if no connection had a tag.
pub(super) fn vlans(page: &mut Page, report: &RunReport, detail: Detail) {
    let found = &report.found.vlans;
    let name = |tags: VlanTags| vec![Cell::left(tags.to_string())];
    let names = ("Top VLANs", "VLAN");
    section(page, report, detail, &found.tagged, names, name);
    if found.tagged.keys > 0 && found.untagged.connections > 0 {
        let connections = number::things(found.untagged.connections, "connection");
        let bytes = number::bytes(found.untagged.bytes);
        page.line(Cell::dim(format!("without a VLAN: {connections}, {bytes}")));
    }
}

fn section<K: Copy>(
    page: &mut Page,
    report: &RunReport,
    detail: Detail,
    ranking: &Ranking<K>,
    (title, key): (&str, &str),
    name: impl Fn(K) -> Vec<Cell>,
) {
    if ranking.keys == 0 {
        return;
    }
    let is_exact = ranking.rest.connections == 0;
    let about = if is_exact { "" } else { "about " };
    let known = number::things(ranking.keys, key);
    page.title(title, &format!("of {about}{known}"));
    let shown = match detail {
        Detail::Some => ROWS,
        Detail::All => ROWS_ALL,
    };
    let rows = ranking.rows.iter().take(shown).map(|row| {
        let (traffic, about) = (&row.traffic, if row.is_estimate { "about " } else { "" });
        let connections = number::things(traffic.connections, "connection");
        let mut cells = name(row.key);
        cells.extend([
            Cell::right(format!("{about}{connections}")),
            Cell::right(format!("{about}{}", number::bytes(traffic.bytes))),
            Cell::bar(traffic.bytes, report.frame_bytes),
        ]);
        cells
    });
    page.rows(&rows.collect::<Vec<_>>());
    if !is_exact {
        page.line(Cell::dim(
            "too many for exact totals: \"about\" marks estimates, and rows with little traffic \
             may be missing",
        ));
    }
}

/// A row of JSON.
#[derive(Serialize)]
pub(super) struct Row<K: Serialize> {
    #[serde(flatten)]
    key: K,
    connections: u64,
    packets: u64,
    bytes: u64,
    estimated: bool,
}

#[derive(Serialize)]
pub(super) struct Talker {
    address: IpAddr,
}

#[derive(Serialize)]
pub(super) struct Pair {
    client: IpAddr,
    server: IpAddr,
}

#[derive(Serialize)]
pub(super) struct Vlan {
    /// As in records: the outer tag's identifier, and the inner one's.
    vlan: Vec<u16>,
}

/// The talkers for JSON.
pub(super) fn talker_rows(ranking: &Ranking<IpAddr>) -> Vec<Row<Talker>> {
    rows(ranking, |address| Talker { address })
}

/// The host pairs for JSON.
pub(super) fn host_pair_rows(ranking: &Ranking<HostPair>) -> Vec<Row<Pair>> {
    rows(ranking, |HostPair { client, server }| Pair {
        client,
        server,
    })
}

/// The VLANs for JSON.
pub(super) fn vlan_rows(ranking: &Ranking<VlanTags>) -> Vec<Row<Vlan>> {
    rows(ranking, |VlanTags { outer, inner }| Vlan {
        vlan: core::iter::once(outer).chain(inner).collect(),
    })
}

fn rows<K: Copy, T: Serialize>(ranking: &Ranking<K>, key: impl Fn(K) -> T) -> Vec<Row<T>> {
    let rows = ranking.rows.iter().map(|row| Row {
        key: key(row.key),
        connections: row.traffic.connections,
        packets: row.traffic.packets,
        bytes: row.traffic.bytes,
        estimated: row.is_estimate,
    });
    rows.collect()
}

const ROWS: usize = 5;
/// With `-v` as well: there may be a hundred thousand.
const ROWS_ALL: usize = 100;
