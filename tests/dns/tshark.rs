//! Events against Wireshark's `dns`, `mdns` and `llmnr` dissectors, message by message.

use crate::events::events;
use crate::explained::Explained;
use flowpin_testkit::corpus;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Of each message: identifier, flags, names asked for, how many records in each section, and all
/// IPv4 addresses in them.
type Message = [String; 5];

/// Captures with DNS, by their names: each message is what Wireshark shows, or a row says why not.
#[test]
fn messages_are_those_that_wireshark_shows() {
    if Command::new("tshark").arg("-v").output().is_err() {
        corpus::skip("DNS against tshark", "tshark is not installed");
        return;
    }
    let bundled = corpus::bundled().into_iter();
    let bundled = bundled.map(|path| (path.file_name().unwrap().to_string_lossy().into(), path));
    let public = corpus::captures(&[], "DNS against tshark").into_iter();
    let public = public.map(|capture| (capture.name, capture.path));
    let mut explained = Explained::parse(include_str!("../explained/dns.tsv"));
    let (mut open, mut compared, mut messages) = (Vec::new(), Vec::new(), 0);
    let is_dns = |name: &str| {
        let file = name.rsplit('/').next().unwrap_or_default().to_lowercase();
        ["dns", "llmnr"].iter().any(|word| file.contains(word))
    };
    let all = bundled.chain(public).filter(|(name, _)| is_dns(name));
    for (nth, (name, path)) in all.enumerate() {
        if nth % 3 != 0 && !corpus::is_long() {
            continue;
        }
        let theirs = dissected(&path);
        // The packet may be a later one here: where the protocol was known only then.
        let mut ours: Vec<Message> = events(&path, "none").iter().map(message).collect();
        for theirs in &theirs {
            messages += 1;
            match ours.iter().position(|ours| ours == theirs) {
                Some(at) => drop(ours.swap_remove(at)),
                None if explained.covers(&name, "tshark") => {}
                None => open.push(format!("{name}\ttshark\t{theirs:?}")),
            }
        }
        compared.push(name);
    }
    println!("{messages} messages of {} captures", compared.len());
    assert!(
        open.is_empty(),
        "{} not explained:\n{}",
        open.len(),
        open.join("\n")
    );
}

fn message(event: &Value) -> Message {
    // Suricata has no object for LLMNR.
    let dns = match event["event_type"].as_str().unwrap() {
        "llmnr" => &event["flowpin"]["llmnr"],
        kind => &event[kind],
    };
    let list = |key: &str| dns[key].as_array().cloned().unwrap_or_default();
    let flags = u32::from_str_radix(dns["flags"].as_str().unwrap(), 16).unwrap();
    let names: Vec<String> = list("queries")
        .iter()
        .map(|query| query["rrname"].as_str().unwrap_or_default().to_owned())
        .collect();
    let counts = ["queries", "answers", "authorities", "additionals"].map(|key| list(key).len());
    let sections = ["answers", "authorities", "additionals"];
    let addresses: Vec<String> = sections
        .iter()
        .flat_map(|section| list(section))
        .filter(|answer| answer["rrtype"] == "A")
        .map(|answer| answer["rdata"].as_str().unwrap_or_default().to_owned())
        .collect();
    [
        dns["id"].to_string(),
        format!("{flags:#06x}"),
        names.join(";"),
        format!("{counts:?}"),
        addresses.join(";"),
    ]
}

/// Of packets that have one message only; what Wireshark calls malformed is left out.
fn dissected(path: &Path) -> Vec<Message> {
    let fields = [
        "dns.id",
        "dns.flags",
        "dns.qry.name",
        "dns.count.queries",
        "dns.count.answers",
        "dns.count.auth_rr",
        "dns.count.add_rr",
        "dns.a",
    ];
    let mut command = Command::new("tshark");
    let filter = "(dns || mdns || llmnr) && !_ws.malformed && !icmp && !icmpv6";
    command.args([
        "-n",
        "-Y",
        filter,
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
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut found = Vec::new();
    for line in text.lines() {
        let columns: Vec<&str> = line.split('\t').collect();
        let [
            id,
            flags,
            names,
            queries,
            answers,
            authority,
            additional,
            ..,
        ] = columns[..]
        else {
            continue;
        };
        if id.contains(';') || id.is_empty() {
            continue;
        }
        let number = |text: &str| text.parse::<usize>().unwrap_or(0);
        let counts = [queries, answers, authority, additional].map(number);
        let id = u32::from_str_radix(id.trim_start_matches("0x"), 16).unwrap();
        let names = names.replace("<Root>", "");
        let addresses = columns.get(7).copied().unwrap_or_default();
        let flags = flags.to_owned();
        let row = [
            id.to_string(),
            flags,
            names,
            format!("{counts:?}"),
            addresses.to_owned(),
        ];
        found.push(row);
    }
    found
}
