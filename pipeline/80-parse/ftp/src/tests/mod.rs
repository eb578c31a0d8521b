//! The records of conversations.

mod limits;
mod output;
mod replies;
mod secrets;

use crate::Ftp;
use crate::options::FtpOptions;
use flowpin_packet::Timestamp;
use flowpin_parser::ParserSetup;
use flowpin_parser::testing::{Records, Trial};

/// Runs a conversation; `<` marks the server's lines, `>` the client's.
fn all(conversation: &[&str]) -> Records {
    let mut sink = Records::default();
    run(&mut trial(FtpOptions::default()), conversation, &mut sink);
    sink
}

fn trial(options: FtpOptions) -> Trial<Ftp> {
    let setup = ParserSetup::default();
    Trial::new(Ftp::with_options(options, &setup).unwrap(), &setup)
}

fn run(trial: &mut Trial<Ftp>, conversation: &[&str], sink: &mut Records) {
    let before = trial.left();
    let connection = trial.begin(0).unwrap();
    for (at, line) in (1..).zip(conversation) {
        let (who, text) = line.split_at(1);
        let to_server = who == ">";
        if text == "…" {
            trial.gap(connection, Timestamp(at), to_server, 9, sink);
        } else {
            let bytes = format!("{text}\r\n");
            trial.data(connection, Timestamp(at), to_server, bytes.as_bytes(), sink);
        }
    }
    trial.end(connection, Timestamp(99), sink);
    assert_eq!(trial.left(), before);
}

/// `COMMAND argument -> codes` of each event.
fn events(conversation: &[&str]) -> Vec<String> {
    let found = all(conversation).records;
    let events = found.iter().filter_map(|one| one.strip_prefix("ftp "));
    events.map(brief).collect()
}

fn brief(event: &str) -> String {
    let columns: Vec<&str> = event.split('|').map(|one| one.trim_matches('-')).collect();
    let codes = columns[3].trim_matches(['[', ']']).replace(',', " ");
    let line = format!("{} {} -> {codes}", columns[0], columns[1]);
    line.trim().replace("  ", " ")
}
