//! The pipeline as a picture: a box for each stage, as tall as its cost, by thread; the thread that
//! sets the pace is marked.

use super::{shape, side};
use flowpin_engine::{Mapping, Profile, Side};
use flowpin_words::number;
use std::fmt::Write as _;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 420.0;
const TOP: f64 = 70.0;
const TALL: f64 = 270.0;
const COLUMN: f64 = 200.0;
const GAP: f64 = 40.0;

pub(crate) fn picture(profile: &Profile) -> String {
    let mut svg = String::new();
    // Writing to a string cannot fail.
    let _ = draw(&mut svg, profile);
    svg
}

fn draw(svg: &mut String, profile: &Profile) -> std::fmt::Result {
    let best = best(profile);
    writeln!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>"
    )?;
    let title = match best {
        Some(mapping) => format!(
            "Cycles a packet by stage; {} on {}: {} predicted",
            shape(mapping),
            number::things(mapping.cores as u64, "core"),
            number::si(mapping.predicted, "packets/s"),
        ),
        None => "Cycles a packet by stage".to_owned(),
    };
    text(svg, GAP, 28.0, "16", &title)?;
    let ways = best.map_or(1, |mapping| mapping.ways).max(1);
    let slowest = best.map_or("", |mapping| mapping.slowest);
    let threads = [Side::Input, Side::Worker, Side::Output];
    let pace = threads.map(|thread| cycles(profile, thread) / share(thread, ways));
    let most = pace.iter().copied().fold(1.0, f64::max);
    for (nth, thread) in threads.into_iter().enumerate() {
        #[expect(clippy::cast_precision_loss, reason = "three columns")]
        let x = GAP + nth as f64 * (COLUMN + GAP);
        let scale = TALL / most / share(thread, ways);
        let mut y = TOP + TALL;
        for stage in profile.stages.iter().filter(|stage| stage.side == thread) {
            let tall = stage.cost.cycles.max(0.0) * scale;
            y -= tall;
            let colour = colour(thread, slowest);
            writeln!(
                svg,
                "<rect x=\"{x}\" y=\"{y:.1}\" width=\"{COLUMN}\" height=\"{tall:.1}\" \
                 fill=\"{colour}\" stroke=\"white\"/>"
            )?;
            if tall > 13.0 {
                let label = format!("{} {:.0}", stage.name, stage.cost.cycles);
                text(svg, x + 6.0, y + tall / 2.0 + 4.0, "12", &label)?;
            }
        }
        let name = match thread {
            Side::Worker if ways > 1 => format!("{ways} workers, each its share"),
            _ => side(thread).to_owned(),
        };
        let below = TOP + TALL + 22.0;
        text(svg, x, below, "13", &name)?;
        let label = format!("{:.0} cycles", pace[nth]);
        text(svg, x, below + 18.0, "12", &label)?;
        if is_slowest(thread, slowest) {
            text(svg, x, below + 36.0, "12", "sets the pace")?;
        }
    }
    writeln!(svg, "</svg>")
}

/// The mapping for the fewest cores beyond which little is gained.
fn best(profile: &Profile) -> Option<&Mapping> {
    let most = profile.mappings.last()?.predicted;
    profile
        .mappings
        .iter()
        .find(|mapping| mapping.predicted >= 0.95 * most)
}

fn cycles(profile: &Profile, thread: Side) -> f64 {
    let stages = profile.stages.iter().filter(|stage| stage.side == thread);
    stages.map(|stage| stage.cost.cycles.max(0.0)).sum()
}

/// Among how many threads the work is divided.
#[expect(clippy::cast_precision_loss, reason = "64 at most")]
fn share(thread: Side, ways: usize) -> f64 {
    if thread == Side::Worker {
        ways as f64
    } else {
        1.0
    }
}

fn is_slowest(thread: Side, slowest: &str) -> bool {
    match thread {
        Side::Input => slowest == "input",
        Side::Worker => slowest == "workers",
        Side::Output => slowest == "output",
    }
}

fn colour(thread: Side, slowest: &str) -> &'static str {
    if is_slowest(thread, slowest) {
        "#f2b8a0"
    } else {
        "#b8d4ea"
    }
}

fn text(svg: &mut String, x: f64, y: f64, size: &str, what: &str) -> std::fmt::Result {
    let what = what.replace('&', "&amp;").replace('<', "&lt;");
    writeln!(
        svg,
        "<text x=\"{x}\" y=\"{y:.1}\" font-size=\"{size}\">{what}</text>"
    )
}
