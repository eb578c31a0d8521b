//! The records of conversations.

mod limits;
mod output;
mod replies;
mod secrets;

use crate::fuzz::{ENDS, Output};
use crate::{Ftp, FtpOptions};
use flowpin_packet::{Shard, Timestamp};

/// Runs a conversation; `<` marks the server's lines, `>` the client's.
fn all(conversation: &[&str]) -> Output {
    let mut sink = Output::default();
    let mut ftp = Ftp::new(FtpOptions::default());
    run(&mut ftp, conversation, &mut sink);
    sink
}

fn run(ftp: &mut Ftp, conversation: &[&str], sink: &mut Output) {
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
    let found = all(conversation).records;
    let events = found.iter().filter_map(|one| one.strip_prefix("ftp "));
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
