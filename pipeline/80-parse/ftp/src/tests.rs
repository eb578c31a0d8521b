//! Conversations, and what is told of them.

use crate::fuzz::{ENDS, Told, fuzz_ftp, options, told};
use crate::{Ftp, FtpOptions};
use core::net::IpAddr;
use flowpin_counters::Loss;
use flowpin_packet::{Shard, Timestamp};
use flowpin_record::{MessageSchema, MessageSink, RecordEndpoint, Value};
use proptest::prelude::*;

/// `<` stands before what the server says, `>` before what the client says.
fn all(conversation: &[&str]) -> Told {
    let mut sink = Told::default();
    let mut ftp = Ftp::new(FtpOptions::default());
    run(&mut ftp, conversation, &mut sink);
    sink
}

fn run(ftp: &mut Ftp, conversation: &[&str], sink: &mut Told) {
    let handle = ftp.begin(Shard(3), ENDS).unwrap();
    for (at, line) in (1..).zip(conversation) {
        let (who, text) = line.split_at(1);
        let to_server = who == ">";
        if text == "…" {
            ftp.gap(handle, Timestamp(at), to_server, 9, sink);
        } else {
            let bytes = format!("{text}\r\n");
            ftp.data(handle, Timestamp(at), to_server, bytes.as_bytes(), sink);
        }
    }
    ftp.end(handle, Timestamp(99), sink);
    assert!(ftp.is_empty());
}

/// `COMMAND argument -> codes` of each event.
fn events(conversation: &[&str]) -> Vec<String> {
    let told = all(conversation).records;
    let events = told.iter().filter_map(|one| one.strip_prefix("ftp "));
    events.map(brief).collect()
}

