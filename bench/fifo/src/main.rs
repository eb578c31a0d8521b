//! The ring against Lamport's queue, FastForward, MCRingBuffer, B-Queue, `rtrb` and `crossbeam`:
//! the ICS'09 paper's section 4.5, theirs beside ours.
//!
//! usage: `flowpin-bench-fifo [--items N] [--rounds N] [--json FILE] [--svg FILE]`
//!
//! All queues in turn in each round, the least of the rounds told: a side that loses its processor
//! stops the other, so averages say how busy the machine was.

mod measure;
mod queues;
mod report;

use measure::{Work, latency, throughput};
use queues::{BQueue, CrossbeamArray, FastForward, Flowpin, Lamport, McRing, Queue, Rtrb};
use report::Row;
use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(options) = Options::of(std::env::args().skip(1)) else {
        eprintln!("usage: flowpin-bench-fifo [--items N] [--rounds N] [--json FILE] [--svg FILE]");
        return ExitCode::from(2);
    };
    let rows = measured(options.items, options.rounds);
    print!("{}", report::table(&rows));
    let files = [
        (&options.json, report::json(&rows)),
        (&options.svg, report::picture(&rows)),
    ];
    for (path, text) in files {
        if let Some(path) = path
            && let Err(error) = std::fs::write(path, text)
        {
            eprintln!("flowpin-bench-fifo: {path}: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

struct Options {
    items: u64,
    rounds: u32,
    json: Option<String>,
    svg: Option<String>,
}

impl Options {
    fn of(mut words: impl Iterator<Item = String>) -> Option<Self> {
        let mut options = Self {
            items: 2_000_000,
            rounds: 5,
            json: None,
            svg: None,
        };
        while let Some(word) = words.next() {
            match word.as_str() {
                "--items" => options.items = words.next()?.parse().ok()?,
                "--rounds" => options.rounds = words.next()?.parse().ok()?,
                "--json" => options.json = Some(words.next()?),
                "--svg" => options.svg = Some(words.next()?),
                _ => return None,
            }
        }
        Some(options)
    }
}

/// One kind of queue: its name, and how to measure it.
struct Contender {
    name: &'static str,
    throughput: fn(Work, u64) -> f64,
    latency: fn(u64) -> f64,
}

const fn contender<Q: Queue>(name: &'static str) -> Contender {
    Contender {
        name,
        throughput: throughput::<Q>,
        latency: latency::<Q>,
    }
}

const CONTENDERS: [Contender; 7] = [
    contender::<Flowpin>("flowpin"),
    contender::<Lamport>("Lamport"),
    contender::<FastForward>("FastForward"),
    contender::<McRing>("MCRingBuffer"),
    contender::<BQueue>("B-Queue"),
    contender::<Rtrb>("rtrb"),
    contender::<CrossbeamArray>("crossbeam"),
];

fn measured(items: u64, rounds: u32) -> Vec<Row> {
    let mut rows: Vec<Row> = CONTENDERS
        .iter()
        .map(|queue| Row::new(queue.name))
        .collect();
    for _ in 0..rounds.max(1) {
        for (queue, row) in CONTENDERS.iter().zip(&mut rows) {
            for ((work, _), least) in Work::ALL.iter().zip(&mut row.item_ns) {
                *least = least.min((queue.throughput)(*work, items));
            }
            row.latency_ns = row.latency_ns.min((queue.latency)((items / 50).max(10)));
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::{CONTENDERS, measured, report};

    /// The short form: it finishes, and every field is a time.
    #[test]
    fn the_short_form_measures_every_queue() {
        let rows = measured(500, 1);
        assert_eq!(rows.len(), CONTENDERS.len());
        for row in &rows {
            assert!(
                row.item_ns.iter().all(|ns| ns.is_finite() && *ns > 0.0),
                "{row:?}"
            );
            assert!(
                row.latency_ns.is_finite() && row.latency_ns > 0.0,
                "{row:?}"
            );
        }
        let json: serde_json::Value = serde_json::from_str(&report::json(&rows)).unwrap();
        assert_eq!(json["queues"].as_array().unwrap().len(), rows.len());
        assert!(json["theirs"]["FastForward"]["spinning"].is_number());
        assert!(report::table(&rows).contains("B-Queue"));
        assert!(report::picture(&rows).starts_with("<svg"));
    }
}
