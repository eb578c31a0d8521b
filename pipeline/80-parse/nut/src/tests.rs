//! The records of conversations, cut anywhere, and that they have no passwords.

use crate::Nut;
use crate::fuzz::{Records, fuzz_nut, records};
use flowpin_counters::Loss;
use flowpin_packet::{Shard, Timestamp};
use flowpin_parser::{Begin, Parser, ParserSetup};
use proptest::prelude::*;

const ALL: usize = usize::MAX;

/// Commands of upsc, upsrw and upscmd, and the answers of upsd 2.8.
#[test]
fn commands_have_records_with_their_answers() {
    let turns: &[&[u8]] = &[
        b"LIST UPS\n",
        b"BEGIN LIST UPS\nUPS lab \"Lab UPS\"\nUPS hall \"\"\nEND LIST UPS\n",
        b"GET VAR lab \"ups.mfr\"\n",
        b"VAR lab ups.mfr \"A \\\"B\\\"\"\n",
        b"GET VAR nosuch ups.status\n",
        b"ERR UNKNOWN-UPS\n",
        b"USERNAME admin\n",
        b"OK\n",
        b"PASSWORD secret1\n",
        b"OK\n",
        b"SET VAR lab battery.charge \"50\"\n",
        b"OK\n",
        b"INSTCMD lab load.off 5\n",
        b"OK\n",
        b"get upsdesc lab\r\n",
        b"UPSDESC lab \"Lab UPS\"\r\n",
        b"GET TYPE lab battery.charge\n",
        b"TYPE lab battery.charge RW NUMBER\n",
        b"VER\n",
        b"Network UPS Tools upsd 2.8.0\n",
        b"FSD lab\nLOGOUT\n",
        b"OK FSD-SET\nOK Goodbye\n",
    ];
    let expected = [
        "LIST UPS|-|-|-|-|OK|-|2|false",
        "GET VAR|lab|ups.mfr|A \"B\"|-|OK|-|-|false",
        "GET VAR|nosuch|ups.status|-|-|ERR|UNKNOWN-UPS|-|false",
        "USERNAME|-|-|-|admin|OK|-|-|false",
        "PASSWORD|-|-|-|admin|OK|-|-|false",
        "SET VAR|lab|battery.charge|50|admin|OK|-|-|false",
        "INSTCMD|lab|load.off|5|admin|OK|-|-|false",
        "GET UPSDESC|lab|-|Lab UPS|admin|OK|-|-|false",
        "GET TYPE|lab|battery.charge|RW NUMBER|admin|OK|-|-|false",
        "VER|-|-|Network UPS Tools upsd 2.8.0|admin|OK|-|-|false",
        "FSD|lab|-|-|admin|OK|-|-|false",
        "LOGOUT|-|-|-|admin|OK|-|-|false",
    ];
    for piece in [ALL, 1, 2, 7] {
        assert_eq!(records(turns, piece), expected, "pieces of {piece}");
    }
}

/// No record has a password, or an argument of an unknown or misspelt command, which may be one.
#[test]
fn passwords_are_in_no_record() {
    let turns: &[&[u8]] = &[
        b"PASSWORD secret1\n",
        b"ERR USERNAME-REQUIRED\n",
        b"PASWORD secret1\n",
        b"ERR UNKNOWN-COMMAND\n",
        b"LOGOUT secret1\nSTARTTLS secret1\n",
        b"OK Goodbye\n",
    ];
    let all = records(turns, ALL);
    assert_eq!(all[1], "PASWORD|-|-|-|-|ERR|UNKNOWN-COMMAND|-|false");
    assert_eq!(all[3], "STARTTLS|-|-|-|-|-|-|-|false");
    assert!(!all.join(" ").contains("secret"), "{all:?}");
}

/// Once the server accepts STARTTLS, the rest is TLS; if it refuses, NUT continues.
#[test]
fn after_an_accepted_starttls_nothing_is_read() {
    let refused: &[&[u8]] = &[
        b"STARTTLS\n",
        b"ERR FEATURE-NOT-CONFIGURED\n",
        b"STARTTLS\n",
        b"OK STARTTLS\n\x16\x03\x01",
        b"\x16\x03\x01LIST UPS\n",
    ];
    for piece in [ALL, 1, 5] {
        let all = records(refused, piece);
        assert_eq!(
            all,
            [
                "STARTTLS|-|-|-|-|ERR|FEATURE-NOT-CONFIGURED|-|false",
                "STARTTLS|-|-|-|-|OK|-|-|false",
                "successor after 12"
            ]
        );
    }
}

