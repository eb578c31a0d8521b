//! The records of conversations, cut anywhere, and that they have no passwords.

use crate::Nut;
use crate::fuzz::{fuzz_nut, records};
use flowpin_counters::Loss;
use flowpin_memory::Budget;
use flowpin_packet::Timestamp;
use flowpin_parser::testing::{Records, Trial};
use flowpin_parser::{Parser, ParserSetup};
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

/// Without memory, commands are reported without their answers, and counted.
#[test]
fn a_shard_without_memory_keeps_no_commands() {
    let bytes = u64::from(Nut::CONNECTION_BYTES) + 1000;
    let setup = ParserSetup::default().with_budgets(Budget::new(bytes), Budget::new(0));
    let mut trial = Trial::new(Nut::new(&setup).unwrap(), &setup);
    let mut sink = Records::default();
    let connection = trial.begin(0).unwrap();
    let commands = b"LIST VAR lab\n".repeat(20);
    trial.data(connection, Timestamp(0), true, &commands, &mut sink);
    let lost = trial.parser.losses().of(Loss::ParserBytes);
    assert!(sink.records.len() < 20 && lost == 12 * sink.records.len() as u64);
    trial.data(connection, Timestamp(0), true, &[b'x'; 5000], &mut sink);
    assert_eq!(trial.parser.losses().of(Loss::ParserBytes), lost + 1);
    trial.end(connection, Timestamp(0), &mut sink);
    assert_eq!(sink.records.len(), 20);
    trial.finish(&mut sink);
}

/// A waiting command takes memory however short it is: a segment of empty lines is within what one
/// may take (`Trial` checks it), and a connection within its maximum.
#[test]
fn empty_lines_are_within_the_memory_of_a_segment() {
    let setup = ParserSetup::default();
    let mut trial = Trial::new(Nut::new(&setup).unwrap(), &setup);
    let mut sink = Records::default();
    for _ in 0..20 {
        let connection = trial.begin(0).unwrap();
        let before = trial.left();
        trial.data(connection, Timestamp(0), true, &[b'\n'; 60], &mut sink);
        assert!(before - trial.left() >= 32 * 32);
    }
    assert_eq!(trial.parser.losses().of(Loss::ParserBytes), 20 * (60 - 32));
    trial.finish(&mut sink);
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
    fn no_bytes_cause_a_panic(
        data in prop::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..600),
    ) {
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
