//! The columns of records, and announcements of data connections.

use super::{all, run, trial};
use crate::options::FtpOptions;
use core::net::IpAddr;
use flowpin_packet::Timestamp;
use flowpin_parser::testing::Records;
use flowpin_record::{MessageSchema, MessageSink, Value};

/// A relative directory is resolved against the current one, and later names against the new one.
#[test]
fn directories_are_relative_to_the_current_one() {
    let mut found = Records::default();
    let all_commands = FtpOptions {
        all_commands: true,
        ..FtpOptions::default()
    };
    let conversation = [
        ">PWD",
        "<257 \"/home/bob\"",
        ">CWD up",
        "<250 x",
        ">CWD ../x",
        "<250 x",
        ">SIZE f",
        "<213 1",
        ">CDUP",
        "<250 x",
        ">CWD no",
        "<550 x",
        ">RETR g",
        "<226 x",
    ];
    run(&mut trial(all_commands), &conversation, &mut found);
    for path in ["up", "x", "x/f", "no", "g"] {
        let address = format!("|ftp://192.0.2.2/home/bob/{path}|");
        let count = found
            .records
            .iter()
            .filter(|one| one.contains(&address))
            .count();
        assert_eq!(count, 1, "{path}: {:?}", found.records);
    }
}

/// Events whose values are not read are emitted and counted all the same.
#[test]
fn unread_events_are_emitted() {
    #[derive(Default)]
    struct UnreadSink(Vec<usize>);
    impl MessageSink for UnreadSink {
        fn message(&mut self, schema: &MessageSchema, _: Timestamp, values: &[Value<'_>]) {
            assert_eq!(schema.name, "ftp");
            self.0.push(values.len());
        }
        fn reads(&self, _: &MessageSchema) -> bool {
            false
        }
        fn anomaly(&mut self, _: &'static str) {}
    }
    let mut ftp = trial(FtpOptions::default());
    let mut sink = UnreadSink::default();
    let handle = ftp.begin(0).unwrap();
    ftp.data(handle, Timestamp(1), false, b"220 x\r\n", &mut sink);
    ftp.data(handle, Timestamp(2), true, b"PASV\r\n", &mut sink);
    ftp.end(handle, Timestamp(3), &mut sink);
    assert_eq!(sink.0, [0, 0]);
}

/// Zeek's columns: URLs of files, the size, the data connection.
#[test]
fn the_log_has_urls() {
    let mut ftp = trial(FtpOptions::default());
    ftp.ends.server.address = "2001:db8::2".parse::<IpAddr>().unwrap();
    let mut sink = Records::default();
    let handle = ftp.begin(0).unwrap();
    for (to_server, line) in [
        (true, "CWD /pub/x\r\n"),
        (false, "250 ok\r\n"),
        (true, "RETR ../a\r\n"),
        (false, "150 Opening (77 bytes).\r\n226 Done\r\n"),
    ] {
        ftp.data(handle, Timestamp(1), to_server, line.as_bytes(), &mut sink);
    }
    let log: Vec<_> = sink
        .records
        .iter()
        .filter(|one| one.starts_with("ftp_log"))
        .collect();
    let [line] = log[..] else {
        panic!("{log:?}");
    };
    assert!(line.contains("|ftp://[2001:db8::2]/pub/a|"), "{line}");
    assert!(line.contains("|77|226|"), "{line}");
}

/// Data connections and their content are announced, except to the address of a third host.
#[test]
fn announcements_name_only_the_two_hosts() {
    let channels = |conversation: &[&str]| all(conversation).channels.join("\n");
    let found = channels(&[
        "<220 x",
        ">PASV",
        "<227 Entering (10,0,0,9,117,72)",
        ">RETR f",
        "<150 x",
        "<226 x",
    ]);
    assert!(
        found.contains("192.0.2.2, port: 30024"),
        "its own address: {found}"
    );
    assert!(
        found.contains("Carries { command: [82, 69, 84, 82], file: [102] }"),
        "{found}"
    );
    let found = channels(&["<220 x", ">EPSV", "<229 x (|||6446|)", ">LIST", "<125 x"]);
    assert!(
        found.contains("port: 6446") && found.contains("Carries"),
        "{found}"
    );
    let found = channels(&[
        "<220 x",
        ">EPRT |1|192.0.2.1|5000|",
        "<200 x",
        ">STOR g",
        "<150 x",
    ]);
    assert!(
        found.contains("by_client: true, opener: 192.0.2.2"),
        "{found}"
    );
    assert!(found.contains("192.0.2.1, port: 5000"), "{found}");
    for refused in [
        &[
            "<220 x",
            ">PORT 10,0,0,9,0,80",
            "<200 x",
            ">STOR g",
            "<150 x",
        ][..],
        &["<220 x", ">PORT 192,0,2,1,9,80", "<500 x"],
        &["<220 x", ">PASV", "<502 x"],
        &["<220 x", ">NOOP", "<227 (192,0,2,2,1,1)"],
    ] {
        assert_eq!(channels(refused), "", "{refused:?}");
    }
    let bounce = all(&["<220 x", ">PORT 10,0,0,9,0,80", "<200 x"]).records;
    assert!(bounce.contains(&"ftp_bounce".into()), "{bounce:?}");
}

/// If only one side was captured, its data connections are announced.
#[test]
fn one_side_announces() {
    let found = all(&["<220 x", "<227 (192,0,2,2,117,72)"]).channels;
    assert_eq!(found.len(), 1);
    let found = all(&[">PORT 192,0,2,1,9,80", ">RETR f"]).channels;
    assert_eq!(found.len(), 2);
}
