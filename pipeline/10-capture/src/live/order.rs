//! Which packet is next, of several interfaces: the earliest, once no earlier one can come.
//!
//! The kernel hands over packets in blocks, so what an interface has got shows some time later. An
//! interface without a packet is known up to now, less that time.

use super::port::Port;
use flowpin_packet::Timestamp;
use std::time::Duration;

/// What there is.
pub(super) enum Due {
    /// The packet of the port with this index.
    Now(usize),
    /// None yet.
    Later,
}

/// The port whose packet is next.
pub(super) fn due(ports: &mut [Port], now: impl FnOnce() -> Timestamp, slack: Duration) -> Due {
    if let [only] = ports {
        return match !only.is_done && only.head().is_some() {
            true => Due::Now(0),
            false => Due::Later,
        };
    }
    let mut earliest: Option<(Timestamp, usize)> = None;
    let mut all_known = true;
    for (index, port) in ports.iter_mut().enumerate() {
        let is_over = port.is_done || port.is_gone;
        match port.head().filter(|_| !is_over) {
            Some(packet) if earliest.is_none_or(|(time, _)| packet.time < time) => {
                earliest = Some((packet.time, index));
            }
            Some(_) => {}
            None => all_known &= is_over,
        }
    }
    match earliest {
        Some((time, index)) if all_known || is_past(time, now(), slack) => Due::Now(index),
        _ => Due::Later,
    }
}

/// Whether every port would show a packet of this time by now. One of the future is not waited for:
/// the clock was set back.
fn is_past(time: Timestamp, now: Timestamp, slack: Duration) -> bool {
    time > now || u128::from(now.nanos_since(time)) >= slack.as_nanos()
}
