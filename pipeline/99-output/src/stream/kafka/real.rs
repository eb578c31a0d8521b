//! Against a real broker: killed in mid-run, and away while the spool's disk is full.
//!
//! With `FLOWPIN_TEST_LONG=1` only, because the broker has to be fetched and started.

use super::tests::{KEYS, MANY, assert_all, open, total, write};
use crate::stream::{Stream, StreamHooks};
use flowpin_config::OutputPlan;
use flowpin_testkit::corpus;
use flowpin_testkit::kafka::Broker;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread::{scope, sleep};
use std::time::Duration;

/// A file system of 4 MiB, if we may make one.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn make(folder: PathBuf) -> Option<Self> {
        fs::create_dir_all(&folder).unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=4m", "tmpfs"])
            .arg(&folder)
            .output();
        mounted
            .is_ok_and(|run| run.status.success())
            .then_some(Self(folder))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

/// What librdkafka measures time by, 100 times as fast: 7 seconds away are 12 minutes.
const COMPRESSED: &str = "\
socket.timeout.ms=600
socket.connection.setup.timeout.ms=1000
reconnect.backoff.ms=1
reconnect.backoff.max.ms=20
retry.backoff.ms=1
retry.backoff.max.ms=10
metadata.max.age.ms=9000
topic.metadata.refresh.interval.ms=3000
topic.metadata.propagation.max.ms=300
connections.max.idle.ms=5400
";

fn plan(broker: &Broker, topic: &str, spool: Option<&Path>) -> OutputPlan {
    OutputPlan {
        stream: Some(
            format!("kafka://{}/{topic}", broker.address())
                .parse()
                .unwrap(),
        ),
        spool: spool.map(Path::to_owned),
        ..OutputPlan::default()
    }
}

/// The numbers in a topic, by partition, in order.
fn read(broker: &Broker, topic: &str) -> BTreeMap<i32, Vec<usize>> {
    let mut numbers = BTreeMap::<i32, Vec<usize>>::new();
    for message in broker.read(topic).unwrap() {
        let number: usize = message.text.split('"').nth(3).unwrap().parse().unwrap();
        assert_eq!(message.key, format!("1:{}", number % KEYS));
        let partition = i32::try_from(message.partition).unwrap();
        numbers.entry(partition).or_default().push(number);
    }
    numbers
}

/// Writes all, and has the broker killed after a hundred and back after some seconds.
fn write_while_away(stream: &Stream, broker: &mut Broker) {
    write(stream, 0..100);
    sleep(Duration::from_millis(500));
    broker.kill();
    scope(|scope| {
        let writer = scope.spawn(|| write(stream, 100..MANY + (16 << 10)));
        sleep(Duration::from_secs(7));
        assert!(
            !writer.is_finished(),
            "what nothing can hold makes the run wait"
        );
        broker.resume().unwrap();
    });
}

/// Nothing is lost, doubled or out of order by key. A full disk is as a full spool: a run of files
/// waits.
#[test]
fn a_real_broker_gets_everything_once() {
    if !corpus::is_long() {
        corpus::skip("Kafka", "needs FLOWPIN_TEST_LONG=1");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let cache = corpus::workspace().join("target/kafka");
    let Some(mut broker) = Broker::start(&cache, &folder.path().join("broker")) else {
        return;
    };
    let disk = SmallDisk::make(folder.path().join("small"));
    if disk.is_none() {
        corpus::skip("a spool on a full disk", "a file system cannot be mounted");
    }
    let spool = disk.as_ref().map(|disk| disk.0.join("spool"));
    let compressed = folder.path().join("kafka.properties");
    fs::write(&compressed, COMPRESSED).unwrap();
    let long = folder.path().join("long");
    for (topic, spool, config) in [
        ("killed", None, None),
        ("full", spool.as_deref(), None),
        ("minutes", Some(long.as_path()), Some(compressed)),
    ] {
        let told = Arc::new(Mutex::new(String::new()));
        let ear = Arc::clone(&told);
        let hooks = StreamHooks {
            tell: Some(Arc::new(move |text| ear.lock().unwrap().push_str(text))),
            ..StreamHooks::default()
        };
        let mut plan = plan(&broker, topic, spool);
        if config.is_some() {
            // Smaller than what is written, so that the run waits.
            (plan.kafka_config, plan.spool_bytes_max) = (config, 4 << 20);
        }
        let mut stream = open(&plan, &hooks).unwrap();
        write_while_away(&stream, &mut broker);
        stream.end().unwrap();
        assert_eq!(stream.newly_lost(), 0);
        let numbers = read(&broker, topic);
        assert_all(&numbers, MANY + (16 << 10));
        assert_eq!(total(&numbers), MANY + (16 << 10));
        let told = told.lock().unwrap();
        for word in ["is away", "waiting for", "is back"] {
            assert!(told.contains(word), "{told}");
        }
    }
}
