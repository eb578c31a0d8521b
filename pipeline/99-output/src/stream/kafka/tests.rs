//! Against librdkafka's own cluster for tests: brokers that go away, refuse, and come back.

use super::place::Places;
use crate::OutputError;
use crate::stream::{Stream, StreamHooks};
use flowpin_config::{OutputPlan, PeerAddress};
use flowpin_disk::Reads;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::mocking::MockCluster;
use rdkafka::producer::DefaultProducerContext;
use rdkafka::types::{RDKafkaApiKey, RDKafkaRespErr};
use rdkafka::{ClientConfig, Message, Offset, TopicPartitionList};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Lines of [`LINE`] bytes: together more than what the window and the memory hold.
const LINE: usize = 1 << 10;
pub(super) const MANY: usize = 28 << 10;
pub(super) const KEYS: usize = 7;
const PARTITIONS: i32 = 4;

type Cluster = MockCluster<'static, DefaultProducerContext>;

fn cluster() -> Cluster {
    let cluster = MockCluster::new(1).unwrap();
    cluster.create_topic("t", PARTITIONS, 1).unwrap();
    cluster
}

fn plan(cluster: &Cluster, spool: Option<&Path>) -> OutputPlan {
    let address = format!("kafka://{}/t", cluster.bootstrap_servers());
    OutputPlan {
        stream: Some(address.parse().unwrap()),
        spool: spool.map(Path::to_owned),
        ..OutputPlan::default()
    }
}

pub(super) fn open(plan: &OutputPlan, hooks: &StreamHooks) -> Result<Stream, OutputError> {
    let address: &PeerAddress = plan.stream.as_ref().unwrap();
    Stream::open(plan, address, &Reads::default(), hooks.clone())
}

pub(super) fn write(stream: &Stream, numbers: impl Iterator<Item = usize>) {
    let mut target = stream.target();
    for number in numbers {
        let start = format!(
            "{{\"record_id\":\"{number}\",\"event_type\":\"flow\",\
             \"community_id\":\"1:{}\",\"x\":\"",
            number % KEYS
        );
        let line = format!("{start:y<width$}\"}}\n", width = LINE - 3);
        target.write_all(line.as_bytes()).unwrap();
    }
}

/// The numbers in a topic, by partition, in order.
fn read(cluster: &Cluster, topic: &str) -> BTreeMap<i32, Vec<usize>> {
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", cluster.bootstrap_servers());
    config
        .set("group.id", "test")
        .set("enable.partition.eof", "true");
    let consumer: BaseConsumer = config.create().unwrap();
    let mut list = TopicPartitionList::new();
    for partition in 0..PARTITIONS {
        list.add_partition_offset(topic, partition, Offset::Beginning)
            .unwrap();
    }
    consumer.assign(&list).unwrap();
    let (mut numbers, mut ended) = (BTreeMap::<i32, Vec<usize>>::new(), 0);
    while ended < PARTITIONS {
        match consumer
            .poll(Duration::from_secs(20))
            .expect("an end in time")
        {
            Err(rdkafka::error::KafkaError::PartitionEOF(_)) => ended += 1,
            Err(error) => panic!("{error}"),
            Ok(message) => {
                let text = str::from_utf8(message.payload().unwrap()).unwrap();
                let number: usize = text.split('"').nth(3).unwrap().parse().unwrap();
                let key = format!("1:{}", number % KEYS);
                assert_eq!(message.key(), Some(key.as_bytes()));
                numbers.entry(message.partition()).or_default().push(number);
            }
        }
    }
    numbers
}

/// All numbers are there; what came first of each is in order by key.
pub(super) fn assert_all(numbers: &BTreeMap<i32, Vec<usize>>, count: usize) {
    let mut seen = BTreeSet::new();
    for numbers in numbers.values() {
        let mut last = [0; KEYS];
        for &number in numbers.iter().filter(|&&number| seen.insert(number)) {
            assert!(number >= last[number % KEYS], "{number} came late");
            last[number % KEYS] = number;
        }
    }
    assert!(seen.into_iter().eq(0..count), "all of {count}");
}

pub(super) fn total(numbers: &BTreeMap<i32, Vec<usize>>) -> usize {
    numbers.values().map(Vec::len).sum()
}

