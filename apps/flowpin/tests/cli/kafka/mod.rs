//! Records to a real Kafka: the command itself, against a broker of the test kit's.
//!
//! With `FLOWPIN_TEST_LONG=1` only, because the broker has to be fetched and started.

#[cfg(feature = "kafka-tls")]
mod encrypted;
mod live;
mod logins;

use crate::program::{assert_refused, capture, code, command, flowpin, stderr, stdout, text};
use flowpin_testkit::corpus;
use flowpin_testkit::kafka::{Broker, Extras, Message};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Output, Stdio};
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

/// A broker with its data in a folder; none, with the reason told, without the long tests or Kafka.
fn broker(folder: &Path, extras: Extras<'_>) -> Option<Broker> {
    if !corpus::is_long() {
        corpus::skip("Kafka", "needs FLOWPIN_TEST_LONG=1");
        return None;
    }
    let cache = corpus::workspace().join("target/kafka");
    Broker::start_with(&cache, &folder.join("broker"), extras)
}

/// The messages of a topic, the first of each record, as lines of EVE in their order: without
/// identifiers, by which they are ordered. And how often a record came again.
fn lines(messages: &[Message]) -> (Vec<String>, usize) {
    let mut first = BTreeMap::new();
    for message in messages {
        let (id, line) = message.text.split_once(',').unwrap();
        let parts = id.split('"').nth(3).unwrap().split('-');
        let place: Vec<_> = parts
            .map(|part| u64::from_str_radix(part, 16).unwrap())
            .collect();
        first.entry(place).or_insert_with(|| format!("{{{line}"));
    }
    let doubled = messages.len() - first.len();
    (first.into_values().collect(), doubled)
}

/// Each message has the Community ID of its record as its key, if there is one; a key has one
/// partition.
fn assert_keys(messages: &[Message]) {
    let mut partitions = HashMap::new();
    let mut keyless = 0;
    for message in messages {
        let record: Value = serde_json::from_str(&message.text).unwrap();
        match record["community_id"].as_str() {
            Some(id) => {
                assert_eq!(message.key, id);
                let partition = *partitions.entry(id.to_owned()).or_insert(message.partition);
                assert_eq!(message.partition, partition, "{id}");
            }
            None => {
                assert_eq!(message.key, "null");
                keyless += 1;
            }
        }
    }
    let used: BTreeSet<_> = partitions.values().collect();
    assert!(
        used.len() > 1,
        "{used:?} of {}, {keyless}",
        partitions.len()
    );
}

/// The same lines as `eve.json`, in every shape: each record once, keyed, in the order of the file
/// by key.
#[test]
fn a_cluster_gets_the_lines_of_eve_by_connection() {
    let folder = tempfile::tempdir().unwrap();
    let Some(broker) = broker(folder.path(), Extras::default()) else {
        return;
    };
    let lab = capture("lab-day.pcapng");
    let eve = flowpin(&["run", "-q", "-r", &lab, "--output", "-"]);
    let eve: Vec<_> = stdout(&eve).lines().collect();
    for shape in ["1x1", "3x2"] {
        let topic = format!("lab-{shape}");
        let to = format!("kafka://{}/{topic}", broker.address());
        let run = flowpin(&["run", "-r", &lab, "--output", &to, "--pipeline", shape]);
        assert_eq!(code(&run), 0, "{}", stderr(&run));
        let messages = broker.read(&topic).unwrap();
        assert_keys(&messages);
        let (got, doubled) = lines(&messages);
        assert_eq!((got.len(), doubled), (eve.len(), 0));
        assert!(got.iter().eq(&eve), "{shape}");
        let mut last = HashMap::new();
        for message in messages.iter().filter(|message| message.key != "null") {
            let id = message.text.split_once(',').unwrap().0.to_owned();
            let place = eve_place(&id);
            let before = last.insert(message.key.clone(), place);
            assert!(before <= Some(place), "{id} came late");
        }
    }
    let to = format!("kafka://{}/net-{{kind}}", broker.address());
    let run = flowpin(&["run", "-q", "-r", &lab, "--output", &to]);
    assert_eq!(code(&run), 0, "{}", stderr(&run));
    let mut by_kind = BTreeMap::<String, usize>::new();
    for line in &eve {
        let record: Value = serde_json::from_str(line).unwrap();
        let kind = record["event_type"].as_str().unwrap().to_owned();
        *by_kind.entry(kind).or_default() += 1;
    }
    for kind in ["flow", "http", "dns"] {
        let messages = broker.read(&format!("net-{kind}")).unwrap();
        assert_eq!(Some(&messages.len()), by_kind.get(kind), "{kind}");
    }
}

/// Time, packet and number among its records, as numbers.
fn eve_place(id: &str) -> [u64; 3] {
    let parts = id.split('"').nth(3).unwrap().split('-');
    let mut parts = parts.map(|part| u64::from_str_radix(part, 16).unwrap());
    [0; 3].map(|_| parts.next().unwrap())
}

/// A capture whose records are more than what memory holds, and its lines of EVE.
fn large(folder: &Path) -> (Vec<u8>, Vec<String>) {
    let path = folder.join("large.pcap");
    let args = ["gen", "mix", "--connections", "60000", "--seed", "3", "-w"];
    let made = flowpin(&[&args[..], &[text(&path)]].concat());
    assert_eq!(code(&made), 0, "{}", stderr(&made));
    let eve = flowpin(&["run", "-q", "-r", text(&path), "--output", "-"]);
    let eve: Vec<_> = stdout(&eve).lines().map(str::to_owned).collect();
    let bytes: usize = eve.iter().map(String::len).sum();
    assert!(bytes > 40 << 20, "{bytes}");
    (fs::read(&path).unwrap(), eve)
}

