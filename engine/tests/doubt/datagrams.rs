//! Datagrams: one that looks like another protocol, and those behind it.

use crate::support::{
    INVITE, RINGING, STUN, Turns, answer, datagrams, empty_initial, named, query, run,
};
use flowpin_counters::Loss;

/// What stands in front.
fn junk_datagrams() -> Vec<(&'static str, Vec<u8>)> {
    let random = (0..40u8).map(|n| n.wrapping_mul(151) ^ 0xe7).collect();
    vec![
        ("random", random),
        ("zeros", vec![0; 64]),
        ("one byte", vec![0]),
        ("stun", STUN.to_vec()),
        ("dns", query(9)),
        ("quic", empty_initial()),
        ("sip", b"OPTIONS sip:a SIP/2.0\r\n\r\n".to_vec()),
        ("keep-alive", b"\r\n\r\n".to_vec()),
    ]
}

/// Whatever one datagram looks like, those behind it name the connection and are read.
#[test]
fn one_junk_datagram_names_nothing_for_good() {
    let dns = [query(1), answer(1), query(2), answer(2)];
    let dns: Vec<(bool, &[u8])> = dns
        .iter()
        .zip([true, false].into_iter().cycle())
        .map(|(bytes, to_server)| (to_server, bytes.as_slice()))
        .collect();
    let sip: Turns<'_> = &[
        (true, INVITE),
        (false, RINGING),
        (true, INVITE),
        (false, RINGING),
    ];
    for (expected, turns, least) in [("dns", &dns[..], 4), ("sip", sip, 2)] {
        for (what, junk) in junk_datagrams() {
            let mut all: Vec<(bool, &[u8])> = vec![(true, &junk)];
            all.extend(turns);
            let (_, records) = run(&datagrams(&all), "1x1");
            let (name, messages) = named(&records);
            assert_eq!(name, expected, "{what} before {expected}: {records}");
            assert!(messages >= least, "{what} before {expected}: {records}");
        }
    }
}

/// Media has no mark: two datagrams that agree name it behind one that looked like something.
#[test]
fn media_is_known_behind_a_junk_datagram() {
    let media: Vec<[u8; 20]> = (1..6u8)
        .map(|number| {
            let mut bytes = [0x5a; 20];
            bytes[..12].copy_from_slice(&[0x80, 0, 7, number, 0, 0, 1, number, 9, 9, 9, 5]);
            bytes
        })
        .collect();
    for (what, junk) in junk_datagrams() {
        let mut all: Vec<(bool, &[u8])> = vec![(true, &junk)];
        all.extend(media.iter().map(|one| (true, &one[..])));
        let (_, records) = run(&datagrams(&all), "1x1");
        let (name, _) = named(&records);
        assert_eq!(name, "rtp", "{what}: {records}");
    }
}

/// Who changes with every datagram is followed so often, and counted: no more work than that.
#[test]
fn a_connection_does_not_change_its_name_without_end() {
    let (dns, quic) = (query(1), empty_initial());
    let kinds: [&[u8]; 4] = [STUN, &dns, &quic, INVITE];
    let turns: Vec<(bool, &[u8])> = (0..400).map(|n| (true, kinds[n % 4])).collect();
    let (report, records) = run(&datagrams(&turns), "1x1");
    assert!(report.identify.taken_back <= 4, "{records}");
    assert!(report.losses.of(Loss::IdentifyChanges) <= 1);
    assert!(
        report.identify.inspected <= 40,
        "{}",
        report.identify.inspected
    );
    let shapes = ["2x1", "2x2", "3x3"].map(|shape| run(&datagrams(&turns), shape).1);
    for other in shapes {
        assert_eq!(records.lines().count(), other.lines().count());
        assert_eq!(named(&records), named(&other));
    }
}
