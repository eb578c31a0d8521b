//! The parts of mails as files: records, bytes, and where they end.

use crate::mail::HELLO;
use crate::support::{Turns, whole};
use flowpin_counters::{Loss, Losses};
use flowpin_memory::Budget;
use flowpin_packet::Timestamp;
use flowpin_parser::testing::Trial;
use flowpin_parser::{Parser, ParserSetup};
use flowpin_record::{FilePart, MessageSchema, MessageSink, Value, as_mail_file, mail_file};
use flowpin_text::{Text, TextOptions, built_in};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// What is told of files and mails.
#[derive(Default)]
struct Told {
    lines: Vec<String>,
    /// The bytes of each file, and whether it is over and whole.
    files: BTreeMap<u64, (Vec<u8>, Option<bool>)>,
    losses: Losses,
}

fn show(value: &Value<'_>) -> String {
    match value {
        Value::Bytes(bytes) => bytes.escape_ascii().to_string(),
        Value::Text(text) => (*text).to_owned(),
        Value::Count(count) => match as_mail_file(*count) {
            Some((nth, _)) => nth.to_string(),
            None => count.to_string(),
        },
        Value::Bool(value) => value.to_string(),
        Value::List(list) => list.iter().map(show).collect::<Vec<_>>().join("|"),
        other => format!("{other:?}"),
    }
}