/// A broker that goes away and comes back: what waits passes memory and the spool, and nothing is
/// lost, doubled or out of order.
#[test]
fn a_broker_that_comes_back_gets_everything_once() {
    let (cluster, folder) = (cluster(), tempfile::tempdir().unwrap());
    let told = Arc::new(Mutex::new(String::new()));
    let ear = Arc::clone(&told);
    let hooks = StreamHooks {
        tell: Some(Arc::new(move |text| ear.lock().unwrap().push_str(text))),
        ..StreamHooks::default()
    };
    let mut stream = open(&plan(&cluster, Some(folder.path())), &hooks).unwrap();
    write(&stream, 0..100);
    cluster.broker_down(1).unwrap();
    write(&stream, 100..MANY);
    assert!(fs::read_dir(folder.path()).unwrap().count() > 0);
    cluster.broker_up(1).unwrap();
    stream.end().unwrap();
    assert_eq!(stream.newly_lost(), 0);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    let numbers = read(&cluster, "t");
    assert_all(&numbers, MANY);
    assert_eq!(total(&numbers), MANY);
    let told = told.lock().unwrap();
    assert!(
        told.contains("is away") && told.contains("is back"),
        "{told}"
    );
}

/// A cluster that stays away: all is in the spool, and the next run sends it in order.
#[test]
fn the_next_run_sends_what_was_not_acknowledged() {
    let (cluster, folder) = (cluster(), tempfile::tempdir().unwrap());
    let plan = plan(&cluster, Some(folder.path()));
    let mut stream = open(&plan, &StreamHooks::default()).unwrap();
    cluster.broker_down(1).unwrap();
    write(&stream, 0..MANY);
    let told = stream.end().unwrap_err().to_string();
    assert!(told.contains("wait in"), "{told}");
    drop(stream);
    cluster.broker_up(1).unwrap();
    let mut stream = open(&plan, &StreamHooks::default()).unwrap();
    write(&stream, MANY..MANY + 10);
    stream.end().unwrap();
    assert_eq!(stream.newly_lost(), 0);
    assert_all(&read(&cluster, "t"), MANY + 10);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// A batch that is too long for the topic is sent again record by record: one is lost that is too
/// long by itself, and no other.
#[test]
fn only_what_is_too_long_by_itself_is_lost() {
    let cluster = cluster();
    let mut stream = open(&plan(&cluster, None), &StreamHooks::default()).unwrap();
    let too_long = RDKafkaRespErr::RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE;
    cluster.request_errors(RDKafkaApiKey::Produce, &[too_long, too_long]);
    write(&stream, 0..1000);
    stream.end().unwrap();
    let numbers = read(&cluster, "t");
    let seen: BTreeSet<_> = numbers.values().flatten().copied().collect();
    assert_eq!(seen.len() as u64 + stream.newly_lost(), 1000);
    assert!(seen.len() >= 998, "{} of 1000", seen.len());
}

/// An error that ends a producer for good: the next one sends what the first had not acknowledged.
#[test]
fn a_producer_that_fails_has_a_successor() {
    let cluster = cluster();
    let mut stream = open(&plan(&cluster, None), &StreamHooks::default()).unwrap();
    let denied = RDKafkaRespErr::RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED;
    cluster.request_errors(RDKafkaApiKey::Produce, &[denied]);
    write(&stream, 0..1000);
    stream.end().unwrap();
    assert_eq!(stream.newly_lost(), 0);
    assert_all(&read(&cluster, "t"), 1000);
}

/// One topic a kind.
#[test]
fn each_kind_has_its_topic() {
    let cluster = cluster();
    cluster.create_topic("net-flow", PARTITIONS, 1).unwrap();
    let address = format!("kafka://{}/net-{{kind}}", cluster.bootstrap_servers());
    let plan = OutputPlan {
        stream: Some(address.parse().unwrap()),
        ..OutputPlan::default()
    };
    let mut stream = open(&plan, &StreamHooks::default()).unwrap();
    write(&stream, 0..20);
    stream.end().unwrap();
    assert_all(&read(&cluster, "net-flow"), 20);
    assert_eq!(Places::first("net-{kind}"), "net-flow");
}

/// What is wrong in the file of properties is told with its line, and without its value; so is a
/// property that would break what is promised.
#[test]
fn properties_are_refused_with_their_line() {
    let (cluster, folder) = (cluster(), tempfile::tempdir().unwrap());
    let file = folder.path().join("kafka.properties");
    let mut plan = plan(&cluster, None);
    plan.kafka_config = Some(file.clone());
    for (text, expected) in [
        ("# a comment\n\nacks=1\n", ":3: `acks` is set by Flowpin"),
        ("sasl.password hunter2\n", ":1: a line is `name=value`"),
        ("no.such.property=hunter2\n", "no.such.property"),
    ] {
        fs::write(&file, text).unwrap();
        let told = open(&plan, &StreamHooks::default()).err().unwrap();
        assert!(matches!(told, OutputError::Unusable { .. }));
        let told = told.to_string();
        assert!(
            told.contains(expected) && !told.contains("hunter"),
            "{told}"
        );
    }
    fs::write(&file, "compression.type = gzip\n").unwrap();
    let mut stream = open(&plan, &StreamHooks::default()).unwrap();
    write(&stream, 0..10);
    stream.end().unwrap();
    assert_eq!(stream.newly_lost(), 0);
}
