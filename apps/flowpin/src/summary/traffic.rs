//! Sections about packets: inputs, rates, workers, the account of every packet, outputs.

use super::Detail;
use super::number;
use super::page::{Cell, Page};
use flowpin_engine::{InputReport, RunReport, WorkerReport};
use std::time::Duration;

/// The inputs.
pub(super) fn inputs(page: &mut Page, report: &RunReport, detail: Detail) {
    page.title("Read", "");
    let shown = detail.rows(INPUT_ROWS);
    // A damaged file is shown even if it is not among the first.
    let visible = |at: &usize, damaged: bool| *at < shown || damaged;
    let rows: Vec<_> = report
        .inputs
        .iter()
        .enumerate()
        .filter(|(at, input)| visible(at, input.damage.is_some()))
        .map(|(_, input)| input_row(input))
        .collect();
    page.rows(&rows);
    if report.inputs.len() > rows.len() {
        page.line(Cell::dim(format!(
            "and {} more (-v lists them)",
            report.inputs.len() - rows.len()
        )));
    }
    if report.filtered > 0 {
        let (packets, verb) = number::things_and(report.filtered, "packet", ["was", "were"]);
        page.line(Cell::left(format!(
            "{packets} {verb} left out, by the filter or by time, and not included below"
        )));
    }
    if let Some(packets) = report.stopped_after {
        page.line(Cell::left(format!(
            "stopped after {} (-n)",
            number::things(packets, "packet")
        )));
    }
    if report.stopped_early {
        page.line(Cell::alert("stopped before the end of the input"));
    }
}

fn input_row(input: &InputReport) -> Vec<Cell> {
    let about = match &input.damage {
        Some(damage) => Cell::alert(damage.clone()),
        None if input.notes.is_empty() => Cell::dim(input.format.clone()),
        None => Cell::left(format!("{}; {}", input.format, input.notes.join("; "))),
    };
    vec![
        Cell::left(input.path.display().to_string()),
        Cell::right(number::things(input.packets, "packet")),
        about,
    ]
}

/// Packets and bytes, the time of the capture, and the speed of the analysis.
pub(super) fn traffic(page: &mut Page, report: &RunReport) {
    let (packets, bytes) = (report.packets, report.frame_bytes);
    let mean = bytes.checked_div(packets).unwrap_or(0);
    page.title("Traffic", "");
    let mut rows = vec![
        vec![
            Cell::left("packets"),
            Cell::right(number::count(packets)),
            Cell::left(format!(
                "at {}",
                number::si(number::rate(packets, report.wall), "pps")
            )),
        ],
        vec![
            Cell::left("bytes"),
            Cell::right(number::bytes(bytes)),
            Cell::left(format!(
                "at {}, {} a packet",
                number::si(8.0 * number::rate(bytes, report.wall), "bit/s"),
                number::bytes(mean)
            )),
        ],
    ];
    if let (Some(first), Some(last)) = (report.first, report.last) {
        let span = Duration::from_nanos(last.nanos_since(first));
        let (from_date, from) = number::date_and_time(first);
        let (to_date, to) = number::date_and_time(last);
        let to = if from_date == to_date {
            to
        } else {
            format!("{to_date} {to}")
        };
        rows.push(vec![
            Cell::left("captured over"),
            Cell::right(number::duration(span)),
            Cell::left(format!("{from_date} {from} to {to} UTC")),
        ]);
    }
    rows.push(vec![
        Cell::left("analysed in"),
        Cell::right(number::duration(report.wall)),
        Cell::left(format!(
            "{} of processor time ({} packets per CPU-second), {} of memory, pipeline {}",
            number::duration(report.cpu),
            number::si(number::rate(packets, report.cpu), "").trim_end(),
            number::memory(report.peak_memory_bytes),
            report.pipeline
        )),
    ]);
    page.rows(&rows);
}

/// The shares of the workers.
pub(super) fn workers(page: &mut Page, report: &RunReport, detail: Detail) {
    let workers = &report.workers;
    if workers.len() < 2 {
        return;
    }
    let total: u64 = workers.iter().map(|worker| worker.packets).sum();
    let busiest = workers.iter().map(|worker| worker.packets).max();
    let mean = total.div_ceil(u64::try_from(workers.len()).unwrap_or(1));
    let aside = format!(
        "the busiest has {} of the packets; an even share is {}",
        number::percent(busiest.unwrap_or(0), total),
        number::percent(mean, total),
    );
    page.title("Workers", &aside);
    let rows: Vec<_> = workers
        .iter()
        .enumerate()
        .take(detail.rows(WORKER_ROWS))
        .map(|(at, worker)| worker_row(at, worker, total))
        .collect();
    page.rows(&rows);
    if !report.steps.is_empty() {
        page.line(Cell::dim(steps(report)));
        if let Some(bound) = bound(report) {
            page.line(Cell::alert(bound));
        }
    }
    let heaviest = workers
        .iter()
        .map(|worker| worker.heaviest_packets)
        .max()
        .unwrap_or(0);
    // A connection stays on one core: from this size on, it decides the pace.
    if heaviest > mean {
        page.line(Cell::alert(format!(
            "one connection has {} of all packets and cannot be split: more workers will not help",
            number::percent(heaviest, total)
        )));
    }
}

