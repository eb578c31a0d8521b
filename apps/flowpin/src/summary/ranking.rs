//! Tables of the heaviest addresses and pairs of hosts.

use super::page::{Cell, Page};
use super::{Detail, number};
use core::net::IpAddr;
use flowpin_engine::{HostPair, Ranking, RunReport};
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
        ("Top talkers", "addresses"),
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
        ("Top host pairs", "clients and servers"),
        name,
    );
}

fn section<K: Copy>(
    page: &mut Page,
    report: &RunReport,
    detail: Detail,
    ranking: &Ranking<K>,
    (title, keys): (&str, &str),
    name: impl Fn(K) -> Vec<Cell>,
) {
    if ranking.keys == 0 {
        return;
    }
    let is_exact = ranking.rest.connections == 0;
    let about = if is_exact { "" } else { "about " };
    let known = number::count(ranking.keys);
    page.title(title, &format!("of {about}{known} {keys}"));
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
        page.line(Cell::dim(format!(
            "more {keys} than have exact totals: \"about\" marks estimates, light ones may be \
             missing"
        )));
    }
}

/// A row for machines.
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

/// The talkers for machines.
pub(super) fn talker_rows(ranking: &Ranking<IpAddr>) -> Vec<Row<Talker>> {
    rows(ranking, |address| Talker { address })
}

/// The host pairs for machines.
pub(super) fn host_pair_rows(ranking: &Ranking<HostPair>) -> Vec<Row<Pair>> {
    rows(ranking, |HostPair { client, server }| Pair {
        client,
        server,
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
/// Even in detail: there may be a hundred thousand.
const ROWS_ALL: usize = 100;