fn brief(event: &str) -> String {
    let text = |value: &str| {
        let numbers = value.trim_matches(|c: char| !c.is_ascii_digit());
        let bytes = numbers.split(", ").filter_map(|one| one.parse().ok());
        String::from_utf8_lossy(&bytes.collect::<Vec<u8>>()).into_owned()
    };
    let mut columns = Vec::new();
    let (mut depth, mut start) = (0, 1);
    for (at, letter) in event.char_indices() {
        match letter {
            '[' | '(' => depth += 1,
            ']' | ')' => depth -= 1,
            ',' if depth == 1 => {
                columns.push(&event[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    let codes: Vec<_> = columns[3].split("Bytes").skip(1).map(text).collect();
    let line = format!(
        "{} {} -> {}",
        text(columns[0]),
        text(columns[1]),
        codes.join(" ")
    );
    line.trim().replace("  ", " ")
}

/// Each command has its own replies, a preliminary one among them; the greeting stands alone.
#[test]
fn commands_have_their_replies() {
    let told = events(&[
        "<220 (vsFTPd 3.0.3)",
        ">user anonymous",
        "<331 Please specify the password.",
        ">RETR a b",
        "<150 Opening",
        "<226 Done",
        ">QUIT",
        "<221 Goodbye.",
    ]);
    assert_eq!(
        told,
        [
            "-> 220",
            "USER anonymous -> 331",
            "RETR a b -> 150 226",
            "QUIT -> 221"
        ]
    );
}

/// RFC 959 §4.2: lines between the first and the last may begin with anything.
#[test]
fn a_reply_may_have_several_lines() {
    let told = events(&[
        "<220-Welcome",
        "<150 users are logged in",
        "< and so on",
        "<220 Ready",
        ">FEAT",
        "<211-Features:",
        "< EPRT",
        "<211 End",
    ]);
    assert_eq!(told, ["-> 220 220", "FEAT -> 211 211"]);
}

/// What a server never ends counts as ended once its client goes on.
#[test]
fn a_reply_that_never_ends_does_not_take_the_others() {
    let told = events(&[
        "<220 x",
        ">STOR a",
        "<150 Opening",
        "<230- WARNING! 4 bare linefeeds received in ASCII mode",
        "<   File may not have transferred correctly.",
        "<226 Transfer complete.",
        ">NOOP",
        "<200 ok",
    ]);
    assert_eq!(told, ["-> 220", "STOR a -> 150 230", "NOOP -> 200"]);
}

/// RFC 2920's idea, which FTP's clients have too; and a greeting that comes late.
#[test]
fn commands_may_come_at_once() {
    let told = events(&[
        ">USER a",
        ">PASS b",
        ">PWD",
        "<220 x",
        "<331 x",
        "<230 x",
        "<257 \"/\"",
    ]);
    let expected = [
        "-> 220",
        "USER a -> 331",
        "PASS <hidden> -> 230",
        "PWD -> 257",
    ];
    assert_eq!(told, expected);
}

/// The server's side alone, and the client's alone.
#[test]
fn one_side_is_told_of_too() {
    let told = events(&["<220 x", "<331 x", "<227 x (192,0,2,2,1,1)"]);
    assert_eq!(told, ["-> 220", "-> 331", "-> 227"]);
    let many: Vec<String> = (0..200).map(|n| format!(">STOR {n}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let told = events(&many);
    assert_eq!(told.len(), 200);
    assert_eq!(told[199], "STOR 199 ->");
}

/// Behind missing replies commands find theirs again.
#[test]
fn a_gap_costs_only_what_is_missing() {
    let told = events(&[
        "<220 x", ">CWD a", "<…", ">CWD b", "<250 b", ">…", "<250 c", ">CWD d", "<250 d",
    ]);
    let expected = [
        "-> 220",
        "CWD a ->",
        "CWD b -> 250",
        "-> 250",
        "CWD d -> 250",
    ];
    assert_eq!(told, expected);
    // A reply that only one command gets sets right what went wrong before.
    let told = events(&[
        "<220 x",
        ">ABOR",
        ">PASV",
        "<227 (192,0,2,2,1,1)",
        ">QUIT",
        "<221 x",
    ]);
    assert_eq!(told, ["-> 220", "ABOR ->", "PASV -> 227", "QUIT -> 221"]);
}

/// Passwords are in no record, however they come; guests' are.
#[test]
fn passwords_are_not_told() {
    let secrets = [
        &[
            "<220 x",
            ">USER bob",
            "<331 x",
            ">PASS s3cret",
            "<230 x",
            ">STOR f",
            "<226 x",
        ][..],
        &[">PASS s3cret", "<230 x"],
        &[">uSER bob", ">pass  s3cret"],
        &["<220 x", ">USER bob", ">…", ">S s3cret", "<230 x"],
        &[
            ">USER ftp",
            ">PASS x@y",
            ">USER bob",
            ">PASS s3cret",
            "<230 x",
            ">PASV",
            "<227 x",
        ],
        &[">USER bob", ">ACCT s3cret", ">ADAT s3cret"],
        &[">\u{7f}PASS s3cret", "<500 ?"],
    ];
    let bytes = format!("{:?}", b"s3cret");
    let bytes = bytes.trim_matches(['[', ']']);
    for conversation in secrets {
        let told = all(conversation).records;
        assert!(told.iter().all(|one| !one.contains(bytes)), "{told:?}");
    }
    assert_eq!(events(&[">USER ftp", ">PASS a@b"])[1], "PASS a@b ->");
}

/// Commands of servers' own that have passwords: below SITE, and such as no standard knows.
#[test]
fn passwords_of_other_commands_are_not_told() {
    for (line, shown) in [
        ("SITE PSWD s3cret s3cret", "SITE PSWD <hidden>"),
        ("site  chpass  bob s3cret", "SITE  chpass <hidden>"),
        ("SITE PASSWD\ts3cret", "SITE PASSWD\t<hidden>"),
        ("SITE CPWD s3cret", "SITE CPWD <hidden>"),
        ("SITE GPASS s3cret", "SITE GPASS <hidden>"),
        ("SITE ADDUSER bob s3cret", "SITE ADDUSER <hidden>"),
        ("SITE GAddUser staff bob s3cret", "SITE GAddUser <hidden>"),
        ("XPAS s3cret", "XPAS <hidden>"),
        ("password s3cret", "PASSWORD <hidden>"),
        ("SITE CHMOD 644 s3cret", "SITE CHMOD 644 s3cret"),
        ("SITE PSWD", "SITE PSWD"),
        ("SITE", "SITE"),
        ("XSHA1 s3cret", "XSHA1 s3cret"),
        ("XCWD s3cret", "XCWD s3cret"),
    ] {
        let conversation = [
            "<220 x",
            ">USER anonymous",
            "<331 x",
            &format!(">{line}"),
            "<200 x",
        ];
        let told = events(&conversation);
        assert_eq!(
            told[2].replace("  ", " "),
            format!("{shown} -> 200").replace("  ", " ")
        );
        let mut log = Told::default();
        let all_commands = FtpOptions {
            all_commands: true,
            ..FtpOptions::default()
        };
        run(&mut Ftp::new(all_commands), &conversation, &mut log);
        let secret = format!("{:?}", b"s3cret");
        let is_told = log
            .records
            .iter()
            .any(|one| one.contains(secret.trim_matches(['[', ']'])));
        assert_eq!(is_told, shown.contains("s3cret"), "{line}");
    }
}

/// The directory that a command names is below the one before it; what follows is below that.
#[test]
fn a_directory_is_below_the_one_before_it() {
    let mut told = Told::default();
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
    run(&mut Ftp::new(all_commands), &conversation, &mut told);
    for path in ["up", "x", "x/f", "no", "g"] {
        let address = format!(
            "{:?}",
            format!("ftp://192.0.2.2/home/bob/{path}").as_bytes()
        );
        let count = told
            .records
            .iter()
            .filter(|one| one.contains(&address))
            .count();
        assert_eq!(count, 1, "{path}: {:?}", told.records);
    }
}

/// What nobody reads counts all the same.
#[test]
fn events_are_told_where_nobody_reads_them() {
    #[derive(Default)]
    struct Deaf(Vec<usize>);
    impl MessageSink for Deaf {
        fn message(&mut self, schema: &MessageSchema, _: Timestamp, values: &[Value<'_>]) {
            assert_eq!(schema.name, "ftp");
            self.0.push(values.len());
        }
        fn reads(&self, _: &MessageSchema) -> bool {
            false
        }
        fn anomaly(&mut self, _: &'static str) {}
    }
    let mut ftp = Ftp::new(FtpOptions::default());
    let mut sink = Deaf::default();
    let handle = ftp.begin(Shard(3), ENDS).unwrap();
    ftp.data(handle, Timestamp(1), false, b"220 x\r\n", &mut sink);
    ftp.data(handle, Timestamp(2), true, b"PASV\r\n", &mut sink);
    ftp.end(handle, Timestamp(3), &mut sink);
    assert_eq!(sink.0, [0, 0]);
}

/// Who agrees to TLS and goes on in clear hides nothing, whichever side does first.
#[test]
fn clear_text_behind_auth_is_read() {
    for turns in [
        ["<220 x", ">AUTH TLS", "<234 Go", ">USER a", "<331 x"],
        ["<220 x", ">AUTH", "<234 Go", ">USER a", "<331 x"],
    ] {
        let told = all(&turns);
        assert!(
            told.records.contains(&"ftp_no_tls".into()),
            "{:?}",
            told.records
        );
        let last = events(&turns).pop();
        assert_eq!(last.as_deref(), Some("USER a -> 331"));
    }
}

/// Servers repeat what they do not understand.
#[test]
fn a_password_that_the_server_repeats_is_not_told() {
    for reply in [
        "<500 'PASS s3cret': what?",
        "<530 pass s3cret is wrong",
        "<500 PASS s3cret",
    ] {
        let told = all(&["<220 x", ">USER a", "<331 x", ">PASS s3cret", reply]).records;
        let has = |text: &[u8]| {
            let bytes = format!("{text:?}");
            let inner = bytes.trim_matches(['[', ']']);
            told.iter().any(|one| one.contains(inner))
        };
        assert!(!has(b"s3cret") && has(b"<hidden>"), "{told:?}");
    }
}

/// RFC 4217 §4: nothing behind the server's word is read.
#[test]
fn behind_auth_nothing_is_read() {
    let told = events(&[
        "<220 x",
        ">AUTH TLS",
        "<234 Go",
        ">\u{16}\u{3}\u{1}",
        ">USER a",
        "<331 x",
    ]);
    assert_eq!(told, ["-> 220", "AUTH TLS -> 234"]);
    let told = events(&["<220 x", ">AUTH TLS", "<530 No", ">USER a", "<331 x"]);
    assert_eq!(told, ["-> 220", "AUTH TLS -> 530", "USER a -> 331"]);
}

/// What is announced, and what it carries; of another host's address nothing is.
#[test]
fn announcements_are_of_the_two_hosts() {
    let channels = |conversation: &[&str]| all(conversation).channels.join("\n");
    let told = channels(&[
        "<220 x",
        ">PASV",
        "<227 Entering (10,0,0,9,117,72)",
        ">RETR f",
        "<150 x",
        "<226 x",
    ]);
    assert!(
        told.contains("192.0.2.2, port: 30024"),
        "its own address: {told}"
    );
    assert!(
        told.contains("Carries { command: [82, 69, 84, 82], file: [102] }"),
        "{told}"
    );
    let told = channels(&["<220 x", ">EPSV", "<229 x (|||6446|)", ">LIST", "<125 x"]);
    assert!(
        told.contains("port: 6446") && told.contains("Carries"),
        "{told}"
    );
    let told = channels(&[
        "<220 x",
        ">EPRT |1|192.0.2.1|5000|",
        "<200 x",
        ">STOR g",
        "<150 x",
    ]);
    assert!(
        told.contains("by_client: true, opener: 192.0.2.2"),
        "{told}"
    );
    assert!(told.contains("192.0.2.1, port: 5000"), "{told}");
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

/// Where only one side is in the capture, it announces.
#[test]
fn one_side_announces() {
    let told = all(&["<220 x", "<227 (192,0,2,2,117,72)"]).channels;
    assert_eq!(told.len(), 1);
    let told = all(&[">PORT 192,0,2,1,9,80", ">RETR f"]).channels;
    assert_eq!(told.len(), 2);
}

/// Too many commands without reply are counted; those behind them find theirs again.
#[test]
fn commands_without_room_are_counted() {
    let mut ftp = Ftp::new(options(64));
    let mut talk = vec!["<220 x"];
    talk.extend([">NOOP"; 7]);
    talk.extend(["<200 x"; 7]);
    talk.extend([">PWD", "<257 x"]);
    let mut sink = Told::default();
    run(&mut ftp, &talk, &mut sink);
    assert_eq!(ftp.losses().of(Loss::FtpCommands), 3);
    let events = sink.records.iter().filter(|one| one.starts_with("ftp "));
    assert_eq!(events.count(), 1 + 4 + 1);
}

/// Texts that are too long are cut, and that is counted; a shard without memory reads on.
#[test]
fn texts_have_an_end() {
    let mut ftp = Ftp::new(options(16));
    let mut sink = Told::default();
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

/// Zeek's columns: whole addresses of files, the size, the data connection.
#[test]
fn the_log_has_whole_addresses() {
    let ends = crate::Ends {
        server: RecordEndpoint {
            address: "2001:db8::2".parse::<IpAddr>().unwrap(),
            port: 21,
        },
        ..ENDS
    };
    let mut ftp = Ftp::new(FtpOptions::default());
    let mut sink = Told::default();
    let handle = ftp.begin(Shard(0), ends).unwrap();
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
    let address = format!("{:?}", b"ftp://[2001:db8::2]/pub/a");
    assert!(line.contains(&address), "{line}");
    assert!(line.contains("Count(77), Count(226)"), "{line}");
}

proptest! {
    /// However conversations are cut, the same is told.
    #[test]
    fn pieces_tell_the_same(
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

    /// No bytes at all are too much.
    #[test]
    fn any_bytes_will_do(data in prop::collection::vec(any::<u8>(), 0..300)) {
        fuzz_ftp(&data);
        told(options(8), &[&data, &data], 3);
    }
}
