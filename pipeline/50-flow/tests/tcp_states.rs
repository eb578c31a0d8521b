//! `conn_state` and `history` of TCP, as users of Zeek know them.

mod support;

use flowpin_packet::PacketFlags;
use flowpin_record::{EndReason, FlowState, TcpState};
use support::{Packet, SEC, T0, Talk, all, run, summary};

const OPEN: &str = ">S <SA >A";

fn after_open(steps: &str) -> String {
    summary(&format!("{OPEN} {steps}"))
}

/// Each value of `conn_state` by the shortest exchange that has it.
#[test]
fn every_conn_state_has_its_exchange() {
    assert_eq!(summary(">S"), "S0 S");
    assert_eq!(after_open(""), "S1 ShA");
    assert_eq!(after_open(">FA <FA >A"), "SF ShAFf");
    assert_eq!(summary(">S <RA"), "REJ Sr");
    assert_eq!(after_open(">FA <A"), "S2 ShAFa");
    assert_eq!(after_open("<FA >A"), "S3 ShAf");
    assert_eq!(after_open(">R"), "RSTO ShAR");
    assert_eq!(after_open("<R"), "RSTR ShAr");
    assert_eq!(summary(">S >R"), "RSTOS0 SR");
    assert_eq!(summary("<SA <R"), "RSTRH ^hr");
    assert_eq!(summary(">S >F"), "SH SF");
    assert_eq!(summary("<SA <FA"), "SHR ^hf");
    assert_eq!(summary(">PA10 <PA10"), "OTH Dd");
}

/// Histories of whole connections, as in the expected logs of Zeek's test suite.
#[test]
fn whole_connections_have_the_expected_history() {
    assert_eq!(after_open(">PA10 <A <PA20 >A >FA <FA >A"), "SF ShADadFf");
    assert_eq!(after_open("<PA20 >A >PA10 <A <FA >A >FA <A"), "SF ShAdDafF");
    // One direction only: no SYN, no data, no end of the client.
    assert_eq!(summary("<SA <A <PA20 <FA"), "SHR ^hadf");
    assert_eq!(summary("<SA <PA20 <A <FA"), "SHR ^hdaf");
    // The server resets after it has refused to read.
    assert_eq!(after_open(">PA10 <PA5 >FA <A <R"), "RSTR ShADdFar");
    // Data that was not requested, then a reset.
    assert_eq!(summary(">PA109 <RA"), "RSTRH Dr");
    assert_eq!(summary(">S >A >PA26 >FA"), "SH SADF");
    assert_eq!(summary(">S <SA >R"), "RSTO ShR");
}

/// An end that a reset follows remains an end: both sides had closed.
#[test]
fn a_reset_after_both_closed_changes_nothing() {
    assert_eq!(after_open(">FA <FA >A <R"), "SF ShAFfr");
    assert_eq!(after_open(">FA <FA >R"), "SF ShAFfR");
    assert_eq!(after_open(">FA >R <FA"), "SF ShAFRf");
}

/// Retransmissions, zero windows and bad checksums are written at 1, 10, 100, ….
#[test]
fn repeated_oddities_are_written_at_powers_of_ten() {
    let again = |count: usize| {
        let mut talk = Talk::new();
        talk.steps(OPEN).steps(">PA10");
        for _ in 0..count {
            talk.steps("+1");
            let packet = Packet::tcp(talk.client, talk.server, "PA", 1001, 5001, 10);
            talk.push(packet);
        }
        talk.record().history.as_str().to_owned()
    };
    assert_eq!(again(1), "ShADT");
    assert_eq!(again(9), "ShADT");
    assert_eq!(again(10), "ShADTT");
    assert_eq!(again(100), "ShADTTT");
    let mut talk = Talk::new();
    talk.steps(OPEN);
    for _ in 0..10 {
        let packet = Packet::tcp(talk.server, talk.client, "A", 5001, 1001, 0).window(0);
        talk.push(packet);
        let packet = Packet::tcp(talk.client, talk.server, "A", 1001, 5001, 0)
            .flag(PacketFlags::BAD_CHECKSUM);
        talk.push(packet);
    }
    let record = talk.record();
    assert_eq!(record.history.as_str(), "ShAawCwC");
    assert_eq!(record.to_server.bad_checksums, 10);
}

