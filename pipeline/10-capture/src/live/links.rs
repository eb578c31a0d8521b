//! What happens to interfaces while they are captured from, in words.

use crate::bytes::Attention;
use crate::report::things;
use flowpin_socket::State;
use std::time::{Duration, Instant};

/// What is known of an interface's link.
#[derive(Debug, Default)]
pub(super) struct LinkWatch {
    state: Option<State>,
    /// Since when it carries nothing.
    down_since: Option<Instant>,
    /// How often it went down, and how long that was in all.
    outages: u64,
    outage: Duration,
}

impl LinkWatch {
    /// Looks at an interface again: tells what has changed since. Packets of new queues are not
    /// captured if it `leaves_new_queues`.
    pub(super) fn look(
        &mut self,
        name: &str,
        now: State,
        leaves_new_queues: bool,
        attention: &Attention,
    ) {
        // Before the first look it was as usual.
        let usual = State {
            is_up: true,
            has_carrier: true,
            ..now
        };
        let before = self.state.replace(now).unwrap_or(usual);
        let carries = |state: State| state.is_up && state.has_carrier;
        match (carries(before), carries(now)) {
            (true, false) => {
                let why = down(now);
                self.went_down(
                    format!("{name}: {why}; the capture waits for it"),
                    attention,
                );
            }
            (false, true) => {
                let lasted = self.came_up();
                attention.tell(&format!("{name}: the link is up again, after {lasted:.1?}"));
            }
            _ => {}
        }
        if let (Some(old), Some(new)) = (before.mtu, now.mtu)
            && old != new
        {
            attention.tell(&format!("{name}: the MTU is now {new}, no longer {old}"));
        }
        if let (Some(old), Some(new)) = (before.receive_queues, now.receive_queues)
            && old != new
        {
            attention.tell(&format!(
                "{name}: there {} in use now, no longer {old}; {}",
                match new {
                    1 => "is 1 receive queue".to_owned(),
                    _ => format!("are {new} receive queues"),
                },
                match leaves_new_queues && new > old {
                    true => "packets of new ones go to the host until the run is started again",
                    false => "flows may have changed theirs",
                }
            ));
        }
    }

    fn went_down(&mut self, word: String, attention: &Attention) {
        self.down_since = Some(Instant::now());
        self.outages += 1;
        attention.tell(&word);
    }

    fn came_up(&mut self) -> Duration {
        let lasted = self
            .down_since
            .take()
            .map_or(Duration::ZERO, |since| since.elapsed());
        self.outage += lasted;
        lasted
    }

    /// For the summary: how often it was down, and how long.
    pub(super) fn note(&self, name: &str) -> Option<String> {
        let lasts = self
            .down_since
            .map_or(Duration::ZERO, |since| since.elapsed());
        let all = self.outage + lasts;
        (self.outages > 0).then(|| {
            format!(
                "{name}: the link was down {}, {all:.1?} in all",
                times(self.outages)
            )
        })
    }
}

fn times(count: u64) -> String {
    match count {
        1 => "once".to_owned(),
        _ => things(count, "time"),
    }
}

const fn down(state: State) -> &'static str {
    if state.is_up {
        "the link has no carrier"
    } else {
        "the link is down"
    }
}

#[cfg(test)]
mod tests {
    use super::LinkWatch;
    use crate::bytes::Attention;
    use flowpin_socket::State;
    use std::sync::{Arc, Mutex};

    /// Each change is told once, and what stays is not.
    #[test]
    fn changes_are_told_once() {
        let told = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&told);
        let attention = Attention::default()
            .telling(move |text: &str| heard.lock().unwrap().push(text.to_owned()));
        let up = State {
            is_up: true,
            has_carrier: true,
            mtu: Some(1500),
            receive_queues: Some(4),
        };
        let down = State { is_up: false, ..up };
        let jumbo = State {
            mtu: Some(9000),
            receive_queues: Some(1),
            ..up
        };
        let mut watch = LinkWatch::default();
        for state in [up, up, down, down, up, jumbo] {
            watch.look("eth0", state, false, &attention);
        }
        watch.look("eth0", up, true, &attention);
        let told = told.lock().unwrap().join("\n");
        let expected = [
            "eth0: the link is down; the capture waits for it",
            "eth0: the link is up again, after ",
            "eth0: the MTU is now 9000, no longer 1500",
            "eth0: there is 1 receive queue in use now, no longer 4; flows may have changed theirs",
            "eth0: the MTU is now 1500, no longer 9000",
            "eth0: there are 4 receive queues in use now, no longer 1; packets of new ones go to",
        ];
        assert_eq!(told.lines().count(), expected.len(), "{told}");
        for (line, expected) in told.lines().zip(expected) {
            assert!(line.starts_with(expected), "{line}");
        }
        let note = watch.note("eth0").unwrap();
        assert!(note.starts_with("eth0: the link was down once, "), "{note}");
    }
}
