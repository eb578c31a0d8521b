//! Records against Wireshark's `http` dissector: methods, targets and status codes of every
//! connection.
//!
//! What differs needs a row in `tests/explained/http-tshark.tsv`: capture, what differs, and why.
//! Targets are compared by their first bytes, which Wireshark shows of them.

use crate::explained::Explained;
use flowpin_testkit::corpus::{self, CorpusCapture};
use flowpin_testkit::product;
use serde_json::Value;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::Path;
use std::process::Command;

/// The ends of a connection, the lower first.
type Ends = [(IpAddr, String); 2];

/// Methods, targets, status codes, sorted.
type Told = [Vec<String>; 3];

const KINDS: [&str; 3] = ["method", "uri", "status"];

/// On each connection the same requests and answers, however many; or a row says why not.
#[test]
fn requests_and_answers_are_those_that_wireshark_shows() {
    let what = "HTTP records against tshark";
    if Command::new("tshark").arg("-v").output().is_err() {
        corpus::skip(what, "tshark is not installed");
        return;
    }
    let all = corpus::captures(&["C http"], what);
    let mut explained = Explained::parse(include_str!("../explained/http-tshark.tsv"));
    let (mut open, mut compared, mut answers) = (Vec::new(), Vec::new(), 0);
    let is_chosen = |nth: usize| corpus::is_long() || nth.is_multiple_of(SAMPLE);
    for (_, capture) in all.iter().enumerate().filter(|(nth, _)| is_chosen(*nth)) {
        let is_small = std::fs::metadata(&capture.path).is_ok_and(|file| file.len() < BYTES_MAX);
        if !is_small || capture.name.starts_with("libhtp") {
            continue;
        }
        let (ours, theirs) = (ours(&capture.path), theirs(&capture.path));
        answers += theirs
            .values()
            .map(|[_, _, status]| status.len())
            .sum::<usize>();
        for (kind, example) in differences(&ours, &theirs) {
            if !explained.covers(&capture.name, kind) {
                open.push(format!("{}\t{kind}\t{example}", capture.name));
            }
        }
        compared.push(CorpusCapture::clone(capture).name);
    }
    open.extend(explained.stale(&compared));
    println!("{} captures, {answers} answers", compared.len());
    assert!(open.is_empty(), "not explained:\n{}", open.join("\n"));
}

/// Every so manieth capture is compared, if not all are.
const SAMPLE: usize = 20;
/// Wireshark takes long for larger ones.
const BYTES_MAX: u64 = 20 << 20;
/// Of a target.
const SHOWN_BYTES: usize = 60;

/// What differs, with an example each.
fn differences(
    ours: &BTreeMap<Ends, Told>,
    theirs: &BTreeMap<Ends, Told>,
) -> BTreeMap<&'static str, String> {
    let mut found = BTreeMap::new();
    let nothing = Told::default();
    for ends in ours.keys().chain(theirs.keys()) {
        let [here, there] = [ours, theirs].map(|told| told.get(ends).unwrap_or(&nothing));
        for (nth, kind) in KINDS.into_iter().enumerate() {
            if here[nth] != there[nth] {
                let example = format!("{:?} here, {:?} there", here[nth], there[nth]);
                found.entry(kind).or_insert(example);
            }
        }
    }
    found
}

fn ours(capture: &Path) -> BTreeMap<Ends, Told> {
    let capture = capture.to_str().unwrap();
    let words = ["run", "-q", "-k", "none", "-r", capture, "--output", "-"];
    let outcome = product::run(&words).unwrap();
    assert!(outcome.analysed(), "{capture}: {}", outcome.stderr);
    let mut told = BTreeMap::new();
    for line in String::from_utf8_lossy(&outcome.stdout).lines() {
        let event: Value = serde_json::from_str(line).unwrap();
        if event["event_type"] != "http" {
            continue;
        }
        let end = |ip: &str, port: &str| {
            let ip = event[ip].as_str().unwrap().to_owned();
            (ip, event[port].to_string())
        };
        let http = &event["http"];
        let text = |key: &str| match &http[key] {
            Value::String(text) => vec![text.clone()],
            Value::Number(number) => vec![number.to_string()],
            _ => Vec::new(),
        };
        let ends = [end("src_ip", "src_port"), end("dest_ip", "dest_port")];
        let words = ["http_method", "url", "status"].map(text);
        add(&mut told, ends, words);
    }
    sorted(told)
}

fn theirs(capture: &Path) -> BTreeMap<Ends, Told> {
    let mut command = Command::new("tshark");
    command.args(["-n", "-Y", "http && tcp", "-T", "fields"]);
    command.args(["-E", &format!("aggregator={AGGREGATOR}")]);
    for name in [
        "ip.src",
        "ipv6.src",
        "tcp.srcport",
        "ip.dst",
        "ipv6.dst",
        "tcp.dstport",
        "http.request.method",
        "http.request.uri",
        "http.response.code",
    ] {
        command.args(["-e", name]);
    }
    let output = command.arg("-r").arg(capture).output().unwrap();
    let mut told = BTreeMap::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let columns: Vec<&str> = line.split('\t').collect();
        let [
            src4,
            src6,
            src_port,
            dst4,
            dst6,
            dst_port,
            method,
            uri,
            status,
        ] = columns[..]
        else {
            continue;
        };
        let all = |column: &str| -> Vec<String> {
            let parts = column.split(AGGREGATOR).filter(|part| !part.is_empty());
            parts.map(str::to_owned).collect()
        };
        let end = |ip4: &str, ip6: &str, port: &str| {
            let all = format!("{ip4}{ip6}");
            // Of tunnels within one another, the outermost.
            let ip = all.split(AGGREGATOR).next().unwrap_or_default();
            (ip.to_owned(), port.to_owned())
        };
        let mut words = [method, uri, status].map(all);
        // Interim answers are part of the final one's record.
        words[2].retain(|code| code.as_str() >= "200" || code == "101");
        let ends = [end(src4, src6, src_port), end(dst4, dst6, dst_port)];
        add(&mut told, ends, words);
    }
    sorted(told)
}

fn add(told: &mut BTreeMap<Ends, Told>, ends: [(String, String); 2], words: Told) {
    let parsed = ends.map(|(ip, port)| ip.parse().ok().map(|ip: IpAddr| (ip, port)));
    let [Some(one), Some(other)] = parsed else {
        return;
    };
    let mut ends = [one, other];
    ends.sort();
    let place = told.entry(ends).or_default();
    for (to, from) in place.iter_mut().zip(words) {
        to.extend(
            from.into_iter()
                .map(|word| word.chars().take(SHOWN_BYTES).collect()),
        );
    }
}

fn sorted(mut told: BTreeMap<Ends, Told>) -> BTreeMap<Ends, Told> {
    told.values_mut().flatten().for_each(|words| words.sort());
    told
}

/// Between a packet's several values: nothing that stands in a target.
const AGGREGATOR: char = '\u{2}';
