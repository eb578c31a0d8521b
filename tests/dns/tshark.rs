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

/// Suricata has no object for LLMNR, and in that for mDNS no records' contents.
fn message(event: &Value) -> Message {
    let more = &event["flowpin"];
    let (dns, contents) = match event["event_type"].as_str().unwrap() {
        "llmnr" => (&more["llmnr"], &more["llmnr"]),
        "mdns" => (&event["mdns"], more),
        _ => (&event["dns"], &event["dns"]),
    };
    let list = |of: &Value, key: &str| of[key].as_array().cloned().unwrap_or_default();
    let names: Vec<String> = list(dns, "queries")
        .iter()
        .map(|query| query["rrname"].as_str().unwrap_or_default().to_owned())
        .collect();
    let sections = ["queries", "answers", "authorities", "additionals"];
    let counts = sections.map(|key| list(dns, key).len());
    let addresses: Vec<String> = ["answers", "authorities", "additionals"]
        .iter()
        .flat_map(|section| list(contents, section))
        .filter(|answer| answer["rrtype"] == "A")
        .map(|answer| answer["rdata"].as_str().unwrap_or_default().to_owned())
        .collect();
    [
        dns["id"].to_string(),
        format!("{:#06x}", flags(dns)),
        names.join(";"),
        format!("{counts:?}"),
        addresses.join(";"),
    ]
}

/// The header's flags: in hexadecimal digits, or of mDNS in words beside type and codes.
fn flags(dns: &Value) -> u64 {
    if let Some(digits) = dns["flags"].as_str() {
        return u64::from_str_radix(digits, 16).unwrap();
    }
    let words = dns["flags"].as_array().into_iter().flatten();
    let bits = words.map(|word| match word.as_str().unwrap() {
        "aa" => 0x0400,
        "tc" => 0x0200,
        "rd" => 0x0100,
        "ra" => 0x0080,
        "z" => 0x0040,
        "ad" => 0x0020,
        "cd" => 0x0010,
        other => panic!("{other} is no flag of DNS"),
    });
    let response = if dns["type"] == "response" { 0x8000 } else { 0 };
    let opcode = dns["opcode"].as_u64().unwrap_or_default() << 11;
    bits.sum::<u64>() | response | opcode | dns["rcode"].as_u64().unwrap_or_default()
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
