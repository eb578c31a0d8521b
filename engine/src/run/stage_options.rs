//! The options of the stages, made from a plan, and the memory that they share.
//!
//! ```text
//!  --memory ─┬─ scans, if they are looked for               an eighth, 64 MiB at most
//!            ├─ fragments, in the in-order step             the rest of a quarter, 512 MiB at most
//!            ├─ decoded bodies, where they are wanted       half
//!            ├─ delivered bytes to compare, if wanted       as set
//!            ├─ rows of Parquet files, if they are written  an eighth, 128 MiB at most
//!            └─ one budget a shard, for everything else     the rest, in 256 equal parts
//! ```

use crate::worker::stages;
use flowpin_config::{Format, OutputPlan, Plan};
use flowpin_defrag::DefragOptions;
use flowpin_flow::FlowOptions;
use flowpin_identify::SearchOptions;
use flowpin_memory::Budget;
use flowpin_packet::SHARD_COUNT;
use flowpin_parser::ParserSetup;
use flowpin_portscan::ScanCaps;
use flowpin_reassembly::{ReassemblyOptions, Urgent};

/// Fragments get at most a quarter, and no more than this: a million small useless fragments of one
/// second fit, so that a real datagram among them completes. Memory is taken only when needed.
const FRAGMENT_BYTES_MAX: u64 = 512 << 20;

fn fragment_bytes(plan: &Plan) -> u64 {
    let share = (plan.memory_bytes / 4).min(FRAGMENT_BYTES_MAX) - scan_bytes(plan);
    let set = plan.defragmentation.memory_bytes;
    // Connections need memory as well.
    set.unwrap_or(share).min(plan.memory_bytes / 2)
}

/// What stands for scans is not taken from this: their caps follow from the memory.
fn scan_bytes(plan: &Plan) -> u64 {
    match plan.scans.enabled {
        true => ScanCaps::of(plan.memory_bytes).bytes(),
        false => 0,
    }
}

/// Delivered bytes, kept to compare retransmissions with, get at most a quarter.
fn compared_bytes(plan: &Plan) -> u64 {
    if !plan.streams.enabled {
        return 0;
    }
    plan.streams.compared_bytes.min(plan.memory_bytes / 4)
}

/// Rows that wait until a row group of a Parquet file is large enough get an eighth at most.
fn parquet_bytes(plan: &Plan) -> u64 {
    let output = &plan.output;
    if output.is_one_place() || !output.formats.contains(&Format::Parquet) {
        return 0;
    }
    (plan.memory_bytes / 8).min(PARQUET_BYTES_MAX)
}

/// Row groups of the usual length for two kinds of records that are frequent.
const PARQUET_BYTES_MAX: u64 = 128 << 20;
/// Row groups would be useless, and more columns than rows, with less.
const PARQUET_BYTES_MIN: u64 = 8 << 20;

/// Where and how records are written.
pub(crate) fn output(plan: &Plan) -> OutputPlan {
    OutputPlan {
        parquet_bytes: parquet_bytes(plan).max(PARQUET_BYTES_MIN),
        file_threads: !plan.is_live(),
        may_wait: !plan.is_live(),
        ..plan.output.clone()
    }
}

/// Decoded bodies get half.
fn body_bytes(plan: &Plan) -> u64 {
    if plan.files.decode && plan.parse.enabled {
        plan.memory_bytes / 2
    } else if has_rules(plan) {
        plan.memory_bytes / 4
    } else {
        0
    }
}

/// Whether a run begins with rules. One that may take some later has the memory of one without, so
/// that its recording gives its records, whatever is evicted.
fn has_rules(plan: &Plan) -> bool {
    let rules = plan.rules.loaded.as_ref();
    rules.is_some_and(|set| !set.rules.is_empty())
}

/// The memory of bodies that are decoded, beside what a worker's shards share.
pub(crate) fn bodies(plan: &Plan, shared: &Budget) -> Budget {
    let bytes = match body_bytes(plan) {
        // Of rules that come later: beyond what the run was given.
        0 if plan.rules.loaded.is_some() => plan.memory_bytes / 4,
        bytes => bytes,
    };
    shared.beside(bytes / SHARD_COUNT as u64)
}

/// What connections and everything that belongs to them share, in all shards.
fn shared_bytes(plan: &Plan) -> u64 {
    plan.memory_bytes
        .saturating_sub(scan_bytes(plan))
        .saturating_sub(fragment_bytes(plan))
        .saturating_sub(compared_bytes(plan))
        .saturating_sub(parquet_bytes(plan))
        .saturating_sub(body_bytes(plan))
        .max(SHARED_BYTES_MIN)
}

