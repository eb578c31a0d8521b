//! One run on many machines: who reads, who has which connections, and what is decided together.
//!
//! ```text
//!  a split ─► survey: packets, times ─┐ the driver adds up: first number, clock of each split
//!                                     ▼
//!  a split ─► deal: number, stream time, shard ─► shares, by part
//!                                                   │ shuffled, in the order of numbers
//!  a part  ◄─────────────────────────────────────◄──┘
//!     └─► run_part: the engine itself ─► its connections' records
//!                  └─► notes: what no part can decide ─► join: scans and floods, alerts,
//!                                                              sums of pairs of hosts
//! ```
//!
//! A part has the connections of every N-th shard. Two more parts have what no shard has: one the
//! records of the input stage (anomalies, tunnels), the other the connections between hosts whose
//! connections depend on one another (FTP's data connections).
//!
//! Guarantees that the records of all parts and of the join are those of one run over the whole
//! input, because each step is the engine's own: the dispatcher finds the shard, the clock goes on
//! from split to split, a worker sees all packets of its shards in order. A part gets every
//! fragment, and reassembles as one run does, but has only datagrams of its own shards.
//!
//! A long input may be analysed in slices of time, each with the packets of the connections that
//! were open when it began (`slices`).
//!
//! Deliberately does not move bytes between machines: that is the caller's.

mod caps;
mod deal;
mod frames;
mod join;
mod notes;
mod part;
mod slices;
mod survey;

pub use caps::is_shared;
pub use deal::{Deal, Share, deal};
pub use join::{NextNote, join};
pub use notes::{Joint, Note, PartNote};
pub(crate) use notes::{Notes, Teller};
pub use part::{Part, PartReport, Whole, run_part};
pub(crate) use slices::{Carried, Seam};
pub use slices::{OpenConnection, Slice, carry};
pub use survey::{Begun, Survey, survey};

use crate::run::open;
use crate::{Control, RunError};
use flowpin_capture::{Options, Source};
use flowpin_config::Plan;
use flowpin_packet::SHARD_COUNT;
use std::net::IpAddr;

/// The option of a plan that keeps its run from being divided, and why.
///
/// ```
/// let plan = flowpin_engine::Plan::default();
/// assert_eq!(flowpin_engine::parts::refusal(&plan), None);
/// ```
pub fn refusal(plan: &Plan) -> Option<(&'static str, &'static str)> {
    let refused = [
        (
            plan.packet_count_max.is_some(),
            "count",
            "which packets are the first is known only where one machine reads them all",
        ),
        (
            plan.files.extract.is_some(),
            "extract",
            "each machine would write to a folder of its own",
        ),
        (
            plan.live.record.is_some(),
            "write",
            "packets are recorded by one run",
        ),
        (
            plan.is_live(),
            "interface",
            "live packets are analysed by one machine",
        ),
    ];
    let found = refused.into_iter().find(|(is_set, ..)| *is_set);
    found.map(|(_, option, why)| (option, why))
}

/// How the connections of a run are divided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Division {
    /// Among so many parts, from 1 to 256.
    pub parts: u16,
    /// Connections between these hosts are together in a part of their own.
    pub hosts: Vec<(IpAddr, IpAddr)>,
}

impl Division {
    /// The part that has the records of the input stage.
    pub const fn of_input(&self) -> u16 {
        self.count()
    }

    /// The part that has the connections between [`Division::hosts`].
    pub const fn of_hosts(&self) -> u16 {
        self.count() + 1
    }

    /// All parts.
    pub const fn all(&self) -> u16 {
        self.count() + 2
    }

    const fn count(&self) -> u16 {
        match self.parts {
            0 => 1,
            parts if parts as usize > SHARD_COUNT => SHARD_COUNT as u16,
            parts => parts,
        }
    }
}

/// What is read: a capture in memory (its name, its bytes), or the inputs of the plan.
pub type Bytes = Option<(String, Vec<u8>)>;

fn source(plan: &Plan, bytes: Bytes, control: &Control) -> Result<Source, RunError> {
    match bytes {
        Some((name, bytes)) => {
            let captures = vec![(name.into(), bytes)];
            Ok(Source::from_memory(captures, &Options::from(plan))?)
        }
        None => open(plan, control),
    }
}
