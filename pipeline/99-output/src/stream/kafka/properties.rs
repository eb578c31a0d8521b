//! What a producer is configured with: our own choices, and a file of the user's.

use flowpin_disk::read_given_text;
use rdkafka::ClientConfig;
use std::path::Path;

/// Properties as librdkafka names them.
#[derive(Clone)]
pub(in crate::stream) struct Properties(ClientConfig);

/// What is promised rests on these.
const OURS: &[(&str, &str)] = &[
    ("enable.idempotence", "true"),
    ("acks", "all"),
    // A record is given up by no clock: it waits, and what waits behind it goes to the spool.
    ("message.timeout.ms", "0"),
    // No record of a partition overtakes one that failed.
    ("enable.gapless.guarantee", "true"),
    ("queue.buffering.max.messages", "0"),
    ("queue.buffering.max.kbytes", "131072"),
];
/// What a user may choose otherwise.
const DEFAULTS: &[(&str, &str)] = &[
    ("client.id", "flowpin"),
    ("compression.type", "lz4"),
    ("linger.ms", "20"),
    // As Java's clients divide keys, so that their joins find them.
    ("partitioner", "murmur2_random"),
    ("reconnect.backoff.max.ms", "2000"),
    ("retry.backoff.max.ms", "1000"),
];
/// Other names of ours, and what would break them.
const NEITHER: &[&str] = &[
    "bootstrap.servers",
    "metadata.broker.list",
    "request.required.acks",
    "delivery.timeout.ms",
    "message.send.max.retries",
    "retries",
    "queuing.strategy",
    "transactional.id",
];

impl Properties {
    /// Reads a user's file, a `name=value` a line; `#` begins a comment.
    ///
    /// # Errors
    /// The file and the line that cannot be used, and why.
    pub(in crate::stream) fn read(brokers: &str, file: Option<&Path>) -> Result<Self, String> {
        let mut config = ClientConfig::new();
        for (name, value) in DEFAULTS.iter().chain(OURS) {
            config.set(*name, *value);
        }
        config.set("bootstrap.servers", brokers);
        let mut properties = Self(config);
        if let Some(file) = file {
            let told = |why: String| format!("{}{why}", file.display());
            let text = read_given_text(file).map_err(|error| told(format!(": {error}")))?;
            for (number, line) in (1..).zip(text.lines()) {
                let taken = properties.take(line);
                taken.map_err(|why| told(format!(":{number}: {why}")))?;
            }
        }
        Ok(properties)
    }

    fn take(&mut self, line: &str) -> Result<(), String> {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            return Ok(());
        }
        // The line may hold a password: it is not repeated.
        let Some((name, value)) = line.split_once('=') else {
            return Err("a line is `name=value`".to_owned());
        };
        let (name, value) = (name.trim(), value.trim());
        let is_ours = OURS.iter().any(|ours| ours.0 == name) || NEITHER.contains(&name);
        if is_ours {
            return Err(format!(
                "`{name}` is set by Flowpin, or would break what it promises: leave it away"
            ));
        }
        self.0.set(name, value);
        Ok(())
    }

    pub(super) fn config(&self) -> &ClientConfig {
        &self.0
    }
}
