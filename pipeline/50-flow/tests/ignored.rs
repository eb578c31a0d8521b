//! Closes that an observer knows to have been ignored: they end nothing, and are taken back.

#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod support;

use flowpin_flow::{FlowObserver, Sighting};
use flowpin_packet::{FrameBytes, PacketMeta};
use flowpin_record::{ConnRecord, ConnState, RecordSink, TcpState};
use support::{Plan, Talk, run_observed};

/// Knows whether RSTs and FINs are ignored, and the packet that shows a stream to go on.
struct Receiver {
    ignores: bool,
    reopens: u64,
    last: u64,
}

impl FlowObserver for Receiver {
    fn ignores(&mut self, _: &FrameBytes<'_>, _: &PacketMeta, _: (u32, bool)) -> bool {
        self.ignores
    }
    fn packet<S: RecordSink>(&mut self, sighting: &Sighting<'_>, _: &mut S) {
        self.last = sighting.meta.number;
    }
    fn reopened(&mut self) -> Option<bool> {
        (self.last == self.reopens).then_some(true)
    }
}

fn records(steps: &str, ignores: bool, reopens: u64) -> Vec<ConnRecord> {
    let mut talk = Talk::new();
    talk.steps(steps);
    let mut receiver = Receiver {
        ignores,
        reopens,
        last: 0,
    };
    let (records, _) = run_observed(&talk.trace, &Plan::default(), &mut receiver);
    records.into_iter().map(|(_, record)| record).collect()
}

/// A forged RST is in the history, and the connection lives on, also past the time that a closed
/// one is kept.
#[test]
fn an_ignored_reset_ends_nothing() {
    let all = records(">S <SA >A >PA9 <A >R +6000 >PA9 <A", true, 0);
    assert_eq!(all.len(), 1);
    assert_eq!(
        (all[0].conn_state, all[0].tcp_state),
        (ConnState::S1, TcpState::Established)
    );
    assert_eq!(all[0].history.as_str(), "ShADaR");
    let believed = records(">S <SA >A >PA9 <A >R +6000 >PA9 <A", false, 0);
    assert_eq!(
        (believed.len(), believed[0].conn_state),
        (2, ConnState::RSTO)
    );
}

/// A RST that seemed right, or a FIN, is taken back once the receiver has shown that it goes on.
#[test]
fn a_close_is_taken_back_if_the_stream_goes_on() {
    for close in [">R", "<R", ">FA!"] {
        let steps = format!(">S <SA >A >PA9 <A {close} >PA9 <A +6000 >PA9 <A");
        let all = records(&steps, false, 8);
        assert_eq!(all.len(), 1, "{close}");
        let states = (all[0].conn_state, all[0].tcp_state);
        assert_eq!(states, (ConnState::S1, TcpState::Established), "{close}");
    }
}

/// RFC 9293 §3.10.4: who has sent a SYN only cannot have closed; and a FIN counts once all before
/// it has come.
#[test]
fn a_fin_counts_in_its_turn_only() {
    let all = records(">S >FA! <SA >A +6000 >PA9 <A", false, 0);
    assert_eq!((all.len(), all[0].conn_state), (1, ConnState::S1));
}