/// A bad checksum counts as a packet; the packet's content is not believed.
#[test]
fn a_bad_checksum_changes_no_state() {
    let mut talk = Talk::new();
    talk.steps(OPEN);
    let packet =
        Packet::tcp(talk.client, talk.server, "R", 1001, 0, 0).flag(PacketFlags::BAD_CHECKSUM);
    talk.push(packet);
    talk.steps(">PA5 <A");
    let record = talk.record();
    assert_eq!(record.history.as_str(), "ShACDa");
    assert_eq!(record.conn_state.name(), "S1");
    assert_eq!(record.to_server.packets, 4);
    let mut talk = Talk::new();
    let packet =
        Packet::tcp(talk.client, talk.server, "S", 1000, 0, 0).flag(PacketFlags::BAD_CHECKSUM);
    talk.push(packet);
    assert_eq!(talk.summary(), "OTH C");
}

/// Combinations of flags that no TCP sends.
#[test]
fn impossible_flags_are_inconsistent_or_multi_flag() {
    assert_eq!(summary(">SF"), "SH Q");
    assert_eq!(after_open(">FR"), "RSTO ShAI");
    assert_eq!(after_open(">FR >FR"), "RSTO ShAI");
}

/// SYN, FIN and RST are written again if their number differs.
#[test]
fn control_segments_repeat_only_with_other_numbers() {
    assert_eq!(summary(">S! >S! >S"), "S0 S");
    assert_eq!(after_open(">FA! >FA!"), "S2 ShAF");
    assert_eq!(after_open(">FA >FA"), "S2 ShAFF");
    assert_eq!(after_open(">R! >R!"), "RSTO ShAR");
    let mut talk = Talk::new();
    talk.steps(OPEN).steps(">R");
    talk.seq[0] += 100;
    talk.steps(">R");
    assert_eq!(talk.summary(), "RSTO ShARR");
}

/// A gap consists of bytes that were acknowledged and never seen, between sides that completed a
/// handshake.
#[test]
fn bytes_acknowledged_but_never_seen_are_missed() {
    let mut talk = Talk::new();
    talk.steps(OPEN).steps(">PA538");
    talk.seq[1] += 2902;
    talk.steps(">A <FA >FA");
    let record = talk.record();
    assert_eq!(record.history.as_str(), "ShADgfF");
    assert_eq!(
        (record.to_client.missed_bytes, record.to_client.stream_bytes),
        (2902, 2902)
    );
    assert_eq!(
        (record.to_server.missed_bytes, record.to_server.stream_bytes),
        (0, 538)
    );
    // Picked up in the middle: no handshake, no proof.
    let mut talk = Talk::new();
    talk.steps(">PA10 <PA10");
    talk.seq[1] += 500;
    talk.steps(">A <PA10");
    assert_eq!(talk.record().to_client.missed_bytes, 0);
}

/// A hole that a late packet fills is no gap; one that is acknowledged before is.
#[test]
fn late_packets_fill_holes_until_they_are_acknowledged() {
    let segment =
        |talk: &Talk, seq, len| Packet::tcp(talk.client, talk.server, "PA", seq, 5001, len);
    let mut talk = Talk::new();
    talk.steps(OPEN);
    for (seq, len) in [(1001, 10), (1021, 10), (1041, 10), (1011, 10), (1031, 10)] {
        let packet = segment(&talk, seq, len);
        talk.push(packet);
    }
    talk.seq[0] = 1051;
    talk.steps("<A >PA5 <A");
    let record = talk.record();
    assert_eq!(
        (record.to_server.missed_bytes, record.to_server.stream_bytes),
        (0, 55)
    );
    // Late packets bring no new bytes: Zeek calls them retransmissions.
    assert_eq!(record.history.as_str(), "ShADTa");
    let mut talk = Talk::new();
    talk.steps(OPEN);
    for (seq, len) in [(1001, 10), (1021, 10)] {
        let packet = segment(&talk, seq, len);
        talk.push(packet);
    }
    talk.seq[0] = 1031;
    talk.steps("<A");
    let packet = segment(&talk, 1011, 10);
    talk.push(packet);
    let record = talk.record();
    assert_eq!(
        (record.to_server.missed_bytes, record.to_server.stream_bytes),
        (10, 30)
    );
    assert_eq!(record.history.as_str(), "ShADaGT");
}

