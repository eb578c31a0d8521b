//! The formatter's promises: complete up to the watermark, sorted, memory used again.

use super::Formatter;
use crate::batch::TextFormat;
use crate::text::LINE_LEN_MAX;
use core::net::{IpAddr, Ipv6Addr};
use flowpin_config::{Format, OutputPlan};
use flowpin_packet::{InterfaceId, Layer, Reason, TcpFlags, Timestamp, TunnelKind, bad};
use flowpin_record::{
    AnomalyRecord, App, Confidence, ConnRecord, ConnState, Direction, EndReason, FlowState,
    History, RecordEndpoint, RecordKey, RecordSink, TcpState, ToolNames, Uid,
};

const FORMATS: [Format; 4] = [Format::Eve, Format::ZeekTsv, Format::ZeekJson, Format::Csv];

fn formatter(formats: &[Format]) -> Formatter {
    Formatter::new(&OutputPlan {
        formats: formats.to_vec(),
        ..OutputPlan::default()
    })
}

fn key(time: u64, number: u64) -> RecordKey {
    let (time, ordinal) = (Timestamp(time), 0);
    RecordKey {
        time,
        number,
        ordinal,
    }
}

fn oddity(number: u64) -> AnomalyRecord {
    AnomalyRecord {
        time: Timestamp(number),
        packet_number: Some(number),
        interface: InterfaceId::NONE,
        what: bad(Layer::Udp, Reason::Truncated, 1),
        app: None,
        addresses: None,
        connection: None,
        suppressed: 0,
    }
}

/// A connection whose every field is as long as it can be.
fn longest() -> ConnRecord {
    let most = Direction {
        packets: u64::MAX,
        frame_bytes: u64::MAX,
        ip_bytes: u64::MAX,
        payload_bytes: u64::MAX,
        stream_bytes: u64::MAX,
        missed_bytes: u64::MAX,
        tcp_flags: TcpFlags(0xff),
        duplicates: u32::MAX,
        snapped: u32::MAX,
        bad_checksums: u32::MAX,
        icmp_errors: u32::MAX,
    };
    let endpoint = RecordEndpoint {
        address: IpAddr::V6(Ipv6Addr::from([0xffff; 8])),
        port: u16::MAX,
    };
    let letters = [b'S'; History::LEN_MAX];
    ConnRecord {
        uid: Uid(u64::MAX),
        start: Timestamp(0),
        end: Timestamp::MAX,
        open_until: Timestamp::MAX,
        first_packet: u64::MAX,
        protocol: 6,
        client: endpoint,
        server: endpoint,
        to_server: most,
        to_client: most,
        conn_state: ConnState::RSTOS0,
        history: History { letters, len: 24 },
        flow_state: FlowState::Established,
        tcp_state: TcpState::Established,
        reason: EndReason::EndOfInput,
        interim: u32::MAX,
        rtt_ns: Some(u64::MAX),
        vlans: [4095; 2],
        interface: InterfaceId::NONE,
        tunnel: Some((TunnelKind::Geneve, Uid(u64::MAX))),
        flipped: true,
        midstream: true,
        icmp: Some((255, 255)),
        alerted: false,
        app: Some(App {
            name: "a-name-as-long-as-a-file-name-of-a-pattern-of-somebody",
            in_tools: ToolNames::of("a-name-as-long-as-a-file-name-of-a-pattern-of-somebody"),
            original_in_tools: ToolNames::of(
                "a-name-as-long-as-a-file-name-of-a-pattern-of-somebody",
            ),
            original: Some("a-name-as-long-as-a-file-name-of-a-pattern-of-somebody"),
            rule: "a-name-as-long-as-a-file-name-of-a-pattern-of-somebody",
            confidence: Confidence::Likely,
            by_client: false,
            number: u16::MAX,
        }),
    }
}

/// A record behind the watermark waits, however the records came; a later batch has it.
#[test]
fn a_batch_ends_at_its_watermark_and_is_sorted() {
    let mut formatter = formatter(&FORMATS);
    for time in [5, 3, 9, 4] {
        formatter.anomaly(key(time, time), &oddity(time));
    }
    let times = |formatter: &mut Formatter, watermark| {
        let batch = formatter.take_batch(Timestamp(watermark));
        let entries = batch
            .entries
            .iter()
            .map(|entry| entry.key.time.0)
            .collect::<Vec<_>>();
        let texts = (0..batch.len()).map(|index| {
            let text = batch.record(index).unwrap().text(TextFormat::ZeekTsv);
            String::from_utf8(text.to_vec()).unwrap()
        });
        for (time, text) in entries.iter().zip(texts) {
            assert!(
                text.contains(&format!("\t{time}\t0\n")),
                "the text moved along: {text}"
            );
        }
        entries
    };
    assert_eq!(times(&mut formatter, 2), [0; 0]);
    assert_eq!(times(&mut formatter, 4), [3, 4]);
    formatter.anomaly(key(6, 6), &oddity(6));
    assert!(formatter.held_bytes() > 0);
    assert_eq!(times(&mut formatter, 100), [5, 6, 9]);
    assert_eq!(formatter.held_bytes(), 0);
}

/// Where time stands still the packet number may be the watermark.
#[test]
fn a_watermark_may_be_finer_than_time() {
    let mut formatter = formatter(&FORMATS);
    for number in 0..10 {
        formatter.anomaly(key(7, number), &oddity(number));
    }
    assert_eq!(formatter.take_batch_up_to(key(7, 3)).len(), 4);
    assert_eq!(formatter.take_batch_up_to(key(7, 9)).len(), 6);
}

/// A capture may begin at time 0, and then all of its first packets lie behind the watermark of
/// a stage that has delivered what came before.
#[test]
fn nothing_is_complete_at_time_zero() {
    let mut formatter = formatter(&FORMATS);
    formatter.anomaly(key(0, 1), &oddity(1));
    let batch = formatter.take_batch(Timestamp(0));
    assert_eq!((batch.len(), batch.watermark()), (0, RecordKey::default()));
    assert_eq!(formatter.take_batch(Timestamp(1)).len(), 1);
}

/// A line that does not fit would be cut in the middle: there must be room to spare.
#[test]
fn the_longest_record_takes_half_a_line_at_most() {
    let mut formatter = formatter(&FORMATS);
    formatter.conn(key(u64::MAX, u64::MAX), &longest());
    let batch = formatter.take_batch(Timestamp::MAX);
    let lens = batch.entries[0].lens;
    let formats = [
        TextFormat::Eve,
        TextFormat::ZeekTsv,
        TextFormat::ZeekJson,
        TextFormat::Csv,
    ];
    for len in formats.map(|format| lens.of(format)) {
        assert!(len > 0 && len < LINE_LEN_MAX / 2, "{lens:?}");
    }
}

/// Batches that come home are used again: memory stops growing.
#[test]
fn a_formatter_lives_on_the_batches_that_come_home() {
    let mut formatter = formatter(&FORMATS);
    let mut places = std::collections::BTreeSet::new();
    for round in 0..100 {
        for number in 0..50 {
            formatter.anomaly(key(round, number), &oddity(number));
        }
        formatter.anomaly(key(round + 1, 0), &oddity(0));
        let batch = formatter.take_batch(Timestamp(round));
        places.insert((batch.entries.as_ptr(), batch.text.as_slice().as_ptr()));
        formatter.recycle(batch);
    }
    assert!(
        places.len() <= 4,
        "two batches, moved at most once each: {}",
        places.len()
    );
}
