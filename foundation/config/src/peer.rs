//! Where records go that stay in no directory: the address of another program, or of a bucket.

use core::fmt::{self, Display};
use core::str::FromStr;
use std::path::PathBuf;

/// A program that listens for records, or a bucket for their files.
///
/// ```
/// use flowpin_config::PeerAddress;
/// let address: PeerAddress = "tcp://collector:5170".parse()?;
/// assert_eq!(address.to_string(), "tcp://collector:5170");
/// assert!("tcp://collector".parse::<PeerAddress>().is_err());
/// # Ok::<(), flowpin_config::PeerAddressError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PeerAddress {
    /// `unix:/PATH`: a socket of this machine.
    Unix(PathBuf),
    /// `tcp://HOST:PORT`; an IPv6 address stands in brackets.
    Tcp(String),
    /// `kafka://HOST:PORT,HOST:PORT/TOPIC`.
    Kafka {
        /// Some of the cluster's brokers, separated by commas; they name the others.
        brokers: String,
        /// The topic. [`KIND`](Self::KIND) in it stands for each record's kind.
        topic: String,
    },
    /// `s3://BUCKET/PREFIX`: Parquet files, as objects.
    Bucket {
        /// Its name.
        bucket: String,
        /// What stands before the names of files, without a slash at its ends; may be empty.
        prefix: String,
    },
}

impl PeerAddress {
    /// In a topic: the record's kind, as EVE's `event_type` has it.
    pub const KIND: &str = "{kind}";
    /// The longest name of a topic that Kafka takes.
    pub const TOPIC_LEN_MAX: usize = 249;
}

/// A text that names no program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no output: use `-` for standard output, unix:/PATH, tcp://HOST:PORT, \
     kafka://HOST:PORT,HOST:PORT/TOPIC or s3://BUCKET/PREFIX; `-l DIR` writes files"
)]
pub struct PeerAddressError(String);

impl FromStr for PeerAddress {
    type Err = PeerAddressError;

    fn from_str(text: &str) -> Result<Self, PeerAddressError> {
        let refused = || PeerAddressError(text.to_owned());
        if let Some(path) = text.strip_prefix("unix:").filter(|path| !path.is_empty()) {
            return Ok(Self::Unix(path.into()));
        }
        if let Some(rest) = text.strip_prefix("kafka://") {
            let (brokers, topic) = rest.split_once('/').ok_or_else(refused)?;
            let is_good = brokers.split(',').all(is_endpoint) && is_topic(topic);
            let (brokers, topic) = (brokers.to_owned(), topic.to_owned());
            return is_good
                .then_some(Self::Kafka { brokers, topic })
                .ok_or_else(refused);
        }
        if let Some(rest) = text.strip_prefix("s3://") {
            let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
            let prefix = prefix.strip_suffix('/').unwrap_or(prefix);
            let is_good = is_bucket(bucket) && is_prefix(prefix);
            let (bucket, prefix) = (bucket.to_owned(), prefix.to_owned());
            return is_good
                .then_some(Self::Bucket { bucket, prefix })
                .ok_or_else(refused);
        }
        let address = text.strip_prefix("tcp://").ok_or_else(refused)?;
        match is_endpoint(address) {
            true => Ok(Self::Tcp(address.to_owned())),
            false => Err(refused()),
        }
    }
}

/// Whether a text is HOST:PORT; an IPv6 address stands in brackets.
fn is_endpoint(text: &str) -> bool {
    let Some((host, port)) = text.rsplit_once(':') else {
        return false;
    };
    let is_host = match host.strip_prefix('[') {
        Some(inner) => inner.ends_with(']'),
        None => !host.is_empty() && !host.contains([':', '/']),
    };
    is_host && port.parse::<u16>().is_ok_and(|port| port > 0)
}

/// Whether Kafka takes a topic of this name, which may have a place for the kind.
fn is_topic(text: &str) -> bool {
    let fixed = text.replacen(PeerAddress::KIND, "x", 1);
    let is_letter = |c: char| c.is_ascii_alphanumeric() || ".-_".contains(c);
    !matches!(fixed.as_str(), "" | "." | "..")
        && fixed.len() <= PeerAddress::TOPIC_LEN_MAX
        && fixed.chars().all(is_letter)
}

/// Whether S3 and what is like it take a bucket of this name.
fn is_bucket(text: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || ".-_".contains(c);
    (3..=63).contains(&text.len()) && text.chars().all(is_letter)
}

/// Whether objects below this prefix have names that every tool reads as they are written.
fn is_prefix(text: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || "!-_.()=:+@,".contains(c);
    let is_part = |part: &str| !matches!(part, "" | "." | "..") && part.chars().all(is_letter);
    text.is_empty() || text.len() <= PREFIX_LEN_MAX && text.split('/').all(is_part)
}

/// A key has 1024 bytes at most; names of files are much shorter than the rest.
const PREFIX_LEN_MAX: usize = 800;

impl Display for PeerAddress {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(path) => write!(out, "unix:{}", path.display()),
            Self::Tcp(address) => write!(out, "tcp://{address}"),
            Self::Kafka { brokers, topic } => write!(out, "kafka://{brokers}/{topic}"),
            Self::Bucket { bucket, prefix } if prefix.is_empty() => write!(out, "s3://{bucket}"),
            Self::Bucket { bucket, prefix } => write!(out, "s3://{bucket}/{prefix}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::PeerAddress;

    /// What is no address is refused before anything is opened.
    #[test]
    fn addresses_are_complete() {
        for good in [
            "unix:/run/x",
            "tcp://h:1",
            "tcp://[::1]:65535",
            "kafka://h:9092/flowpin",
            "kafka://a:1,[::1]:2/net-{kind}_1.x",
            "s3://flows",
            "s3://my.flows/sensor=7/2026-11-27T10:00Z",
        ] {
            assert_eq!(good.parse::<PeerAddress>().unwrap().to_string(), good);
        }
        for bad in [
            "",
            "x",
            "unix:",
            "tcp://",
            "tcp://h",
            "tcp://:1",
            "tcp://h:0",
            "tcp://h:65536",
            "tcp://::1:9",
            "tcp://a/b:9",
            "udp://h:1",
            "kafka://h:1",
            "kafka://h:1/",
            "kafka://h/t",
            "kafka://h:1,/t",
            "kafka://h:1/..",
            "kafka://h:1/a/b",
            "kafka://h:1/a b",
            "kafka://h:1/{kind}{kind}",
            "kafka://h:1/{sensor}",
            "s3://",
            "s3://x",
            "s3:///a",
            "s3://flows//a",
            "s3://flows/a//b",
            "s3://flows/../b",
            "s3://flows/a b",
            "s3://flows/a?b",
            "s3://flows/{kind}",
        ] {
            assert!(bad.parse::<PeerAddress>().is_err(), "{bad}");
        }
    }
}
