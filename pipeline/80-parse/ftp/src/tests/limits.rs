//! Caps and their counters, and any bytes in any pieces.

use super::{run, trial};
use crate::Ftp;
use crate::fuzz::{fuzz_ftp, options, outputs};
use crate::options::FtpOptions;
use flowpin_counters::Loss;
use flowpin_memory::Budget;
use flowpin_packet::Timestamp;
use flowpin_parser::testing::{Records, Trial};
use flowpin_parser::{Parser, ParserSetup};
use proptest::prelude::*;

/// Commands for which there is no room are counted; later ones are paired with their replies again.
#[test]
fn commands_without_room_are_counted() {
    let mut ftp = trial(options(64));
    let mut talk = vec!["<220 x"];
    talk.extend([">NOOP"; 7]);
    talk.extend(["<200 x"; 7]);
    talk.extend([">PWD", "<257 x"]);
    let mut sink = Records::default();
    run(&mut ftp, &talk, &mut sink);
    assert_eq!(ftp.parser.losses().of(Loss::FtpCommands), 3);
    let events = sink.records.iter().filter(|one| one.starts_with("ftp "));
    assert_eq!(events.count(), 1 + 4 + 1);
}

/// Texts that are too long are cut and counted; a shard without memory continues to read.
#[test]
fn long_texts_are_cut() {
    let mut ftp = trial(options(16));
    let mut sink = Records::default();
    let long = format!(">RETR {}", "x".repeat(100));
    run(&mut ftp, &["<220 x", &long, "<550 x"], &mut sink);
    assert_eq!(ftp.parser.losses().of(Loss::FtpText), 1);
    assert!(sink.records.contains(&"request_command_too_long".into()));
}

/// Without memory, a text is cut or left out and counted, and the session continues; commands
/// without room are not queued. What waited is reported at the end all the same.
#[test]
fn a_shard_without_memory_continues_to_read() {
    for bytes in [0, 60, 150, 400, 700] {
        let bytes = u64::from(Ftp::CONNECTION_BYTES) + bytes;
        let setup = ParserSetup::default().with_budgets(Budget::new(bytes), Budget::new(0));
        let ftp = Ftp::with_options(options(64), &setup).unwrap();
        let mut ftp = Trial::new(ftp, &setup);
        let long = format!(">RETR {}", "x".repeat(200));
        let mut talk = vec!["<220 x", ">USER a", "<331 x"];
        talk.extend([
            &long,
            ">PWD",
            ">NOOP",
            "<550 no room at all, and more text",
            ">QUIT",
        ]);
        let mut sink = Records::default();
        run(&mut ftp, &talk, &mut sink);
        let losses = ftp.parser.losses();
        assert!(losses.of(Loss::FtpText) > 0, "{bytes}");
        assert!(losses.of(Loss::FtpCommands) > 0 || bytes > 500, "{bytes}");
        assert!(
            sink.records.iter().any(|one| one.starts_with("ftp ")),
            "{bytes}"
        );
    }
}

/// The shortest commands, and the shortest lines of a reply, in one segment: what they take of the
/// memory is bounded (by `Trial`).
#[test]
fn many_lines_in_one_segment_take_little_memory() {
    for (line, to_server) in [(&b"A\n"[..], true), (b"\x7f\n", true), (b"\n", false)] {
        let mut ftp = trial(FtpOptions::default());
        let mut sink = Records::default();
        let connection = ftp.begin(0).unwrap();
        ftp.data(connection, Timestamp(1), false, b"220-x\n", &mut sink);
        let lines = line.repeat(2000);
        ftp.data(connection, Timestamp(1), to_server, &lines, &mut sink);
        ftp.finish(&mut sink);
        assert!(!sink.records.is_empty());
    }
}

proptest! {
    /// The records do not depend on where conversations are cut.
    #[test]
    fn pieces_have_the_same_records(
        settings in any::<u8>(),
        parts in prop::collection::vec(prop_oneof![
            Just(b"USER anonymous\r\n".to_vec()), Just(b"PASS x\r\n".to_vec()),
            Just(b"PORT 192,0,2,1,9,9\r\n".to_vec()), Just(b"PASV\r\n".to_vec()),
            Just(b"RETR /a\r\n".to_vec()), Just(b"220 x\r\n".to_vec()),
            Just(b"227 (192,0,2,2,9,9)\r\n".to_vec()), Just(b"230-a\r\nb\r\n".to_vec()),
            Just(b"230 c\r\n".to_vec()), Just(b"AUTH TLS\r\n".to_vec()),
            Just(b"234 x\r\n".to_vec()), Just(b"\xa5".to_vec()), Just(b"\xa5\xa5".to_vec()),
            Just(b"150 (5 bytes)\r\n".to_vec()), Just(b"226 x\n".to_vec()),
            Just(b"\xff\xf4\xff\xf2ABOR\r\n".to_vec()),
            prop::collection::vec(any::<u8>(), 0..9),
        ], 0..30),
    ) {
        let data = [vec![settings], parts.concat()].concat();
        fuzz_ftp(&data);
    }

    /// No input causes a panic.
    #[test]
    fn no_bytes_cause_a_panic(data in prop::collection::vec(any::<u8>(), 0..300)) {
        fuzz_ftp(&data);
        outputs(options(8), &[&data, &data], 3);
    }
}
