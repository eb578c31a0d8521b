//! Records against Wireshark's `fix` dissector, where each packet holds whole messages.
//!
//! Wireshark takes a stream up where it lies: it does not look for a message behind garbage, and
//! believes every BodyLength. So captures with wrong ones are compared by the truth (`lab`).

use crate::events::{Event, events};
use flowpin_testkit::corpus;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// A message's type, number, ClOrdID, sender and time.
type Message = [String; 5];

/// Every message. Wireshark shows those of segments sent again once more, so sets are compared.
#[test]
fn messages_are_those_that_wireshark_shows() {
    if Command::new("tshark").arg("-v").output().is_err() {
        corpus::skip("FIX records against tshark", "tshark is not installed");
        return;
    }
    let bundled = corpus::workspace().join("testkit/captures/fix.pcap");
    let public = corpus::captures(&["B fix"], "FIX records against tshark");
    let public = public.into_iter().filter(|one| !one.name.contains("/lab/"));
    for path in public.map(|one| one.path).chain([bundled]) {
        let (events, _) = events(&path);
        let ours: BTreeSet<Message> = events.iter().map(message).collect();
        let theirs = dissected(&path);
        assert!(!theirs.is_empty());
        assert_eq!(ours, theirs, "{}", path.display());
        println!("{}: {} messages", path.display(), ours.len());
    }
}

fn message(event: &Event) -> Message {
    let text = |key: &str| event.text(key).unwrap_or_default().to_owned();
    let number = event.fix["seq_num"].to_string();
    let (sender, time) = (text("sender_comp_id"), text("sending_time"));
    [text("msg_type"), number, text("cl_ord_id"), sender, time]
}

/// The messages of packets that hold one.
fn dissected(path: &Path) -> BTreeSet<Message> {
    let names = [
        "MsgType",
        "MsgSeqNum",
        "ClOrdID",
        "SenderCompID",
        "SendingTime",
    ];
    let mut command = Command::new("tshark");
    command.args([
        "-n",
        "-Y",
        "fix",
        "-T",
        "fields",
        "-E",
        "aggregator=;",
        "-r",
    ]);
    command.arg(path);
    for name in names {
        command.args(["-e", &format!("fix.{name}")]);
    }
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let rows = text.lines().map(|line| {
        let columns: Vec<String> = line.split('\t').map(str::to_owned).collect();
        Message::try_from(columns).unwrap()
    });
    rows.filter(|row| !row[0].contains(';')).collect()
}
