//! The benches: each makes one table.

mod blocks;
mod connections;
mod fifo;
mod handover;
mod malloc;
mod memcpy;
mod memory;
mod modes;
mod patterns;
mod rates;
mod results;
mod speedup;
mod stages;

pub(crate) use blocks::{Blocks, measured as blocks_measured};

use crate::lab::Lab;
use crate::table::Table;
use anyhow::Result;

/// One of them.
pub(crate) struct Bench {
    pub(crate) name: &'static str,
    /// What it shows, in one line.
    pub(crate) about: &'static str,
    pub(crate) run: fn(&mut Lab) -> Result<Table>,
}

/// All, in the order in which they are told.
pub(crate) const ALL: [Bench; 12] = [
    Bench {
        name: "results",
        about: "what is found in each trace (ICS'09 Table 2)",
        run: results::table,
    },
    Bench {
        name: "rates",
        about: "how fast each trace is analysed (ICS'09 Figure 5; Snort note)",
        run: rates::table,
    },
    Bench {
        name: "modes",
        about: "five ways to divide the work, and all connections on one worker (ICS'09 Table 3)",
        run: modes::table,
    },
    Bench {
        name: "connections",
        about: "4 thousand to 10 million connections, cache misses (ICS'09 Tables 5, 6)",
        run: connections::table,
    },
    Bench {
        name: "stages",
        about: "cycles of each stage (parser paper, Tables II, V)",
        run: stages::table,
    },
    Bench {
        name: "speedup",
        about: "one core to many, measured and predicted (parser paper, Table IV, Figure 5)",
        run: speedup::table,
    },
    Bench {
        name: "patterns",
        about: "an HTTP grammar with 10 and 20 more rules (parser paper, Table VII)",
        run: patterns::table,
    },
    Bench {
        name: "fifo",
        about: "the ring and other queues (ICS'09 section 4.5)",
        run: fifo::table,
    },
    Bench {
        name: "handover",
        about: "packets one by one through each queue, in the whole pipeline (ICS'09 Table 4)",
        run: handover::table,
    },
    Bench {
        name: "memory",
        about: "pools and allocators (parser paper, Table I)",
        run: memory::table,
    },
    Bench {
        name: "malloc",
        about: "malloc instead of pools, in the whole pipeline (parser paper, Table VI)",
        run: malloc::table,
    },
    Bench {
        name: "memcpy",
        about: "copying a packet, or not (ICS'09 section 3.5)",
        run: memcpy::table,
    },
];

/// Where the papers measured.
const ICS09: &str = "Theirs: ICS'09";
const ICS09_MACHINE: &str = "two Xeon E5410, 2.3 GHz, 2 × 6 MB of second-level cache";
const PARSER: &str = "Theirs: the parser paper";
const PARSER_MACHINE: &str = "Xeon L5640, 2.26 GHz, six cores, 12 MB of third-level cache";

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn float(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests;
