//! The run itself: its speed, its workers, what it read and what it wrote.

use super::{number, seconds};
use flowpin_engine::RunReport;
use serde::Serialize;
use std::path::PathBuf;

#[derive(Serialize)]
pub(super) struct Run {
    pipeline: String,
    wall_s: f64,
    cpu_s: f64,
    packets_per_s: f64,
    bits_per_s: f64,
    packets_per_cpu_s: f64,
    peak_memory_bytes: u64,
    reloads: u64,
}

#[derive(Serialize)]
pub(super) struct Worker {
    packets: u64,
    connections: u64,
    heaviest_connection_packets: u64,
    cpu_s: f64,
}

#[derive(Serialize)]
pub(super) struct Input {
    path: String,
    format: String,
    packets: u64,
    notes: Vec<String>,
    damage: Option<String>,
}

#[derive(Serialize)]
pub(super) struct Output {
    path: String,
    records: u64,
    bytes: u64,
}

pub(super) fn run(report: &RunReport) -> Run {
    Run {
        pipeline: report.pipeline.clone(),
        wall_s: report.wall.as_secs_f64(),
        cpu_s: report.cpu.as_secs_f64(),
        packets_per_s: number::rate(report.packets, report.wall),
        bits_per_s: 8.0 * number::rate(report.frame_bytes, report.wall),
        packets_per_cpu_s: number::rate(report.packets, report.cpu),
        peak_memory_bytes: report.peak_memory_bytes,
        reloads: report.reloads,
    }
}

pub(super) fn workers(report: &RunReport) -> Vec<Worker> {
    let workers = report.workers.iter();
    workers
        .map(|worker| Worker {
            packets: worker.packets,
            connections: worker.connections,
            heaviest_connection_packets: worker.heaviest_packets,
            cpu_s: seconds(worker.cpu_ns),
        })
        .collect()
}

/// What was done beside the workers' own work.
#[derive(Serialize)]
pub(super) struct Step {
    name: &'static str,
    cpu_s: f64,
}

pub(super) fn steps(report: &RunReport) -> Vec<Step> {
    let steps = report.steps.iter();
    steps
        .map(|step| Step {
            name: step.name,
            cpu_s: seconds(step.cpu_ns),
        })
        .collect()
}

pub(super) fn inputs(report: &RunReport) -> Vec<Input> {
    let inputs = report.inputs.iter();
    inputs
        .map(|input| Input {
            path: input.path.display().to_string(),
            format: input.format.clone(),
            packets: input.packets,
            notes: input.notes.clone(),
            damage: input.damage.clone(),
        })
        .collect()
}

pub(super) fn outputs(report: &RunReport) -> Vec<Output> {
    let outputs = report.outputs.iter();
    outputs
        .map(|output| Output {
            path: output.path.display().to_string(),
            records: output.records,
            bytes: output.bytes,
        })
        .collect()
}

pub(super) fn names(paths: &[PathBuf]) -> Vec<String> {
    paths
        .iter()
        .map(|path| path.display().to_string())
        .collect()
}