/// A run that reads a pipe and sends.
fn piped(to: &str, spool: &[&str]) -> Child {
    let args = ["run", "-r", "-", "--output", to, "--json"];
    let mut run = command(&[&args[..], spool].concat());
    let run = run.stdin(Stdio::piped()).stdout(Stdio::piped());
    run.stderr(Stdio::piped()).spawn().unwrap()
}

/// Half of a capture, then a broker that is killed, then the other half; and what the run said.
/// The broker is back after some time, if it is to be.
fn run_while_away(mut run: Child, bytes: &[u8], broker: &mut Broker, comes_back: bool) -> Output {
    let mut pipe = run.stdin.take().unwrap();
    let (first, second) = bytes.split_at(bytes.len() / 3);
    pipe.write_all(first).unwrap();
    sleep(Duration::from_secs(2));
    broker.kill();
    scope(|scope| {
        scope.spawn(move || {
            // The run may end before it has read all.
            let _ = pipe.write_all(second);
        });
        if comes_back {
            sleep(Duration::from_secs(8));
            broker.resume().unwrap();
        }
        run.wait_with_output().unwrap()
    })
}

/// A broker that is killed in mid-run and comes back gets each record once; one that stays away
/// ends the run with exit code 1, and a spool keeps what it has not had for the next run.
#[test]
fn a_broker_killed_in_mid_run_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut broker) = broker(folder.path(), Extras::default()) else {
        return;
    };
    let (bytes, eve) = large(folder.path());
    let to = |topic: &str| format!("kafka://{}/{topic}", broker.address());
    let (back, gone, spooled) = (to("back"), to("gone"), to("spooled"));

    let run = run_while_away(piped(&back, &[]), &bytes, &mut broker, true);
    let told = stderr(&run);
    assert_eq!(code(&run), 0, "{told}");
    for word in ["is away", "waiting for", "is back"] {
        assert!(told.contains(word), "{word}: {told}");
    }
    let (got, doubled) = lines(&broker.read("back").unwrap());
    assert_eq!((got.len(), doubled), (eve.len(), 0));
    assert!(got == eve);

    let spool = folder.path().join("spool");
    let spool = ["--spool", text(&spool)];
    let run = run_while_away(piped(&spooled, &spool), &bytes, &mut broker, false);
    let told = stderr(&run);
    assert_eq!(code(&run), 1, "{told}");
    assert!(told.contains("wait in"), "{told}");
    let summary: Value = serde_json::from_slice(&run.stdout).unwrap_or_default();
    println!("{told}{summary}");
    broker.resume().unwrap();
    let http = capture("http.pcapng");
    let args = ["run", "-q", "-r", &http, "--output", &spooled];
    let next = flowpin(&[&args[..], &spool].concat());
    assert_eq!(code(&next), 0, "{}", stderr(&next));
    let (got, _) = lines(&broker.read("spooled").unwrap());
    let own = flowpin(&["run", "-q", "-r", &http, "--output", "-"]);
    let own = stdout(&own).lines().map(str::to_owned);
    let all: BTreeSet<_> = eve.iter().cloned().chain(own).collect();
    assert!(got.into_iter().collect::<BTreeSet<_>>() == all);

    // Without one, what memory does not hold waits; in the end what is left is counted.
    let small = fs::read(capture("lab-day.pcapng")).unwrap();
    let run = run_while_away(piped(&gone, &[]), &small, &mut broker, false);
    let told = stderr(&run);
    assert_eq!(code(&run), 1, "{told}");
    assert!(
        told.contains("records are lost; give --spool DIR"),
        "{told}"
    );
}

/// What cannot be reached, or has no such topic, is told in one line before anything is read.
#[test]
fn a_cluster_that_cannot_be_used_is_told_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let extras = Extras {
        properties: "auto.create.topics.enable=false",
        ..Extras::default()
    };
    let Some(broker) = broker(folder.path(), extras) else {
        return;
    };
    let http = capture("http.pcapng");
    let run = |to: &str| {
        let begun = Instant::now();
        let run = flowpin(&["run", "-q", "-r", &http, "--output", to]);
        assert!(begun.elapsed() < Duration::from_secs(9), "{to}");
        run
    };
    // Nobody listens there, or one who says nothing.
    let mute = TcpListener::bind("127.0.0.1:0").unwrap();
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr();
    for (at, parts) in [
        (closed.unwrap().to_string(), &["refused"][..]),
        (mute.local_addr().unwrap().to_string(), &[][..]),
        ("nowhere.invalid:9092".to_owned(), &["resolve"][..]),
    ] {
        let to = format!("kafka://{at}/t");
        let parts = [&["cannot send records to", &to, "--spool"], parts].concat();
        assert_refused(&run(&to), 1, &parts);
    }
    let to = format!("kafka://{}/absent", broker.address());
    assert_refused(&run(&to), 1, &["absent", "Unknown topic"]);
    // With a spool, records wait for who makes it.
    let spool = folder.path().join("spool");
    let args = ["run", "-q", "-r", &http, "--output", &to, "--spool"];
    let run = flowpin(&[&args[..], &[text(&spool)]].concat());
    assert_eq!(code(&run), 1);
    assert!(stderr(&run).contains("wait in"), "{}", stderr(&run));
}
