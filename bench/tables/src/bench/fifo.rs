//! The ring and other queues: ICS'09, section 4.5.

use super::{ICS09, ICS09_MACHINE};
use crate::lab::Lab;
use crate::table::{Cell, Table};
use anyhow::Result;
use flowpin_bench_fifo::{measured, shown_after};

/// Nanoseconds an operation with no work, and with a spinning consumer; their optimised FIFO is
/// what our ring goes back to.
const THEIRS: [(&str, f64, f64); 2] = [("flowpin", 35.0, 45.0), ("FastForward", 35.0, 70.0)];

/// The age at which a part of a chunk is shown.
const AGE_NS: f64 = 5_000.0;

pub(super) fn table(lab: &mut Lab) -> Result<Table> {
    let (items, rounds, alone) = if lab.extent.quick {
        (500, 1, 9)
    } else {
        (1_000_000, 2 * lab.extent.rounds, 2_000)
    };
    let rows = lab.watched(|| Ok(measured(items, rounds)))?;
    let mut table = Table::new(
        "fifo",
        "From one core to another",
        &format!(
            "{ICS09}, section 4.5 ({ICS09_MACHINE}); the row flowpin has their optimised FIFO's \
             figures beside. Ours: items of 32 bytes, 1,024 places, the best of the rounds."
        ),
        "queue",
    )
    .theirs("no work", "ns an item")
    .ours("no work", "ns an item")
    .theirs("spinning", "ns an item")
    .ours("spinning", "ns an item")
    .ours("real work", "ns an item")
    .ours("one way", "ns")
    .draw(&[0, 1, 2, 3, 4]);
    let mut times = [None; 2];
    for row in &rows {
        let theirs = THEIRS.iter().find(|(name, ..)| *name == row.name);
        let [nothing, spinning, real] = row.item_ns;
        match row.name {
            "flowpin" => times[0] = Some(row.item_ns),
            "FastForward" => times[1] = Some(row.item_ns),
            _ => {}
        }
        let cells: Vec<Cell> = vec![
            theirs.map(|(_, nothing, _)| *nothing).into(),
            nothing.into(),
            theirs.map(|(.., spinning)| *spinning).into(),
            spinning.into(),
            real.into(),
            row.latency_ns.into(),
        ];
        table.row(row.name, cells);
    }
    if let [Some(ours), Some(fast_forward)] = times {
        table.note(format!(
            "FastForward : ours is {:.1} with no work, {:.1} spinning, {:.1} with real work (the \
             papers': 1.0 and 1.6; on their whole system 1.04 to 1.09, Table 4).",
            fast_forward[0] / ours[0],
            fast_forward[1] / ours[1],
            fast_forward[2] / ours[2],
        ));
    }
    table.note(
        "The aim, 2 × FastForward spinning, is not held: on one virtual machine, whose two \
         processors share a cache in some hours and none in others, the factor was between 0.6 and \
         2.1. With real work between the items, which is what stages do, it was 2.5 to 4.0.",
    );
    let shown = lab.watched(|| Ok(shown_after(AGE_NS, alone)))?;
    table.note(format!(
        "An item alone in its chunk was seen by the other side after {:.1} µs (median), with \
         `flush_if_older_than` set to {:.0} µs.",
        shown / 1000.0,
        AGE_NS / 1000.0
    ));
    Ok(table)
}