/// Bytes by sequence numbers count a retransmission once, payload bytes twice.
#[test]
fn retransmitted_bytes_count_once_by_sequence_numbers() {
    let mut talk = Talk::new();
    talk.steps(OPEN).steps(">PA100! >PA100 <A >FA <FA >A");
    let record = talk.record();
    assert_eq!(
        (
            record.to_server.stream_bytes,
            record.to_server.payload_bytes
        ),
        (100, 200)
    );
    assert_eq!(record.to_client.stream_bytes, 0);
}

/// Sequence numbers wrap at 2³²; the sums do not.
#[test]
fn sums_do_not_wrap_with_the_sequence_numbers() {
    let mut talk = Talk::with_isn(u32::MAX - 3, u32::MAX);
    talk.steps(OPEN).steps(">PA100 <PA1000 >A >FA <FA >A");
    let record = talk.record();
    assert_eq!(record.history.as_str(), "ShADdFf");
    assert_eq!(
        (record.to_server.stream_bytes, record.to_client.stream_bytes),
        (100, 1000)
    );
    assert_eq!(
        (record.to_server.missed_bytes, record.to_client.missed_bytes),
        (0, 0)
    );
}

/// More than 4 GiB one way: sums by length and by sequence number are exact.
#[test]
fn elephants_are_counted_beyond_32_bits() {
    let mut talk = Talk::new();
    talk.steps(OPEN);
    // Jumbo "packets" (segments merged by the adapter), to get there in few steps.
    let (len, count) = (900_000_000_u32, 21);
    for _ in 0..count {
        talk.steps(&format!(">PA{len} <A"));
    }
    talk.steps(">FA <FA >A");
    let record = talk.record();
    let bytes = u64::from(len) * count;
    assert!(bytes > 4 << 32);
    assert_eq!(record.to_server.payload_bytes, bytes);
    assert_eq!(record.to_server.stream_bytes, bytes);
    assert_eq!(record.to_server.missed_bytes, 0);
    assert_eq!(record.to_server.packets, count + 4);
    assert_eq!(record.to_server.ip_bytes, bytes + 40 * (count + 4));
    assert_eq!(record.to_server.frame_bytes, bytes + 54 * (count + 4));
    assert_eq!(record.history.as_str(), "ShADaFf");
}

/// The round trip is that of the whole path, from SYN to the client's ACK.
#[test]
fn the_handshake_gives_the_round_trip_time() {
    let rtt = |steps: &str| {
        let mut talk = Talk::new();
        talk.steps(steps);
        talk.record().rtt_ns
    };
    assert_eq!(rtt(">S +9 <SA +3 >A"), Some(14_000_000));
    // A repeated SYN: from the last one. A repeated SYN-ACK: unknowable.
    assert_eq!(rtt(">S! +999 >S +9 <SA >A"), Some(11_000_000));
    assert_eq!(rtt(">S +9 <SA! +5 <SA >A"), None);
    assert_eq!(rtt("<SA >A"), None);
    assert_eq!(rtt(">S <SA"), None);
    assert_eq!(rtt(">S +4900 <SA >A"), None);
}

/// Suricata's states for the same packets.
#[test]
fn suricata_states_are_told_beside() {
    let states = |steps: &str| {
        let mut talk = Talk::new();
        talk.steps(steps);
        let record = talk.record();
        (record.tcp_state, record.flow_state)
    };
    assert_eq!(states(">S"), (TcpState::SynSent, FlowState::New));
    assert_eq!(states(">S <SA"), (TcpState::SynRecv, FlowState::New));
    assert_eq!(
        states(OPEN),
        (TcpState::Established, FlowState::Established)
    );
    assert_eq!(
        states(">S <SA >A >FA"),
        (TcpState::CloseWait, FlowState::Established)
    );
    assert_eq!(
        states(">S <SA >A >FA <FA"),
        (TcpState::LastAck, FlowState::Closed)
    );
    assert_eq!(
        states(">S <SA >A >FA <FA >A"),
        (TcpState::Closed, FlowState::Closed)
    );
    assert_eq!(
        states(">S <SA >A <FA >A"),
        (TcpState::FinWait2, FlowState::Established)
    );
    assert_eq!(states(">S <RA"), (TcpState::Closed, FlowState::Closed));
    assert_eq!(
        states(">PA3 <A"),
        (TcpState::Established, FlowState::Established)
    );
}