/// What all threads have done beside it.
fn steps(report: &RunReport) -> String {
    let steps = report.steps.iter().map(|step| {
        let time = Duration::from_nanos(step.cpu_ns);
        let name = match step.name {
            "order" => "in order",
            name => name,
        };
        format!("{name} {}", number::duration(time))
    });
    let steps: Vec<_> = steps.collect();
    format!("steps, busy on all threads: {}", steps.join(", "))
}

/// The step that one thread does at a time and that bounds the run, if one does.
fn bound(report: &RunReport) -> Option<String> {
    let wall = u64::try_from(report.wall.as_nanos()).unwrap_or(u64::MAX);
    let is_bound = |cpu_ns: u64| cpu_ns >= wall / 100 * BOUND_PERCENT;
    let mut steps = report.steps.iter().filter(|step| is_bound(step.cpu_ns));
    let what = steps.find_map(|step| match step.name {
        "read" => Some("reading, and decompressing if need be,"),
        "input" => Some("the input"),
        "order" => Some("handing out in order"),
        "write" => Some("merging and writing"),
        _ => None,
    })?;
    Some(format!(
        "{what} bounds this run: one thread does it at a time, so more will not help"
    ))
}

/// Of the run's time, from which on a step bounds it.
const BOUND_PERCENT: u64 = 75;

fn worker_row(at: usize, worker: &WorkerReport, total: u64) -> Vec<Cell> {
    let mut row = vec![
        Cell::right((at + 1).to_string()),
        Cell::right(number::things(worker.packets, "packet")),
        Cell::right(number::percent(worker.packets, total)),
        Cell::bar(worker.packets, total),
        Cell::right(number::things(worker.connections, "connection")),
    ];
    if worker.cpu_ns > 0 {
        let time = Duration::from_nanos(worker.cpu_ns);
        row.push(Cell::right(format!("{} busy", number::duration(time))));
    }
    row
}

/// The account of every packet: received = finished + absorbed + held + lost.
pub(super) fn conservation(page: &mut Page, report: &RunReport) {
    let sums = &report.conservation;
    page.title("Every packet accounted for", "");
    let ways = [
        (sums.on_connections, "", "on connections"),
        (
            sums.icmp_errors,
            "ICMP error",
            "about packets of connections",
        ),
        (sums.non_ip, "", "not IP (ARP, LLDP, …)"),
        (sums.unsupported_link, "", "of an unsupported link type"),
        (sums.malformed, "", "refused"),
    ];
    let finished: u64 = ways.iter().map(|(count, ..)| count).sum();
    page.line(Cell::left(format!(
        "{} received = {} finished + {} absorbed + {} held + {} lost",
        number::count(sums.received),
        number::count(finished),
        number::count(sums.absorbed),
        number::count(sums.held),
        number::count(sums.lost),
    )));
    let terms: Vec<String> = ways
        .iter()
        .filter(|(count, ..)| *count > 0)
        .map(|&(count, unit, what)| match unit {
            "" => format!("{} {what}", number::count(count)),
            unit => format!("{} {what}", number::things(count, unit)),
        })
        .collect();
    if !terms.is_empty() {
        page.line(Cell::dim(format!("finished: {}", terms.join(", "))));
    }
    if sums.absorbed > 0 {
        page.line(Cell::dim(
            "absorbed: fragments that became part of a datagram",
        ));
    }
    if sums.held > 0 {
        page.line(Cell::dim(
            "held: fragments still waiting for others at the end of the input",
        ));
    }
    let missing = sums.missing();
    if missing != 0 {
        let is_one = missing.unsigned_abs() == 1;
        let packets = if is_one { "packet is" } else { "packets are" };
        page.line(Cell::alert(format!(
            "{missing} {packets} not accounted for: this is a defect, please report it"
        )));
    }
}

/// The outputs.
pub(super) fn outputs(page: &mut Page, report: &RunReport, detail: Detail) {
    if report.outputs.is_empty() {
        return;
    }
    page.title("Written", "");
    let shown = detail.rows(OUTPUT_ROWS);
    let rows: Vec<_> = report
        .outputs
        .iter()
        .take(shown)
        .map(|output| {
            vec![
                Cell::left(output.path.display().to_string()),
                Cell::right(number::things(output.records, "record")),
                Cell::right(number::bytes(output.bytes)),
            ]
        })
        .collect();
    page.rows(&rows);
    if report.outputs.len() > rows.len() {
        page.line(Cell::dim(format!(
            "and {} more (-v lists them)",
            report.outputs.len() - rows.len()
        )));
    }
    let earlier = &report.earlier;
    for (what, files) in [("replaced", &earlier.replaced), ("left", &earlier.left)] {
        if !files.is_empty() {
            let count = number::things(files.len() as u64, "log");
            let names: Vec<_> = files
                .iter()
                .map(|path| path.display().to_string())
                .collect();
            let names = names.join(", ");
            page.line(Cell::left(format!(
                "{what} {count} of an earlier run: {names}"
            )));
        }
    }
}

const INPUT_ROWS: usize = 8;
const OUTPUT_ROWS: usize = 12;
const WORKER_ROWS: usize = 16;