/// Missing bytes are not guessed: commands before a gap have no answer, and later ones have their
/// own.
#[test]
fn a_gap_costs_what_it_covers() {
    let turns: &[&[u8]] = &[
        b"LIST VAR lab\n",
        b"BEGIN LIST VAR lab\nVAR lab a \"1\"\n",
        b"",
        b"VAR lab b \"2\"\nEND LIST VAR lab\n",
        b"AR lab x\nGET VAR lab c\n",
        b"VAR lab c \"3\"\n",
    ];
    let expected = [
        "LIST VAR|lab|-|-|-|-|-|-|false",
        "GET VAR|lab|c|3|-|OK|-|-|false",
    ];
    for piece in [ALL, 1, 3] {
        assert_eq!(records(turns, piece), expected, "pieces of {piece}");
    }
    // Only the server was captured: its answers are reported without commands.
    let alone = records(&[b"x", b"ERR ACCESS-DENIED\nVAR lab c \"3\"\n"], ALL);
    assert_eq!(
        alone,
        [
            "-|-|-|-|-|ERR|ACCESS-DENIED|-|false",
            "-|-|-|3|-|OK|-|-|false"
        ]
    );
}

/// No line and no queue grows past its cap; losses are counted.
#[test]
fn long_lines_and_long_queues_are_cut() {
    let long = [b"GET VAR lab ", &[b'x'; 5000][..], b"\n"].concat();
    let all = records(&[&long, b"OK\n"], 100);
    assert_eq!(all.len(), 1);
    assert!(all[0].ends_with("|OK|-|-|true") && all[0].len() < 600);
    let many = b"LIST UPS\n".repeat(100_000);
    let all = records(&[&many], 1000);
    assert_eq!(all.len(), 100_000);
}

/// A shard follows connections up to its cap and counts the others; one that ends makes room.
#[test]
fn connections_beyond_the_cap_are_counted() {
    let mut nut = Nut::new(&ParserSetup::default()).unwrap();
    let begin = Begin {
        protocol: 0,
        shard: Shard(3),
        at: Timestamp(0),
    };
    let mut open = Vec::new();
    while let Some(connection) = nut.begin(begin, || unreachable!("not needed")) {
        open.push(connection);
    }
    assert!((2..10_000).contains(&open.len()), "{}", open.len());
    assert_eq!(nut.losses().of(Loss::ParserConnections), 1);
    nut.end(open[0], Timestamp(0), &mut Records::default());
    assert!(nut.begin(begin, || unreachable!("not needed")).is_some());
    let long = [b'x'; 5000];
    nut.data(open[1], Timestamp(0), true, &long, &mut Records::default());
    nut.data(open[1], Timestamp(0), true, b"\n", &mut Records::default());
    assert_eq!(nut.losses().of(Loss::ParserBytes), 1);
}

/// Waiting commands take memory however short they are: the cap of a shard holds for empty lines.
#[test]
fn empty_lines_are_within_the_memory_of_their_shard() {
    let mut nut = Nut::new(&ParserSetup::default()).unwrap();
    let begin = Begin {
        protocol: 0,
        shard: Shard(3),
        at: Timestamp(0),
    };
    let mut sink = Records::default();
    for _ in 0..20 {
        let connection = nut.begin(begin, || unreachable!("not needed")).unwrap();
        nut.data(connection, Timestamp(0), true, &[b'\n'; 30], &mut sink);
    }
    let (_, bytes) = nut.in_use();
    assert!((30 * 100..=32 << 10).contains(&bytes), "{bytes}");
    assert!(nut.losses().of(Loss::ParserBytes) > 0);
}

proptest! {
    /// The records do not depend on where bytes are cut.
    #[test]
    fn cuts_do_not_matter(
        words in prop::collection::vec(
            prop::sample::select(WORDS),
            0..60,
        ),
        piece in 0u8..40,
    ) {
        let mut data = vec![piece];
        data.extend(words.concat());
        fuzz_nut(&data);
    }

    /// No input causes a panic.
    #[test]
    fn no_bytes_cause_a_panic(data in prop::collection::vec(any::<u8>(), 0..600)) {
        fuzz_nut(&data);
    }
}

const WORDS: &[&[u8]] = &[
    b"LIST VAR a\n",
    b"GET VAR a b\n",
    b"USERNAME u\n",
    b"PASSWORD p\n",
    b"STARTTLS\n",
    b"OK\n",
    b"OK STARTTLS\n",
    b"BEGIN LIST VAR a\n",
    b"END LIST VAR a\n",
    b"VAR a b \"c\"\n",
    b"ERR X\n",
    b"\xa5",
    b"\xa5\xa5",
    b"\"",
    b"\\",
    b" ",
    b"\r\n",
    b"VER\n",
    b"x",
];