impl MessageSink for Told {
    fn message(&mut self, schema: &MessageSchema, _: Timestamp, values: &[Value<'_>]) {
        let mut line = schema.name.to_string();
        let columns = schema.columns.iter().zip(values);
        for (column, value) in columns.filter(|(_, value)| **value != Value::Unset) {
            let wanted = [
                "fuid",
                "depth",
                "filename",
                "seen_bytes",
                "missing_bytes",
                "mime_type",
                "fuids",
                "subject",
                "last_reply",
                "md5",
            ];
            let of_events = ["fileinfo.state", "email.subject", "fileinfo.tx_id"];
            if wanted.contains(&&*column.name) {
                line.push_str(&format!(" {}={}", column.name, show(value)));
            } else if schema.name == "fileinfo" && of_events.contains(&&*column.eve) {
                line.push_str(&format!(" {}={}", column.eve, show(value)));
            }
        }
        self.lines.push(line);
    }
    fn anomaly(&mut self, event: &'static str) {
        self.lines.push(format!("! {event}"));
    }
    fn file(&mut self, part: FilePart<'_>) {
        let file = self.files.entry(part.number()).or_default();
        match part {
            FilePart::Begin(_) => assert!(file.0.is_empty() && file.1.is_none()),
            FilePart::Data(_, bytes) => file.0.extend_from_slice(bytes),
            FilePart::Missing(_, zeros) => file.0.resize(file.0.len() + zeros as usize, 0),
            FilePart::End(_, is_whole) => file.1 = Some(is_whole),
        }
    }
}

fn file(nth: u64) -> u64 {
    mail_file(nth, 0)
}

fn setup(bodies: u64, extract: bool) -> ParserSetup {
    let mut setup = ParserSetup::default();
    setup.files.md5 = true;
    setup.files.extract = extract.then(|| "x".into());
    setup.with_budgets(Budget::new(1 << 20), Budget::new(bodies))
}

/// A piece of a turn, or a gap of so many bytes.
enum Piece {
    Bytes(Vec<u8>),
    Gap(u64),
}

fn told(turns: Turns<'_>, setup: &ParserSetup, cut: impl Fn(usize, &[u8]) -> Vec<Piece>) -> Told {
    let text = Text::with_protocols(TextOptions::default(), built_in(), setup).unwrap();
    let mut text = Trial::new(text, setup);
    let mut told = Told::default();
    let protocol = text.parser.protocol("smtp").unwrap();
    let handle = text.begin(protocol).unwrap();
    for (turn, (to_server, bytes)) in turns.iter().enumerate() {
        for piece in cut(turn, bytes) {
            let at = Timestamp(turn as u64);
            let _ = match piece {
                Piece::Bytes(piece) => text.data(handle, at, *to_server, &piece, &mut told),
                Piece::Gap(len) => text.gap(handle, at, *to_server, len, &mut told),
            };
        }
    }
    text.end(handle, Timestamp(99), &mut told);
    told.losses = text.parser.losses();
    text.finish(&mut told);
    assert!(setup.bodies.is_whole(), "memory of bodies is given back");
    told
}

fn pieces(turn: usize, bytes: &[u8]) -> Vec<Piece> {
    whole(turn, bytes).into_iter().map(Piece::Bytes).collect()
}

const ENVELOPE: [(bool, &[u8]); 4] = [
    (true, b"MAIL FROM:<a@a>\r\nRCPT TO:<b@b>\r\n"),
    (false, b"250 ok\r\n250 ok\r\n"),
    (true, b"DATA\r\n"),
    (false, b"354 go\r\n"),
];

const MAIL: &str = "Subject: files\r\nContent-Type: multipart/mixed; boundary=\"=b\"\r\n\r\n\
    no part\r\n--=b\r\n\r\nHello\r\n..\r\n..dot\r\n--=b\r\n\
    Content-Type: application/pdf; name=x.pdf\r\n\
    Content-Disposition: attachment;\r\n filename=\"y.pdf\"\r\n\
    Content-Transfer-Encoding: base64\r\n\r\nJVBERi0x\r\nLjQ=\r\n--=b--\r\n.\r\n";

fn conversation(mail: &[u8]) -> Vec<(bool, Vec<u8>)> {
    let all = HELLO.iter().chain(&ENVELOPE);
    let mut turns: Vec<(bool, Vec<u8>)> = all.map(|(to, text)| (*to, text.to_vec())).collect();
    turns.push((true, mail.to_vec()));
    turns.push((false, b"250 queued\r\n".to_vec()));
    turns
}

fn of(turns: &[(bool, Vec<u8>)]) -> Vec<(bool, &[u8])> {
    turns
        .iter()
        .map(|(to, text)| (*to, text.as_slice()))
        .collect()
}

/// RFC 5321 §4.5.2: the dots are taken away before anything else. The mail's record lists its
/// files, and theirs have what the mail says of itself.
#[test]
fn parts_of_mails_are_files() {
    let turns = conversation(MAIL.as_bytes());
    let turns = of(&turns);
    let expected = [
        "fileinfo fuid=1 depth=2 mime_type=text/plain seen_bytes=14 missing_bytes=0 \
         fileinfo.state=CLOSED fileinfo.tx_id=0 \
         email.subject=files",
        "fileinfo fuid=2 depth=3 mime_type=application/pdf filename=y.pdf seen_bytes=8 \
         missing_bytes=0 fileinfo.state=CLOSED fileinfo.tx_id=0 email.subject=files",
        "smtp subject=files last_reply=250 queued fuids=1|2",
    ];
    let without_hash = |line: &String| {
        let words = line.split(' ').filter(|word| !word.starts_with("md5="));
        words.collect::<Vec<_>>().join(" ")
    };
    let expected: Vec<String> = expected
        .iter()
        .map(|line| without_hash(&line.to_string()))
        .collect();
    let setup = setup(1 << 20, true);
    for len in [1, 2, 3, 7, 64, usize::MAX] {
        let found = told(&turns, &setup, |_, bytes| {
            bytes
                .chunks(len)
                .map(|piece| Piece::Bytes(piece.to_vec()))
                .collect()
        });
        let lines: Vec<String> = found.lines.iter().map(without_hash).collect();
        assert_eq!(lines, expected, "pieces of {len}");
        assert_eq!(
            found.files[&file(1)],
            (b"Hello\r\n.\r\n.dot".to_vec(), Some(true))
        );
        assert_eq!(found.files[&file(2)], (b"%PDF-1.4".to_vec(), Some(true)));
    }
}

/// RFC 3030: chunks have no doubled dots; the last one ends the mail. What the connection's end
/// cuts is not whole.
#[test]
fn chunks_are_files_too() {
    let mut turns: Vec<(bool, &[u8])> = HELLO.to_vec();
    turns.extend([
        (
            true,
            b"MAIL FROM:<a@a>\r\nRCPT TO:<b@b>\r\nBDAT 12\r\nSubject: x\r\n".as_slice(),
        ),
        (
            true,
            b"BDAT 8 LAST\r\n\r\n..a\r\n.MAIL FROM:<c@c>\r\nBDAT 9 LAST\r\n\r\nbcd",
        ),
        (false, b"250 ok\r\n250 ok\r\n250 12\r\n250 queued\r\n"),
    ]);
    let found = told(&turns, &setup(1 << 20, true), pieces);
    assert_eq!(found.files[&file(1)], (b"..a\r\n.".to_vec(), Some(true)));
    assert_eq!(found.files[&file(2)], (b"bcd".to_vec(), Some(false)));
}

/// A line without end passes by: no byte of it is lost, though no token is as long.
#[test]
fn endless_lines_are_whole() {
    let mut mail = b"Subject: x\r\n\r\n..".to_vec();
    mail.extend(std::iter::repeat_n(b"0123456789", 5000).flatten());
    mail.extend_from_slice(b"\r\nshort\r\n.\r\n");
    let turns = conversation(&mail);
    let turns = of(&turns);
    for len in [1, 1000, 8191, 8192, 8193, usize::MAX] {
        let found = told(&turns, &setup(1 << 20, true), |_, bytes| {
            bytes
                .chunks(len)
                .map(|piece| Piece::Bytes(piece.to_vec()))
                .collect()
        });
        let (bytes, is_whole) = &found.files[&file(1)];
        assert_eq!(*is_whole, Some(true), "pieces of {len}");
        assert_eq!(bytes.len(), 1 + 50_000 + 2 + 7);
        assert!(bytes.starts_with(b".0123") && bytes.ends_with(b"89\r\nshort\r\n"));
    }
}

/// A server that ends a mail at an odd dot has the mail up to there.
#[test]
fn odd_dots_end_mails() {
    let turns = conversation(b"Subject: x\r\n\r\none\n.\r\nMAIL FROM:<c@c>\r\n\r\n.\r\n");
    let found = told(&of(&turns), &setup(1 << 20, true), pieces);
    assert_eq!(found.files[&file(1)], (b"one\n".to_vec(), Some(true)));
    assert_eq!(found.files.len(), 1);
}

/// Missing bytes have their room in the file, which is not whole.
#[test]
fn gaps_are_missing_bytes() {
    let turns = conversation(b"Subject: x\r\n\r\none\r\ntwo\r\nthree\r\n.\r\n");
    let found = told(
        &of(&turns),
        &setup(1 << 20, true),
        |turn, bytes| match turn {
            7 => vec![
                Piece::Bytes(bytes[..21].to_vec()),
                Piece::Gap(3),
                Piece::Bytes(bytes[24..].to_vec()),
            ],
            _ => pieces(turn, bytes),
        },
    );
    assert_eq!(
        found.files[&file(1)],
        (b"one\r\n\0\0\0\0\0three\r\n".to_vec(), Some(false))
    );
    let line = found.lines.iter().find(|line| line.starts_with("fileinfo"));
    assert!(line.unwrap().contains("missing_bytes=5"), "{line:?}");
}

/// A million parts: 64 are files, the others counted. Without memory no part is read.
#[test]
fn caps_are_counted() {
    let mut mail = b"Content-Type: multipart/mixed; boundary=b\r\n\r\n".to_vec();
    for _ in 0..300 {
        mail.extend_from_slice(b"--b\r\n\r\nx\r\n");
    }
    mail.extend_from_slice(b".\r\n");
    let turns = conversation(&mail);
    let found = told(&of(&turns), &setup(1 << 20, true), pieces);
    assert_eq!(found.files.len(), 64);
    assert_eq!(found.losses.of(Loss::MailParts), 300 - 64);
    assert!(found.lines.contains(&"! mime_boundary_open".to_owned()));
    let found = told(&of(&turns), &setup(1 << 10, true), pieces);
    assert!(found.files.is_empty());
    assert_eq!(found.lines.len(), 1, "{:?}", found.lines);
    assert_eq!(found.losses.of(Loss::MailBodies), 1);
}

proptest! {
    /// Any bytes in a mail: the same files for all pieces, also where memory is scarce.
    #[test]
    fn any_bytes_are_read(
        head in 0usize..4,
        noise in prop::collection::vec(prop_oneof![any::<u8>(), Just(b'\n'), Just(b'-')], 0..400),
        piece in 1u8..100,
    ) {
        let encoding = ["base64", "quoted-printable", "8bit", "x"][head];
        let mail = format!(
            "Content-Type: multipart/x; boundary=-\r\n\r\n---\r\n\
             Content-Transfer-Encoding: {encoding}\r\n\r\n"
        );
        let mail = [mail.as_bytes(), &noise, b"\r\n---\r\n\r\nx\r\n.\r\n"].concat();
        let mut data = vec![2, piece];
        for (to_server, bytes) in conversation(&mail) {
            for part in bytes.chunks(127) {
                data.push((part.len() as u8) << 1 | u8::from(!to_server));
                data.extend_from_slice(part);
            }
        }
        flowpin_text::fuzz_text(&data);
    }

    /// However segments cut a mail, its files are the same.
    #[test]
    fn cuts_change_nothing(
        lines in prop::collection::vec(0usize..16, 0..40),
        cuts in prop::collection::vec(1usize..40, 1..60),
    ) {
        const LINES: [&str; 16] = [
            "Content-Type: multipart/mixed; boundary=b\r\n",
            "Content-Type: message/rfc822\r\n",
            "Content-Transfer-Encoding: base64\r\n",
            "Content-Transfer-Encoding: quoted-printable\r\n",
            "Content-Disposition: attachment; filename=a\r\n",
            "\r\n", "\r\n", "--b\r\n", "--b\r\n", "--b--\r\n", "..x\r\n", "YWJj=\r\n", "a=3D\r\n",
            " folded\r\n", "bare\n", "x\r\ry\r\n",
        ];
        let mut mail: Vec<u8> = lines.iter().flat_map(|&line| LINES[line].bytes()).collect();
        mail.extend_from_slice(b".\r\n");
        let turns = conversation(&mail);
        let turns = of(&turns);
        let setup = setup(1 << 20, true);
        let expected = told(&turns, &setup, pieces);
        let found = told(&turns, &setup, |_, bytes| {
            let (mut rest, mut all) = (bytes, Vec::new());
            for len in cuts.iter().cycle() {
                if rest.is_empty() {
                    break;
                }
                let (now, later) = rest.split_at((*len).min(rest.len()));
                all.push(Piece::Bytes(now.to_vec()));
                rest = later;
            }
            all
        });
        prop_assert_eq!(&found.lines, &expected.lines);
        prop_assert_eq!(&found.files, &expected.files);
    }
}
