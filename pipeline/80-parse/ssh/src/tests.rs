//! The records of conversations, cut anywhere.

use crate::Ssh;
use crate::fuzz::{fuzz_ssh, records};
use flowpin_counters::Loss;
use flowpin_memory::Budget;
use flowpin_packet::Timestamp;
use flowpin_parser::testing::{Records, Trial};
use flowpin_parser::{Next, Parser, ParserSetup};
use proptest::prelude::*;

const ALL: usize = usize::MAX;

/// A first packet with these lists: key exchange, host keys, and for each direction the same.
fn offer(kex: &str, cipher: [&str; 2]) -> Vec<u8> {
    let mut packet = vec![4, 20];
    packet.extend([7; 16]);
    let [to_server, to_client] = cipher;
    let lists = [
        kex, "ssh-rsa", to_server, to_client, "m", "n", "none", "zlib", "", "",
    ];
    for list in lists {
        packet.extend(u32::try_from(list.len()).unwrap().to_be_bytes());
        packet.extend(list.bytes());
    }
    packet.extend([0; 9]);
    let mut whole = u32::try_from(packet.len()).unwrap().to_be_bytes().to_vec();
    whole.extend(packet);
    whole
}

/// RFC 4253 §4.2, §7.1: versions, software and offers of both sides; what they agree on.
#[test]
fn a_connection_has_a_record_of_both_sides() {
    let mut client = b"SSH-2.0-OpenSSH_9.6 Debian\r\n".to_vec();
    client.extend(offer("a,b", ["c1,c2", "c3"]));
    client.extend(b"whatever follows");
    let mut server = b"Welcome\r\nSSH-1.99-x-1.2\n".to_vec();
    server.extend(offer("b,a", ["c2", "c3"]));
    let of_client = "a,b;c1,c2;m;none";
    let of_server = "b,a;c3;n;zlib";
    for piece in [ALL, 1, 7] {
        let got = records(&[&client, &server], piece);
        assert_eq!(got.len(), 1, "pieces of {piece}");
        let columns: Vec<&str> = got[0].split('|').collect();
        assert_eq!(
            columns[..10],
            [
                "2",
                "SSH-2.0-OpenSSH_9.6 Debian",
                "SSH-1.99-x-1.2",
                "c2",
                "m",
                "none",
                "a",
                "ssh-rsa",
                "2.0",
                "OpenSSH_9.6"
            ]
        );
        assert_eq!(
            (columns[11], columns[13], columns[15]),
            (of_client, "x-1.2", of_server)
        );
        // What md5sum(1) says.
        assert_eq!(columns[10], "bf9f945657158820e133f09d33de79b5");
        assert_eq!(columns[14], "1119b106b5a6ed9003a4810e2b4b9582");
    }
}

/// RFC 4253 §5.1: 1.99 stands for both versions; without one that both speak there is none.
#[test]
fn the_version_is_one_that_both_speak() {
    for (client, server, both) in [
        ("2.0", "1.99", "2"),
        ("1.99", "2.0", "2"),
        ("1.99", "1.99", "2"),
        ("1.5", "1.99", "1"),
        ("1.5", "2.0", "-"),
        ("2.0", "1.5", "-"),
    ] {
        let line = |version: &str| format!("SSH-{version}-x\n").into_bytes();
        let got = records(&[&line(client), &line(server)], ALL);
        let columns: Vec<&str> = got[0].split('|').collect();
        assert_eq!(columns[0], both, "{client} and {server}");
    }
}

/// What was read before bytes are missing, or a side has no identification, is told.
#[test]
fn what_is_missing_costs_what_it_covers() {
    let client = b"SSH-2.0-a\r\n";
    assert_eq!(
        records(&[client, b"no banner\r\n"], ALL),
        ["-|SSH-2.0-a|-|-|-|-|-|-|2.0|a|-|-|-|-|-|-"]
    );
    assert_eq!(
        records(&[b"", b"SSH-1.5-b\r\n"], ALL),
        ["-|-|SSH-1.5-b|-|-|-|-|-|-|-|-|-|1.5|b|-|-"]
    );
    assert_eq!(
        records(&[b"hello\r\n", b"x\r\n"], ALL),
        ["ssh_banner_missing"]
    );
    assert!(records(&[], ALL).is_empty());
}

/// A connection is released with its record: what follows is encrypted.
#[test]
fn a_connection_is_released_with_its_record() {
    let setup = ParserSetup::default();
    let mut trial = Trial::new(Ssh::new(&setup).unwrap(), &setup);
    let connection = trial.begin(0).unwrap();
    let (mut sink, at) = (Records::default(), Timestamp(1));
    assert!(trial.parser.is_idle(connection));
    let whole = [b"SSH-2.0-a\r\n".to_vec(), offer("k", ["c", "c"])].concat();
    assert_eq!(
        trial.data(connection, at, true, &whole, &mut sink),
        Next::More
    );
    let next = trial.data(connection, at, false, &whole, &mut sink);
    assert_eq!(next, Next::Nothing);
    assert_eq!(sink.records.len(), 1);
    trial.finish(&mut sink);
}

/// A line or a packet that is longer than is kept, or for which there is no memory, is counted.
#[test]
fn what_is_beyond_the_caps_is_counted() {
    for memory in [64 << 10, 100] {
        let bytes = u64::from(Ssh::CONNECTION_BYTES) + memory;
        let setup = ParserSetup::default().with_budgets(Budget::new(bytes), Budget::new(0));
        let mut trial = Trial::new(Ssh::new(&setup).unwrap(), &setup);
        let connection = trial.begin(0).unwrap();
        let (mut sink, at) = (Records::default(), Timestamp(1));
        let long = [b"SSH-2.0-".to_vec(), vec![b'x'; 5000]].concat();
        for part in long.chunks(100) {
            trial.data(connection, at, true, part, &mut sink);
        }
        trial.data(connection, at, true, b"\r\n\0\0\x80\0", &mut sink);
        assert!(trial.parser.losses().of(Loss::ParserBytes) >= 1);
        trial.finish(&mut sink);
    }
}

proptest! {
    /// The records do not depend on where bytes are cut.
    #[test]
    fn cuts_do_not_matter(
        words in prop::collection::vec(prop::sample::select(WORDS), 0..40),
        piece in 0u8..40,
    ) {
        let mut data = vec![piece];
        data.extend(words.concat());
        fuzz_ssh(&data);
    }

    /// No input causes a panic.
    #[test]
    fn no_bytes_cause_a_panic(data in prop::collection::vec(any::<u8>(), 0..600)) {
        fuzz_ssh(&data);
    }
}

const WORDS: &[&[u8]] = &[
    b"SSH-2.0-a b\r\n",
    b"SSH-1.5-x\n",
    b"\0\0\0\x20\x04\x14",
    b"0123456789abcdef",
    b"\0\0\0\x02ab",
    b"\0\0\0\0",
    b"\xa5",
    b"\xa5\xa5",
    b"line\r\n",
];
