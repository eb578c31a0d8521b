//! Which packet is next, of several interfaces: the earliest, once no earlier one can come.
//!
//! The kernel hands over packets in blocks, so what an interface has got shows some time later. An
//! interface without a packet is known up to now, less that time.

use super::nanos;
use super::port::Port;
use flowpin_packet::Timestamp;
use std::time::Duration;

/// What there is.
pub(super) enum Due {
    /// The packet of the port with this index, and those behind it that came before a time.
    Now { index: usize, until: Timestamp },
    /// None yet.
    Later,
}

/// The port whose packet is next. `known`: up to when all packets would have been seen; it is
/// looked again if that is not enough.
pub(super) fn due(
    ports: &mut [Port],
    known: &mut Timestamp,
    now: impl FnOnce() -> Timestamp,
    slack: Duration,
) -> Due {
    if let [only] = ports {
        return match !only.is_done && only.head().is_some() {
            true => Due::Now {
                index: 0,
                until: Timestamp::MAX,
            },
            false => Due::Later,
        };
    }
    let mut earliest: Option<(Timestamp, usize)> = None;
    let mut second = Timestamp::MAX;
    let mut all_known = true;
    for (index, port) in ports.iter_mut().enumerate() {
        // The kernel may still have packets of an interface that was removed.
        let is_over = port.is_done;
        match port.head_time().filter(|_| !is_over) {
            Some(at) if earliest.is_none_or(|(time, _)| at < time) => {
                second = earliest.map_or(second, |(time, _)| second.min(time));
                earliest = Some((at, index));
            }
            Some(at) => second = second.min(at),
            None => all_known &= is_over,
        }
    }
    match earliest {
        Some((_, index)) if all_known => Due::Now {
            index,
            until: second,
        },
        Some((time, index)) => {
            if time > *known {
                let now = now();
                *known = Timestamp(now.0.saturating_sub(nanos(slack)));
                // One of the future is not waited for: the clock was set back.
                if time > now {
                    return Due::Now { index, until: time };
                }
                if time > *known {
                    return Due::Later;
                }
            }
            let until = second.min(Timestamp(known.0.saturating_add(1)));
            Due::Now { index, until }
        }
        None => Due::Later,
    }
}
