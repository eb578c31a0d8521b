//! Caps and their counters, and any bytes in any pieces.

use super::run;
use crate::fuzz::{ENDS, Output, fuzz_ftp, options, outputs};
use crate::{Ftp, FtpOptions};
use flowpin_counters::Loss;
use flowpin_packet::Shard;
use proptest::prelude::*;

/// Commands for which there is no room are counted; later ones are paired with their replies again.
#[test]
fn commands_without_room_are_counted() {
    let mut ftp = Ftp::new(options(64));
    let mut talk = vec!["<220 x"];
    talk.extend([">NOOP"; 7]);
    talk.extend(["<200 x"; 7]);
    talk.extend([">PWD", "<257 x"]);
    let mut sink = Output::default();
    run(&mut ftp, &talk, &mut sink);
    assert_eq!(ftp.losses().of(Loss::FtpCommands), 3);
    let events = sink.records.iter().filter(|one| one.starts_with("ftp "));
    assert_eq!(events.count(), 1 + 4 + 1);
}

/// Texts that are too long are cut and counted; a shard without memory continues to read.
#[test]
fn long_texts_are_cut() {
    let mut ftp = Ftp::new(options(16));
    let mut sink = Output::default();
    let long = format!(">RETR {}", "x".repeat(100));
    run(&mut ftp, &["<220 x", &long, "<550 x"], &mut sink);
    assert_eq!(ftp.losses().of(Loss::FtpText), 1);
    assert!(sink.records.contains(&"request_command_too_long".into()));

    let mut ftp = Ftp::new(FtpOptions {
        shard_bytes_max: 500,
        ..options(64)
    });
    run(
        &mut ftp,
        &["<220 x", &long, "<550 no room at all", ">QUIT"],
        &mut sink,
    );
    assert!(ftp.losses().of(Loss::FtpText) > 0);

    let mut ftp = Ftp::new(options(64));
    let held: Vec<_> = (0..3).map(|_| ftp.begin(Shard(1), ENDS)).collect();
    assert!(held[1].is_some() && held[2].is_none());
    assert_eq!(ftp.losses().of(Loss::FtpConnections), 1);
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
