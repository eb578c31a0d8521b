//! Runs over many connections at once, and what each is told to be.

use crate::segment::Conversation;
use flowpin_config::{Format, Input, Plan};
use flowpin_engine::Control;
use flowpin_testkit::pcap::ethernet_file;
use std::collections::{BTreeMap, HashMap};

/// What the records say of one flow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flow {
    /// Its messages, without times and numbers of packets.
    pub(crate) messages: Vec<String>,
    /// What its record says: protocol and states.
    pub(crate) end: String,
}

/// What the records say of the packets of one client.
#[derive(Clone, Debug, Default)]
pub(crate) struct Told {
    pub(crate) flows: BTreeMap<String, Flow>,
    pub(crate) anomalies: Vec<String>,
}

/// The records of each conversation, all run in one capture.
pub(crate) fn run(all: impl Iterator<Item = Conversation>) -> Vec<Told> {
    let folder = tempfile::tempdir().unwrap();
    let mut frames = Vec::new();
    let mut count = 0;
    for (conversation, client) in all.zip(1u32..) {
        frames.extend(conversation.iter().map(|segment| segment.frame(client)));
        count = client;
    }
    let path = folder.path().join("pairs.pcap");
    let timed = frames.iter().zip(1u64..);
    let bytes = ethernet_file(timed.map(|(frame, n)| (n * 1000, frame.as_slice()))).unwrap();
    std::fs::write(&path, bytes).unwrap();
    let mut plan = Plan {
        inputs: vec![Input::File(path)],
        pipeline: "1x1".parse().unwrap(),
        ..Plan::default()
    };
    plan.output.formats = vec![Format::Eve];
    plan.output.dir = folder.path().to_owned();
    flowpin_engine::run(&plan, &Control::default(), &()).unwrap();
    let records = std::fs::read_to_string(folder.path().join("eve.json")).unwrap();
    let mut told: HashMap<u32, Told> = HashMap::new();
    for line in records.lines() {
        let Some(client) = client_of(line) else {
            continue;
        };
        let one = told.entry(client).or_default();
        let kind = text(line, "event_type").unwrap();
        let id = number(line, "flow_id").unwrap_or_default();
        let flow = one.flows.entry(id.to_owned()).or_default();
        match kind {
            "flow" => flow.end = end_of(line),
            "anomaly" => one
                .anomalies
                .push(text(line, "event").unwrap_or("").to_owned()),
            _ => flow.messages.push(message_of(line, kind)),
        }
    }
    (1..=count)
        .map(|client| told.remove(&client).unwrap_or_default())
        .collect()
}

fn client_of(line: &str) -> Option<u32> {
    let (_, rest) = line.split_once("\"10.")?;
    let mut parts = rest
        .split('"')
        .next()?
        .split('.')
        .map(|part| part.parse::<u32>());
    let mut client = 0;
    for _ in 0..3 {
        client = client << 8 | parts.next()?.ok()?;
    }
    Some(client)
}

fn text<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let key = format!("\"{key}\":\"");
    line.split_once(&key)?.1.split('"').next()
}

fn number<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let key = format!("\"{key}\":");
    line.split_once(&key)?.1.split([',', '}']).next()
}

fn end_of(line: &str) -> String {
    let of = |key| text(line, key).unwrap_or("-");
    let tcp = line.split_once("\"tcp\":{").map_or("", |(_, tcp)| tcp);
    format!(
        "{} {} {} {}",
        of("app_proto"),
        of("state"),
        text(tcp, "state").unwrap_or("-"),
        of("conn_state")
    )
}

/// What an event says of its message.
fn message_of(line: &str, kind: &str) -> String {
    let key = format!("\"{kind}\":{{");
    let part = line.split_once(&key).map_or(line, |(_, part)| part);
    let part = part.split("},\"flowpin\"").next().unwrap();
    format!("{kind} {part}")
}
