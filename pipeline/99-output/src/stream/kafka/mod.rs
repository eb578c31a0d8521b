//! Records to Kafka: each acknowledged by all replicas before it is forgotten.
//!
//! ```text
//!  queue ─► window ─► producer (librdkafka) ─► brokers
//!             ▲  └ until acknowledged              │
//!             └──────── reports ◄──────────────────┘
//! ```
//!
//! Owns the producer and what is not acknowledged yet. Guarantees that each record is acknowledged,
//! back in the queue's hands, or counted; that records with the same key arrive in order; and that
//! memory stays below a cap. A record may arrive twice if a producer was given up, or a run killed:
//! its `record_id` tells.

mod client;
mod place;
mod properties;
#[cfg(test)]
mod real;
#[cfg(test)]
mod tests;
mod window;

use super::queue::{Next, Queue};
use client::{Client, Refusal};
use place::Places;
use properties::Properties;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use window::Window;

/// The thread that sends to a cluster.
struct Courier {
    properties: Properties,
    places: Places,
    client: Option<Client>,
    queue: Arc<Queue>,
    window: Window,
    /// The last record of batches that were too long: up to it, each record is sent by itself, so
    /// that only those are given up that are too long alone.
    suspect: Option<u64>,
    /// When a record was last acknowledged.
    moved: Instant,
    ended: Option<Instant>,
    backoff: Duration,
    /// Whether the user knows that a record was too long.
    has_told: bool,
}

/// Records that are not acknowledged, in bytes of lines. The producer holds a copy of each.
const WINDOW_BYTES: usize = 16 << 20;
/// How many records are sent before reports are read.
const TURN_RECORDS: usize = 256;
/// How long a report, or a line, is waited for.
const TURN: Duration = Duration::from_millis(20);
/// How long lines are waited for where no reports are due.
const IDLE: Duration = Duration::from_millis(500);
const BACKOFF_MIN: Duration = Duration::from_millis(100);
const BACKOFF_MAX: Duration = Duration::from_secs(5);

/// A cluster that was asked for, whether it is there or not.
pub(super) struct Link {
    properties: Properties,
    topic: String,
    client: Client,
}

impl Link {
    /// Makes a client, and asks the cluster for the topic. Also says why it is away, if it is: the
    /// client may find it later.
    ///
    /// # Errors
    /// What is wrong with the user's properties.
    pub(super) fn open(
        brokers: &str,
        topic: &str,
        file: Option<&Path>,
    ) -> Result<(Self, Option<io::Error>), String> {
        let properties = Properties::read(brokers, file)?;
        let client = Client::new(&properties, false)?;
        let away = client.find(&Places::first(topic)).err();
        let topic = topic.to_owned();
        let link = Self {
            properties,
            topic,
            client,
        };
        Ok((link, away.map(io::Error::other)))
    }

    /// Sends what comes until the end.
    pub(super) fn run(self, queue: Arc<Queue>) {
        Courier::new(self, queue).run();
    }
}

impl Courier {
    fn new(link: Link, queue: Arc<Queue>) -> Self {
        Self {
            properties: link.properties,
            places: Places::new(&link.topic),
            client: Some(link.client),
            queue,
            window: Window::default(),
            suspect: None,
            moved: Instant::now(),
            ended: None,
            backoff: BACKOFF_MIN,
            has_told: false,
        }
    }

    /// Sends until the end has come and all is acknowledged, or the cluster stays away.
    fn run(mut self) {
        while !self.is_hopeless() {
            let Some(client) = self.client.take() else {
                self.begin_again();
                continue;
            };
            if self
                .suspect
                .is_some_and(|last| self.window.is_settled_to(last))
            {
                self.suspect = None;
                self.give_up(client);
                continue;
            }
            match self.step(&client) {
                Ok(true) => self.client = Some(client),
                Ok(false) => return self.queue.close(Vec::new()),
                Err(why) => {
                    self.queue.away(&io::Error::other(why));
                    self.give_up(client);
                    self.pause();
                }
            }
        }
        if let Some(client) = self.client.take() {
            self.give_up(client);
        }
        self.queue.close(self.window.unsent());
    }

    /// Whether the run waits in vain for its end.
    fn is_hopeless(&mut self) -> bool {
        if !self.queue.is_ended() {
            return false;
        }
        let ended = *self.ended.get_or_insert_with(Instant::now);
        // A cluster that is slow is waited for, unless the user wants the run to stop.
        let since = match self.queue.is_stopped() {
            true => ended,
            false => self.moved.max(ended),
        };
        since.elapsed() > self.queue.patience()
    }