/// However little memory there is, a shard has 64 KiB: a few connections, and what one packet may
/// make them keep.
const SHARED_BYTES_MIN: u64 = 16 << 20;

/// The set-up of parsers, without their memory.
pub(crate) fn parsers(plan: &Plan) -> ParserSetup {
    let has_columns = has_columns(&plan.output);
    let mut setup = ParserSetup::new(plan.parse.clone(), plan.files.clone(), has_columns);
    setup.rules = plan.rules.loaded.is_some();
    setup
}

/// Whether some format of the records has columns.
fn has_columns(output: &OutputPlan) -> bool {
    let by_columns = |format: &Format| !matches!(format, Format::Eve | Format::None);
    !output.is_one_place() && output.formats.iter().any(by_columns)
}

/// The limits of searches for protocols, over all workers.
pub(crate) fn searches(plan: &Plan) -> SearchOptions {
    SearchOptions {
        shard_bytes_max: first_bytes(shared_bytes(plan) / SHARD_COUNT as u64),
        keeps_datagrams: plan.parse.enabled,
    }
}

/// The most that first bytes use of a shard: a quarter, so that its connections and their searches
/// have room before any is evicted; but half where that is little.
fn first_bytes(shard_bytes: u64) -> u64 {
    (shard_bytes / 4).max(FIRST_BYTES_MIN.min(shard_bytes / 2))
}

/// Some thirty searches that keep all they may.
const FIRST_BYTES_MIN: u64 = 128 << 10;

/// The most that bytes after holes use, in all shards.
fn held_bytes(plan: &Plan) -> u64 {
    let half = shared_bytes(plan) / 2;
    plan.streams.memory_bytes.map_or(half, |set| set.min(half))
}

/// The options of reassembly, over all workers.
pub(crate) fn reassembly(plan: &Plan) -> ReassemblyOptions {
    let streams = &plan.streams;
    ReassemblyOptions {
        policy: plan.hosts.segments(),
        memory_bytes: held_bytes(plan),
        stream_bytes_max: u32::try_from(streams.stream_bytes).unwrap_or(u32::MAX),
        depth_bytes: streams.depth_bytes,
        compared_bytes: compared_bytes(plan),
        midstream: streams.midstream,
        one_sided: streams.one_sided,
        paws: streams.paws,
        urgent: if streams.urgent_apart {
            Urgent::OutOfBand
        } else {
            Urgent::InLine
        },
    }
}

/// The options of the connection tables, over all workers.
pub(crate) fn flow(plan: &Plan) -> FlowOptions {
    FlowOptions {
        timeouts: plan.timeouts,
        interim_ns: plan.interim_ns,
        memory_bytes: shared_bytes(plan),
        observer_bytes: match has_rules(plan) {
            true => stages::CONNECTION_BYTES + flowpin_detect::CONNECTION_BYTES,
            false => stages::CONNECTION_BYTES,
        },
        id_seed: plan.id_seed,
    }
}

/// The options of defragmentation.
pub(crate) fn defrag(plan: &Plan, secret: u64) -> DefragOptions {
    let fragments = &plan.defragmentation;
    DefragOptions {
        memory_bytes: fragment_bytes(plan),
        host_bytes: fragments.host_bytes.unwrap_or(u64::MAX),
        datagram_bytes: fragments.datagram_bytes,
        fragments_max: fragments.fragments_max,
        ipv4_timeout_ns: fragments.ipv4_timeout_ns,
        ipv6_timeout_ns: fragments.ipv6_timeout_ns,
        overlap: plan.hosts.fragments(),
        secret,
    }
}

#[cfg(test)]
mod tests {
    use super::searches;
    use flowpin_config::Plan;

    /// The counter of lost first bytes advises to raise `--memory`. That must help.
    #[test]
    fn more_memory_is_more_room_for_first_bytes() {
        let room = |gigabytes: u64| {
            let plan = Plan {
                memory_bytes: gigabytes << 30,
                ..Plan::default()
            };
            searches(&plan).shard_bytes_max
        };
        for gigabytes in [1, 2, 8, 64, 256] {
            assert!(room(2 * gigabytes) > room(gigabytes), "{gigabytes} GiB");
        }
        assert!(room(u64::MAX >> 30) >= room(512));
    }
}
