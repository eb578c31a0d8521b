//! Records against Wireshark's `fix` dissector, where each packet holds whole messages.
//!
//! Wireshark takes a stream up where it lies: it does not look for a message behind garbage, and
//! believes every BodyLength. So captures with wrong ones are compared by the truth (`lab`).

use crate::events::events;
use flowpin_testkit::corpus;
use std::path::Path;
use std::process::Command;

/// Type, number and ClOrdID of every message, by the packet that completes it.
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
        let ours: Vec<[String; 4]> = events
            .iter()
            .map(|event| {
                let text = |key: &str| event.text(key).unwrap_or_default().to_owned();
                let number = event.fix["seq_num"].to_string();
                [
                    event.packet.to_string(),
                    text("msg_type"),
                    number,
                    text("cl_ord_id"),
                ]
            })
            .collect();
        let theirs = dissected(&path);
        assert!(!theirs.is_empty());
        assert_eq!(ours, theirs, "{}", path.display());
        println!("{}: {} messages", path.display(), ours.len());
    }
}

/// One row for each message that Wireshark finds; several in a packet are apart.
fn dissected(path: &Path) -> Vec<[String; 4]> {
    let fields = [
        "frame.number",
        "fix.MsgType",
        "fix.MsgSeqNum",
        "fix.ClOrdID",
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
    for field in fields {
        command.args(["-e", field]);
    }
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut found = Vec::new();
    for line in text.lines() {
        let columns: Vec<Vec<&str>> = line
            .split('\t')
            .map(|one| one.split(';').collect())
            .collect();
        let [packet, kinds, numbers, orders] = &columns[..] else {
            panic!("{line}");
        };
        for (at, kind) in kinds.iter().enumerate() {
            // A list of orders is shorter where some messages have none: then it cannot be told
            // whose they are, and packets hold one message each here.
            let order = if kinds.len() == 1 {
                orders.concat()
            } else {
                String::new()
            };
            let number = numbers.get(at).copied().unwrap_or_default();
            found.push([
                packet.concat(),
                (*kind).to_owned(),
                number.to_owned(),
                order,
            ]);
        }
    }
    found
}
