//! The summary as JSON. The schema is documented in `docs/user/summary.md` and only grows.

mod connections;
mod quality;
mod run;

use super::alerts::Alerts;
use super::hints::{Hint, hints};
use super::scans::Scans;
use super::streams::Streams;
use super::{number, ranking, service};
use connections::{Connections, connections};
use flowpin_counters::Loss;
use flowpin_engine::RunReport;
use quality::{Conservation, Quality, Refusal, conservation, quality, refusals};
use run::{Input, Output, Run, Step, Worker, inputs, names, outputs, run, steps, workers};
use serde::Serialize;
use std::collections::BTreeMap;

/// The summary as one JSON object in several lines.
///
/// # Errors
/// None in practice: every value is a number or text.
pub(crate) fn json(report: &RunReport) -> serde_json::Result<String> {
    let mut text = serde_json::to_string_pretty(&Summary::from(report))?;
    text.push('\n');
    Ok(text)
}

#[derive(Serialize)]
struct Summary {
    schema: u32,
    flowpin: &'static str,
    stopped_early: bool,
    stopped_after_packets: Option<u64>,
    damaged: bool,
    hints: Vec<Hint>,
    run: Run,
    traffic: Volume,
    connections: Connections,
    scans: Scans,
    alerts: Option<Alerts>,
    identification: Identification,
    messages: Messages,
    quality: Quality,
    streams: Streams,
    losses: BTreeMap<&'static str, u64>,
    refusals: Vec<Refusal>,
    conservation: Conservation,
    workers: Vec<Worker>,
    steps: Vec<Step>,
    inputs: Vec<Input>,
    outputs: Vec<Output>,
    replaced: Vec<String>,
    left: Vec<String>,
}

#[derive(Serialize)]
struct Volume {
    packets: u64,
    bytes: u64,
    filtered: u64,
    first: Option<String>,
    last: Option<String>,
    duration_s: f64,
}

#[derive(Serialize)]
struct Identification {
    connections: u64,
    packets: u64,
    packets_per_connection: f64,
    verdicts_taken_back: u64,
}

#[derive(Serialize)]
struct Messages {
    connections: u64,
    by_kind: BTreeMap<String, u64>,
}

impl From<&RunReport> for Summary {
    fn from(report: &RunReport) -> Self {
        Self {
            schema: SCHEMA,
            flowpin: env!("CARGO_PKG_VERSION"),
            stopped_early: report.stopped_early,
            stopped_after_packets: report.stopped_after,
            damaged: report.is_damaged(),
            hints: hints(report),
            run: run(report),
            traffic: volume(report),
            connections: connections(&report.found),
            scans: Scans::from(&report.found.scans),
            alerts: Alerts::of(&report.found.alerts),
            identification: identification(report),
            messages: messages(report),
            quality: quality(report),
            streams: Streams::from(&report.reassembly),
            losses: Loss::ALL
                .iter()
                .map(|&loss| (loss.name(), report.losses.of(loss)))
                .collect(),
            refusals: refusals(report),
            conservation: conservation(report),
            workers: workers(report),
            steps: steps(report),
            inputs: inputs(report),
            outputs: outputs(report),
            replaced: names(&report.earlier.replaced),
            left: names(&report.earlier.left),
        }
    }
}

fn volume(report: &RunReport) -> Volume {
    let span = match (report.first, report.last) {
        (Some(first), Some(last)) => last.nanos_since(first),
        _ => 0,
    };
    Volume {
        packets: report.packets,
        bytes: report.frame_bytes,
        filtered: report.filtered,
        first: report.first.map(number::rfc3339),
        last: report.last.map(number::rfc3339),
        duration_s: seconds(span),
    }
}

fn identification(report: &RunReport) -> Identification {
    let stats = &report.identify;
    Identification {
        connections: stats.searched,
        packets: stats.inspected,
        packets_per_connection: number::real(stats.inspected) / number::real(stats.searched.max(1)),
        verdicts_taken_back: stats.taken_back,
    }
}

fn messages(report: &RunReport) -> Messages {
    let read = report.messages.iter().filter(|kind| kind.built > 0);
    Messages {
        connections: report.parse.connections,
        by_kind: read.map(|kind| (kind.name.clone(), kind.built)).collect(),
    }
}

fn seconds(nanos: u64) -> f64 {
    number::real(nanos) / 1e9
}

/// Raised when a field is renamed, removed or changes its meaning; new fields do not raise it.
const SCHEMA: u32 = 1;
