//! One producer of librdkafka, and what it reports.

use super::properties::Properties;
use rdkafka::client::ClientContext;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::DeliveryResult;
use rdkafka::producer::{BaseProducer, BaseRecord, Producer, ProducerContext, PurgeConfig};
use std::mem::take;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

pub(in crate::stream) struct Client {
    /// None once it was purged.
    producer: Option<BaseProducer<Ear>>,
    ear: Ear,
}

/// Hears what a producer reports.
#[derive(Clone, Default)]
struct Ear(Arc<Mutex<Heard>>);

#[derive(Default)]
struct Heard {
    reports: Reports,
    /// Why the producer sends nothing any more.
    failed: Option<String>,
    /// Why no broker can be reached.
    down: Option<String>,
    /// Why one of them could not, the last time.
    last: Option<String>,
}

/// What became of records, by their numbers.
#[derive(Default)]
pub(super) struct Reports {
    pub(super) acknowledged: Vec<u64>,
    /// No broker takes them.
    pub(super) too_long: Vec<u64>,
}

/// Why a record was not taken.
pub(super) enum Refusal {
    Full,
    TooLong,
    Other(String),
}

/// How long the cluster is asked for a topic at the start.
const FIND: Duration = Duration::from_secs(5);
/// How long what has happened meanwhile is listened to.
const EVENTS: Duration = Duration::from_millis(50);

impl Client {
    /// A producer, `singly` of batches of one record each.
    ///
    /// # Errors
    /// What is wrong with the properties.
    pub(super) fn new(properties: &Properties, singly: bool) -> Result<Self, String> {
        let ear = Ear::default();
        let mut config = properties.config().clone();
        if singly {
            config.set("batch.num.messages", "1");
        }
        let made = config.create_with_context(ear.clone());
        Ok(Self {
            producer: Some(made.map_err(|error| unusable(&error))?),
            ear,
        })
    }

    /// Asks the cluster for a topic, until it has one: it may be about to make it.
    ///
    /// # Errors
    /// No broker answers, or they know no such topic.
    pub(super) fn find(&self, topic: &str) -> Result<(), String> {
        let Some(producer) = &self.producer else {
            return Err(String::new());
        };
        let begun = Instant::now();
        let mut answer = None;
        loop {
            let left = FIND.saturating_sub(begun.elapsed());
            let asked = producer.client().fetch_metadata(Some(topic), left);
            // Each event by itself: that a broker refused, then that all are down.
            producer.poll(EVENTS);
            let why = match asked {
                Ok(metadata) => match metadata.topics().iter().find_map(|topic| topic.error()) {
                    None => return Ok(()),
                    Some(error) => {
                        let why = format!("topic {topic}: {}", RDKafkaErrorCode::from(error));
                        answer.insert(why).clone()
                    }
                },
                // The last question may have no time left for its answer.
                Err(error) => {
                    (self.trouble().or_else(|| answer.clone())).unwrap_or_else(|| reason(&error))
                }
            };
            if begun.elapsed() >= FIND {
                return Err(why);
            }
            producer.poll(Duration::from_millis(100));
        }
    }

    pub(super) fn send(
        &self,
        topic: &str,
        key: Option<&[u8]>,
        line: &[u8],
        number: u64,
    ) -> Result<(), Refusal> {
        let Some(producer) = &self.producer else {
            return Err(Refusal::Full);
        };
        // Numbers are of this run, and addresses have as many bits.
        let opaque = usize::try_from(number).unwrap_or(usize::MAX);
        let mut record = BaseRecord::with_opaque_to(topic, opaque).payload(line);
        if let Some(key) = key {
            record = record.key(key);
        }
        producer
            .send(record)
            .map_err(|(error, _)| match error.rdkafka_error_code() {
                Some(RDKafkaErrorCode::QueueFull) => Refusal::Full,
                Some(code) if is_too_long(code) => Refusal::TooLong,
                _ => Refusal::Other(reason(&error)),
            })
    }

    /// Reads reports for so long.
    pub(super) fn poll(&self, most: Duration) {
        if let Some(producer) = &self.producer {
            producer.poll(most);
        }
    }

    pub(super) fn take_reports(&self) -> Reports {
        take(&mut self.ear.lock().reports)
    }

    /// This producer is not to go on.
    pub(super) fn fail(&self, why: &str) {
        self.ear.lock().failed = Some(why.to_owned());
    }

    pub(super) fn failed(&self) -> Option<String> {
        self.ear.lock().failed.clone()
    }

    /// Why no broker can be reached, if none can.
    pub(super) fn down(&self) -> Option<String> {
        let heard = self.ear.lock();
        // The library counts brokers; what one of them did says more.
        let count = heard.down.as_ref()?;
        Some(heard.last.as_ref().unwrap_or(count).clone())
    }

    /// What was last said of any broker.
    fn trouble(&self) -> Option<String> {
        let heard = self.ear.lock();
        heard.last.clone().or_else(|| heard.down.clone())
    }

    /// Ends the producer: what is not acknowledged by then will not be.
    pub(super) fn purge(mut self) -> Self {
        if let Some(producer) = self.producer.take() {
            producer.purge(PurgeConfig::default().queue().inflight());
            // Dropping it reads the last reports.
            drop(producer);
        }
        self
    }
}

impl Ear {
    fn lock(&self) -> MutexGuard<'_, Heard> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ClientContext for Ear {
    /// What the user should know comes as an error, too.
    fn log(&self, _: RDKafkaLogLevel, _: &str, _: &str) {}

    fn error(&self, error: KafkaError, why: &str) {
        let mut heard = self.lock();
        match error.rdkafka_error_code() {
            Some(RDKafkaErrorCode::Fatal) => heard.failed = Some(why.to_owned()),
            Some(RDKafkaErrorCode::BrokerTransportFailure) => heard.last = Some(why.to_owned()),
            Some(RDKafkaErrorCode::AllBrokersDown) => heard.down = Some(why.to_owned()),
            Some(
                RDKafkaErrorCode::Authentication
                | RDKafkaErrorCode::SSL
                | RDKafkaErrorCode::Resolve,
            ) => {
                heard.last = Some(why.to_owned());
                heard.down = Some(why.to_owned());
            }
            _ => {}
        }
    }
}

impl ProducerContext for Ear {
    type DeliveryOpaque = usize;

    fn delivery(&self, result: &DeliveryResult<'_>, number: usize) {
        let mut heard = self.lock();
        let number = number as u64;
        let Err((error, _)) = result else {
            (heard.down, heard.last) = (None, None);
            heard.reports.acknowledged.push(number);
            return;
        };
        match error.rdkafka_error_code() {
            Some(code) if is_too_long(code) => heard.reports.too_long.push(number),
            // Our own doing.
            Some(RDKafkaErrorCode::PurgeQueue | RDKafkaErrorCode::PurgeInflight) => {}
            _ => heard.failed = Some(reason(error)),
        }
    }
}

/// What is wrong with properties. The library's own text would repeat the value: a password
/// perhaps.
fn unusable(error: &KafkaError) -> String {
    match error {
        KafkaError::ClientConfig(_, why, name, _) => format!("`{name}`: {why}"),
        error => error.to_string(),
    }
}

fn is_too_long(code: RDKafkaErrorCode) -> bool {
    matches!(
        code,
        RDKafkaErrorCode::MessageSizeTooLarge | RDKafkaErrorCode::InvalidMessageSize
    )
}

/// What the broker or the library said, without the names of our side.
fn reason(error: &KafkaError) -> String {
    match error.rdkafka_error_code() {
        Some(code) => code.to_string(),
        None => error.to_string(),
    }
}
