//! Rules that segments without anything but an acknowledgement may fit: mostly there are none.

use super::{Compiled, group};
use flowpin_packet::TcpFlags;
use flowpin_rule::{BufferId, Condition, Rule};

/// Whether a segment without payload that only acknowledges may fit a rule.
pub(super) fn asks((compiled, rule): (&Compiled, &Rule), to_server: bool) -> bool {
    let [is_of_tcp, ..] = group::transports(rule, compiled.kind);
    let asks_payload = compiled
        .inspections
        .iter()
        .any(|one| one.buffer == BufferId::PAYLOAD && one.absent.is_none());
    is_of_tcp
        && compiled.direction.is_none_or(|one| one == to_server)
        && !asks_payload
        && rule.conditions.iter().all(|one| match one {
            Condition::Flags(check) => check.holds(TcpFlags::ACK.0),
            Condition::PayloadSize(check) => check.holds(0),
            _ => true,
        })
}