    /// One turn; false if all is done.
    ///
    /// # Errors
    /// Why this client sends nothing any more.
    fn step(&mut self, client: &Client) -> Result<bool, String> {
        self.hear(client, Duration::ZERO);
        if let Some(why) = client.failed() {
            return Err(why);
        }
        if let Some(why) = client.down().filter(|_| !self.window.is_empty()) {
            self.queue.away(&io::Error::other(why));
        }
        if self.suspect.is_some() {
            self.send(client)?;
            self.hear(client, TURN);
            return Ok(true);
        }
        if self.window.has_unsent() {
            self.send(client)?;
            return Ok(true);
        }
        if self.window.bytes() >= WINDOW_BYTES {
            self.hear(client, TURN);
            return Ok(true);
        }
        let wait = if self.window.is_empty() { IDLE } else { TURN };
        match self.queue.take(wait) {
            Next::Lines(lines) => self.window.push(lines, None),
            Next::Segment(segment) => match segment.lines() {
                // Its file stays until all of them are acknowledged.
                Ok(lines) => {
                    if let Some(empty) = self.window.push_segment(lines, segment) {
                        self.queue.done(&empty);
                    }
                }
                Err(error) => self.queue.unreadable(&segment, &error),
            },
            Next::Nothing => {}
            Next::End if self.window.is_empty() => return Ok(false),
            Next::End => self.hear(client, TURN),
        }
        Ok(true)
    }

    /// Hands some records to the producer.
    fn send(&mut self, client: &Client) -> Result<(), String> {
        for _ in 0..TURN_RECORDS {
            let Some((number, line)) = self.window.next() else {
                return Ok(());
            };
            if self.suspect.is_some_and(|last| number > last) {
                return Ok(());
            }
            let (topic, key) = self.places.of(line);
            match client.send(topic, key, line, number) {
                Ok(()) => self.window.sent(),
                Err(Refusal::Full) => {
                    self.hear(client, TURN);
                    return Ok(());
                }
                Err(Refusal::TooLong) => {
                    self.window.sent();
                    self.forget(&[number]);
                }
                Err(Refusal::Other(why)) => return Err(why),
            }
        }
        Ok(())
    }

    /// Reads reports.
    fn hear(&mut self, client: &Client, most: Duration) {
        client.poll(most);
        self.settle(client);
    }

    fn settle(&mut self, client: &Client) {
        let reports = client.take_reports();
        if !reports.acknowledged.is_empty() {
            self.moved = Instant::now();
            self.backoff = BACKOFF_MIN;
            self.queue.back();
        }
        for number in &reports.acknowledged {
            self.window.settle(*number);
        }
        match (self.suspect, reports.too_long.iter().max()) {
            (Some(_), _) => self.forget(&reports.too_long),
            (None, Some(&last)) => {
                self.suspect = Some(last);
                client.fail("a batch is longer than the topic allows; records are sent singly");
            }
            (None, None) => {}
        }
        for segment in self.window.trim() {
            self.queue.done(&segment);
        }
    }

    /// Records that no broker takes, however often they are sent: they are counted.
    fn forget(&mut self, numbers: &[u64]) {
        for number in numbers {
            self.window.settle(*number);
            self.queue.lose_one();
        }
        if !numbers.is_empty() && !std::mem::replace(&mut self.has_told, true) {
            self.queue.tell(
                "Kafka refuses a record that is longer than the topic or message.max.bytes of \
                 --kafka-config allow: such records are counted as not sent",
            );
        }
    }

    /// Ends a producer; what it has not had acknowledged is sent again by the next.
    fn give_up(&mut self, client: Client) {
        let client = client.purge();
        self.settle(&client);
        self.window.rewind();
    }

    fn begin_again(&mut self) {
        match Client::new(&self.properties, self.suspect.is_some()) {
            Ok(client) => self.client = Some(client),
            Err(why) => {
                self.queue.away(&io::Error::other(why));
                self.pause();
            }
        }
    }

    fn pause(&mut self) {
        match self.queue.is_ended() {
            true => std::thread::sleep(BACKOFF_MIN),
            false => self.queue.pause(self.backoff),
        }
        self.backoff = (self.backoff * 2).min(BACKOFF_MAX);
    }
}
