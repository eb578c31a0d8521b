//! How `--memory` is divided.

use flowpin_config::Plan;
use flowpin_defrag::DefragOptions;
use flowpin_flow::FlowOptions;

/// Fragments get a quarter at most, and no more than this: room for a second of a million small
/// useless fragments, so that a real datagram among them completes. It is taken only if needed.
const FRAGMENT_BYTES_MAX: u64 = 512 << 20;

fn fragment_bytes(plan: &Plan) -> u64 {
    let share = (plan.memory_bytes / 4).min(FRAGMENT_BYTES_MAX);
    let set = plan.defragmentation.memory_bytes;
    // Connections must have something as well.
    set.unwrap_or(share).min(plan.memory_bytes / 2)
}

/// What the connection tables may use, over all workers.
pub(crate) fn flow(plan: &Plan) -> FlowOptions {
    FlowOptions {
        timeouts: plan.timeouts,
        interim_ns: plan.interim_ns,
        memory_bytes: plan.memory_bytes.saturating_sub(fragment_bytes(plan)),
        id_seed: plan.id_seed,
    }
}

/// What defragmentation may use.
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