/// A SYN-ACK that was captured before its SYN is one established connection.
#[test]
fn a_handshake_out_of_order_is_one_connection() {
    let mut talk = Talk::new();
    let syn = Packet::tcp(talk.client, talk.server, "S", 1000, 0, 0);
    let answer = Packet::tcp(talk.server, talk.client, "SA", 5000, 1001, 0);
    talk.push(answer).push(syn);
    talk.seq = [1001, 5001];
    talk.steps(">A >PA5 <A");
    assert_eq!(talk.summary(), "S1 ^hSADa");
}

/// RFC 9293 §3.5: both sides may open at once.
#[test]
fn simultaneous_open_is_one_connection() {
    let mut talk = Talk::new();
    let (client, server) = (talk.client, talk.server);
    talk.push(Packet::tcp(client, server, "S", 1000, 0, 0))
        .push(Packet::tcp(server, client, "S", 5000, 0, 0))
        .push(Packet::tcp(client, server, "SA", 1000, 5001, 0))
        .push(Packet::tcp(server, client, "SA", 5000, 1001, 0));
    talk.seq = [1001, 5001];
    talk.steps(">PA5 <A");
    assert_eq!(talk.summary(), "S1 SsDa");
}

/// A SYN with another number, or any SYN after a close, begins a new connection; a repeated SYN
/// does not.
#[test]
fn a_new_connection_on_the_same_ports_is_another_record() {
    let reasons = |steps: &str| -> Vec<(EndReason, String)> {
        let mut talk = Talk::new();
        talk.steps(steps);
        talk.seq = [77_000, 99_000];
        talk.steps(OPEN);
        all(&talk.trace)
            .iter()
            .map(|record| (record.reason, record.history.as_str().to_owned()))
            .collect()
    };
    let open = (EndReason::EndOfInput, "ShA".to_owned());
    let old = |history: &str| (EndReason::Reused, history.to_owned());
    assert_eq!(reasons(">S"), [old("S"), open.clone()]);
    // Its end was not captured, and its ports are soon reused: the answer shows.
    let answered = (EndReason::EndOfInput, "^hA".to_owned());
    assert_eq!(reasons(OPEN), [old("ShAS"), answered.clone()]);
    assert_eq!(
        reasons(&format!("{OPEN} +60000")),
        [old("ShA"), open.clone()]
    );
    assert_eq!(
        reasons(">S <SA >A >FA <FA >A"),
        [old("ShAFf"), open.clone()]
    );
    assert_eq!(reasons(">PA10 <A"), [old("DaS"), answered.clone()]);
    // A RST before it proves nothing, as it may be forged.
    assert_eq!(reasons(">PA10 <A <R"), [old("DarS"), answered.clone()]);
    assert_eq!(reasons(&format!("{OPEN} >R")), [old("ShARS"), answered]);
    assert_eq!(reasons(">S <SA >R"), [old("ShR"), open]);
    // A refused SYN that is repeated is a new attempt, also with the same number.
    let mut talk = Talk::new();
    talk.steps(">S! <RA >S! <RA >S! <RA");
    let states: Vec<_> = all(&talk.trace)
        .iter()
        .map(|record| record.conn_state.name())
        .collect();
    assert_eq!(states, ["REJ"; 3]);
    // The key is that of the packet that began the new one.
    let mut talk = Talk::new();
    talk.steps(">S");
    talk.seq[0] = 9;
    talk.steps("+50 >S");
    let (records, _) = run(&talk.trace, &support::Plan::default());
    let key = records[0].0;
    assert_eq!(
        (key.time.0, key.number, key.ordinal),
        (T0 + 51 * support::MS, 2, 1)
    );
}

