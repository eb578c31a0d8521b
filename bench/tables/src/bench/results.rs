//! What is found in each trace: ICS'09, Table 2.

use super::{ICS09, float};
use crate::lab::{Lab, Trace, plan};
use crate::table::{Cell, Table};
use anyhow::Result;
use flowpin_engine::RunReport;
use flowpin_gen::Service;

/// A trace: its name, its preset, what Table 2 counts (alerts, HTTP, BitTorrent, packets inspected
/// for each connection).
pub(super) type Theirs = (&'static str, &'static str, [Option<f64>; 4]);

const NONE: [Option<f64>; 4] = [None; 4];

pub(super) const FILES: [Theirs; 13] = [
    ("File-1", "ics09-file-1", NONE),
    ("File-2", "ics09-file-2", NONE),
    ("File-3", "ics09-file-3", NONE),
    (
        "File-4",
        "ics09-file-4",
        [Some(21_270.0), Some(1_504.0), Some(18_000.0), Some(6.0)],
    ),
    ("File-5", "ics09-file-5", NONE),
    ("File-6", "ics09-file-6", NONE),
    (
        "File-7",
        "ics09-file-7",
        [Some(1_407.0), Some(110_103.0), Some(0.0), Some(6.0)],
    ),
    (
        "File-8",
        "ics09-file-8",
        [Some(12_064.0), Some(67_621.0), Some(0.0), Some(5.0)],
    ),
    (
        "File-9",
        "ics09-file-9",
        [Some(94_579.0), Some(3_934.0), Some(0.0), Some(3.0)],
    ),
    (
        "File-10",
        "ics09-file-10",
        [Some(483.0), Some(765.0), Some(0.0), Some(3.0)],
    ),
    ("HTTP, 1 kB", "snort-http-1k", NONE),
    ("HTTP, 32 kB", "snort-http-32k", NONE),
    ("HTTP, 64 kB", "snort-http-64k", NONE),
];

pub(super) fn table(lab: &mut Lab) -> Result<Table> {
    let mut table = Table::new(
        "results",
        "What is found in each trace",
        &format!(
            "{ICS09}, Table 2. Ours: traces with the published packets, connections and services, \
             a part of each; their counts are those of the whole."
        ),
        "trace",
    )
    .ours("part", "%")
    .theirs("alerts", "")
    .ours("probed ports told", "")
    .ours("probes made", "")
    .theirs("HTTP", "")
    .ours("HTTP", "")
    .ours("HTTP made", "")
    .theirs("BitTorrent", "")
    .ours("BitTorrent", "")
    .theirs("PI-per-C", "packets")
    .ours("PI-per-C", "packets")
    .draw(&[5, 6]);
    for (name, preset, theirs) in FILES {
        if is_looked_at(lab, name) {
            row(lab, &mut table, name, preset, theirs)?;
        }
    }
    table.note(
        "A connection of theirs may raise several alerts. PI-per-C: packets whose bytes were \
         looked at, for each connection with any. Protocols are found by what is said, on any \
         port.",
    );
    Ok(table)
}

/// The short form looks at what differs most.
pub(super) fn is_looked_at(lab: &Lab, name: &str) -> bool {
    !lab.extent.quick || ["File-4", "File-10"].contains(&name)
}

fn row(
    lab: &mut Lab,
    table: &mut Table,
    name: &str,
    preset: &str,
    theirs: [Option<f64>; 4],
) -> Result<()> {
    let trace = lab.preset(preset)?;
    // What is found is the same in every round.
    let mut taken = lab.run_rounds(&[plan(lab, &trace)], 1)?;
    let Some(report) = taken.first_mut().map(|taken| &mut taken.report) else {
        return Ok(());
    };
    let [alerts, http, torrents, inspected] = theirs;
    let cells: Vec<Cell> = vec![
        (100.0 * trace.part).into(),
        alerts.into(),
        probed(report).into(),
        made(&trace, Service::Probe).into(),
        http.into(),
        found(report, "http").into(),
        made(&trace, Service::Http).into(),
        torrents.into(),
        found(report, "bittorrent").into(),
        inspected.into(),
        inspected_each(report).into(),
    ];
    table.row(name, cells);
    done_with(lab, preset)
}

/// Takes back a trace's room, unless another bench measures with it, too.
pub(super) fn done_with(lab: &mut Lab, preset: &str) -> Result<()> {
    if preset == "ics09-file-1" {
        return Ok(());
    }
    lab.forget(preset)
}

/// Pairs of host and port that the scans told tried.
fn probed(report: &RunReport) -> f64 {
    report
        .found
        .scans
        .scans
        .iter()
        .map(|scan| float(scan.targets))
        .sum()
}

fn found(report: &RunReport, app: &str) -> f64 {
    let traffic = report.found.connections.by_app.get(app);
    traffic.map_or(0.0, |traffic| float(traffic.connections))
}

fn made(trace: &Trace, service: Service) -> f64 {
    let made = trace.totals.services.get(&service);
    made.map_or(0.0, |totals| float(totals.connections))
}

fn inspected_each(report: &RunReport) -> Option<f64> {
    let of = report.identify;
    (of.searched > 0).then(|| float(of.inspected) / float(of.searched))
}
