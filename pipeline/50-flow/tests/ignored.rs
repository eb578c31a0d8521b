//! Closes that an observer knows to have been ignored: they end nothing, and are undone.

#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod support;

use flowpin_flow::{FlowObserver, Sighting};
use flowpin_packet::{FrameBytes, PacketMeta};
use flowpin_record::{ConnRecord, ConnState, RecordSink, TcpState};
use support::{Packet, Plan, Talk, run_observed};

/// Knows whether RSTs and FINs are ignored, and the packet that shows that a stream goes on.
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

/// A forged RST is in the history, and the connection continues, also past the time for which a
/// closed one is kept.
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

/// A RST that seemed right, or a FIN, is undone once the receiver has shown that it continues.
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

/// An attacker who forges a RST also forges a SYN after it: only its answer begins a connection.
#[test]
fn a_syn_behind_a_forged_reset_does_not_split_the_connection() {
    for seq in [0x4000_0000, 0] {
        for from_client in [true, false] {
            let mut talk = Talk::new();
            talk.steps(">S <SA >A >PA9 <A >R");
            let (from, to) = match from_client {
                true => (talk.client, talk.server),
                false => (talk.server, talk.client),
            };
            talk.push(Packet::tcp(from, to, "S", seq, 0, 0));
            talk.steps(">PA9 <A +6000 >PA9 <A");
            let mut receiver = Receiver {
                ignores: false,
                reopens: 9,
                last: 0,
            };
            let (all, _) = run_observed(&talk.trace, &Plan::default(), &mut receiver);
            assert_eq!(all.len(), 1, "{seq} {from_client}");
            assert_eq!(all[0].1.conn_state, ConnState::S1);
        }
    }
}

/// RFC 9293 §3.5: of two SYNs, the one counts that the SYN-ACK acknowledges and from which the
/// client continues; nothing is missing between the two.
#[test]
fn the_syn_that_is_answered_and_gone_on_from_numbers_the_stream() {
    for seq in [0x4000_0000, 7, 0xf000_0000] {
        let mut talk = Talk::new();
        talk.steps(">S");
        let (from, to) = (talk.client, talk.server);
        talk.push(Packet::tcp(from, to, "S", seq, 0, 0));
        talk.steps("<SA >A >PA9 <A <PA9 >A >FA <FA >A");
        let mut receiver = Receiver {
            ignores: false,
            reopens: 0,
            last: 0,
        };
        let (all, _) = run_observed(&talk.trace, &Plan::default(), &mut receiver);
        let last = &all.last().unwrap().1;
        assert_eq!(last.history.as_str(), "ShADadFf", "{seq}");
        assert_eq!(last.to_server.missed_bytes, 0, "{seq}");
    }
}

/// Until the client has answered, the last SYN-ACK counts, whatever came before it: nothing is
/// missing.
#[test]
fn a_forged_syn_ack_before_the_true_one_leaves_no_gap() {
    for (seq, ack) in [(7, 7), (0x4000_0000, 7), (7, 1001)] {
        let mut talk = Talk::new();
        talk.steps(">S");
        let (from, to) = (talk.server, talk.client);
        talk.push(Packet::tcp(from, to, "SA", seq, ack, 0));
        talk.steps("<SA >A >PA9 <A <PA9 >A >FA <FA >A");
        let mut receiver = Receiver {
            ignores: false,
            reopens: 0,
            last: 0,
        };
        let (all, _) = run_observed(&talk.trace, &Plan::default(), &mut receiver);
        assert_eq!(all.len(), 1, "{seq} {ack}");
        let missed = (
            all[0].1.to_server.missed_bytes,
            all[0].1.to_client.missed_bytes,
        );
        assert_eq!(missed, (0, 0), "{seq} {ack}");
    }
}

/// RFC 9293 §3.10.4: a host that has only sent a SYN cannot have closed; and a FIN counts once
/// everything before it has arrived.
#[test]
fn a_fin_counts_in_its_turn_only() {
    let all = records(">S >FA! <SA >A +6000 >PA9 <A", false, 0);
    assert_eq!((all.len(), all[0].conn_state), (1, ConnState::S1));
}

/// Bytes that were never sent cannot be missing: once the receiver says so, or the bytes arrive
/// after all. Bytes that were sent and not captured are missing.
#[test]
fn an_acknowledgement_of_what_was_never_sent_leaves_no_gap() {
    let exchange = |beyond: u32, then: &str| {
        let mut talk = Talk::with_isn(1000, u32::MAX - 5000);
        talk.steps(">S <SA >A >PA9 <A <PA9 >A");
        let (from, to) = (talk.client, talk.server);
        let (next, sent) = (1010, (u32::MAX - 5000).wrapping_add(10));
        let lie = Packet::tcp(from, to, "A", next, sent.wrapping_add(beyond), 0);
        talk.push(lie);
        talk.steps(then);
        let mut receiver = Receiver {
            ignores: false,
            reopens: 0,
            last: 0,
        };
        let (all, _) = run_observed(&talk.trace, &Plan::default(), &mut receiver);
        let record = &all[0].1;
        let to_client = &record.to_client;
        let history = record.history.as_str().to_owned();
        (to_client.missed_bytes, to_client.stream_bytes, history)
    };
    for beyond in [1, 5, 9, 20, 9_000, 900_000] {
        // Its own next segment undoes it, unless the answer has advanced as far.
        for then in [">PA9 <A", "<PA9 >A", "<PA9 <PA9 <PA9 >A"] {
            let (missed, bytes, history) = exchange(beyond, then);
            assert_eq!(missed, 0, "{beyond} {then}");
            let more = then.matches("<PA9").count() as u64;
            assert_eq!(bytes, 9 + 9 * more, "{beyond} {then}");
            assert!(!history.contains('g'), "{beyond} {then} {history}");
        }
        assert_eq!(exchange(beyond, "").0, u64::from(beyond));
    }
}

/// The receiver drops an acknowledgement of bytes that came after a hole: the bytes that fill it
/// are not missing. One that it accepts shows that the capture lacks the bytes.
#[test]
fn an_acknowledgement_that_is_dropped_leaves_no_gap() {
    for flags in ["A", "FA"] {
        for ignores in [true, false] {
            let mut talk = Talk::with_isn(1000, 5000);
            talk.steps(">S <SA >A >PA9 <A");
            let (from, to) = (talk.client, talk.server);
            talk.push(Packet::tcp(from, to, "PA", 1020, 5001, 5));
            talk.push(Packet::tcp(to, from, flags, 900_000, 1025, 0));
            talk.push(Packet::tcp(from, to, "PA", 1010, 5001, 10));
            talk.push(Packet::tcp(to, from, "A", 5001, 1025, 0));
            let mut receiver = Receiver {
                ignores,
                reopens: 0,
                last: 0,
            };
            let (all, _) = run_observed(&talk.trace, &Plan::default(), &mut receiver);
            let to_server = &all[0].1.to_server;
            let missed = if ignores { 0 } else { 10 };
            assert_eq!(to_server.missed_bytes, missed, "{flags} {ignores}");
            assert_eq!(to_server.stream_bytes, 24, "{flags} {ignores}");
        }
    }
}
