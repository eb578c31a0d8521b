//! How `--memory` is divided.

use flowpin_config::Plan;
use flowpin_defrag::DefragOptions;
use flowpin_flow::FlowOptions;

/// Fragments get a sixteenth, within bounds: enough for any honest traffic, and a flood of them
/// must not take the connections' memory.
const FRAGMENT_BYTES: core::ops::RangeInclusive<u64> = 1 << 20..=256 << 20;

fn fragment_bytes(plan: &Plan) -> u64 {
    (plan.memory_bytes / 16).clamp(*FRAGMENT_BYTES.start(), *FRAGMENT_BYTES.end())
}

/// What the connection tables may use, over all workers.
pub(crate) fn flow(plan: &Plan) -> FlowOptions {
    FlowOptions {
        timeouts: match plan.timeouts {
            flowpin_config::Timeouts::Zeek => flowpin_flow::Timeouts::Zeek,
            flowpin_config::Timeouts::Suricata => flowpin_flow::Timeouts::Suricata,
            flowpin_config::Timeouts::None => flowpin_flow::Timeouts::None,
        },
        interim_ns: plan.interim_ns,
        memory_bytes: plan.memory_bytes.saturating_sub(fragment_bytes(plan)),
        id_seed: plan.id_seed,
    }
}

/// What defragmentation may use.
pub(crate) fn defrag(plan: &Plan, secret: u64) -> DefragOptions {
    DefragOptions {
        memory_bytes: fragment_bytes(plan),
        secret,
        ..DefragOptions::default()
    }
}