/// RFC 5961 §4.2: a SYN in an open connection gets a challenge ACK, whatever its number, and
/// changes nothing: neither states nor numbers, nor anything after it. Suricata's state table says
/// the same; Zeek would begin a new connection.
#[test]
fn a_syn_in_an_open_connection_changes_nothing() {
    let challenged = |before: &str, from_client: bool, flags: &str, after: &str| {
        let mut talk = Talk::new();
        talk.steps(OPEN).steps(before).steps("+1");
        let (from, to) = if from_client {
            (talk.client, talk.server)
        } else {
            (talk.server, talk.client)
        };
        let packet = Packet::tcp(from, to, flags, 0x4000_0000, 0x5000_0000, 0);
        talk.push(packet);
        talk.steps("+1").steps(after);
        let records = all(&talk.trace);
        assert_eq!(records.len(), 1, "{before} {flags} {after}");
        let record = records[0];
        (
            format!("{} {}", record.conn_state.name(), record.history.as_str()),
            record.to_server.missed_bytes + record.to_client.missed_bytes,
        )
    };
    let rest = "<A >PA10 <A >FA <FA >A";
    let whole = |text: &str| (text.to_owned(), 0);
    assert_eq!(challenged("", true, "S", rest), whole("SF ShASaDFf"));
    assert_eq!(challenged("", false, "S", rest), whole("SF ShAsaDFf"));
    assert_eq!(
        challenged(">PA10 <PA10", false, "SA", rest),
        whole("SF ShADdhaFf")
    );
    // Half closed: the server may continue for long.
    let rest = "<A <PA10 >A <FA >A";
    assert_eq!(challenged(">FA <A", true, "S", rest), whole("SF ShAFaSdf"));
}

/// RFC 5961 §4.2: nor do several. A SYN-ACK of the side that has sent the SYN answers nothing, and
/// one of the server begins a connection only if the server did not continue this one before.
#[test]
fn syns_in_an_open_connection_that_nobody_answers_change_nothing() {
    let told = |between: &str, from_client: bool| {
        let mut talk = Talk::new();
        talk.steps(OPEN).steps(">PA10 <A");
        let (client, server) = (talk.client, talk.server);
        talk.push(Packet::tcp(client, server, "S", 0x4000_0000, 0, 0));
        talk.steps("+1").steps(between).steps("+1");
        talk.push(match from_client {
            true => Packet::tcp(client, server, "SA", 0x4000_0002, talk.seq[1], 0),
            false => Packet::tcp(server, client, "SA", 0x5000_0000, 0x4000_0001, 0),
        });
        talk.steps("+1 <A >PA10 <PA10 >FA <FA >A");
        let records = all(&talk.trace);
        (
            records.len(),
            records[0].conn_state.name(),
            records[0].to_server.payload_bytes,
        )
    };
    for (between, from_client) in [("<A", true), ("", true), ("<A", false), ("<PA7", false)] {
        let whole = (1, "SF", 20);
        assert_eq!(told(between, from_client), whole, "{between} {from_client}");
    }
    assert_eq!(told("", false).0, 2, "the server had forgotten it");
}

/// RFC 9293 §3.10.7.1: strays that are answered by a RST are no connection; what follows is one,
/// from its SYN on.
#[test]
fn a_handshake_after_strays_begins_a_connection() {
    for strays in [">SA", ">SA >A", ">PA9", ">A", ">SA >PA9"] {
        for reset in ["<R", ""] {
            let mut talk = Talk::new();
            for stray in strays.split_whitespace() {
                talk.steps(stray).steps(reset);
            }
            talk.seq = [77_000, 99_000];
            talk.steps(OPEN).steps(">PA10 <PA10 >FA <FA >A");
            let records = all(&talk.trace);
            let last = records.last().unwrap();
            let told = (last.conn_state.name(), last.history.as_str());
            assert_eq!(told, ("SF", "ShADdFf"), "{strays} {reset}");
        }
    }
}

/// An attempt ends five seconds after its first SYN, whatever is repeated meanwhile; a SYN after
/// that is a new attempt.
#[test]
fn an_attempt_has_five_seconds() {
    let mut talk = Talk::new();
    talk.steps(">S! +999 >S! +1999 >S! +3999 >S! +7999 >S!");
    let (records, _) = run(&talk.trace, &support::Plan::default());
    let told: Vec<_> = records
        .iter()
        .map(|(key, record)| ((key.time.0 - T0) / support::MS, record.to_server.packets))
        .collect();
    assert_eq!(told, [(5000, 3), (12_000, 1), (15_000, 1)]);
    assert_eq!(records[0].0.time.0, T0 + 5 * SEC);
}
