//! Capture from network interfaces.

use crate::options::{Flag, Hint, options};
use crate::output::put_rotation;
use crate::{ByteSize, CaptureMethod, Settings, Span};
use core::fmt::{self, Display};
use core::net::SocketAddr;
use core::str::FromStr;
use std::ffi::OsStr;
use std::path::PathBuf;

options! {
    /// Capture from network interfaces.
    #[derive(Clone, Debug, PartialEq, Eq)]
    plan LivePlan {
        [live] LiveSettings: "`[live]`: capture from network interfaces." {
            /// Interfaces to capture from; "eth1@2" is receive queue 2 of eth1 alone.
            interfaces: Vec<Interface> => interfaces: Vec<Interface> = Vec::new(),
                flag Flag::value("interface", "IFACE[@Q]", "Capture from a network interface, or \
                    from its receive queue Q alone; may be repeated").short('i');
            /// How packets are taken: "af-packet" copies them, "af-xdp" takes them away from the
            /// host, with a socket for each receive queue.
            capture: CaptureMethod => capture: CaptureMethod = CaptureMethod::AfPacket,
                flag Flag::value("capture", "METHOD", "Copies of packets, or packets that the \
                    host no longer gets, a socket for each receive queue");
            /// A pcapng file for what is captured; read again, it gives the same records.
            write: PathBuf => record: Option<PathBuf> = None, example "\"all.pcapng\"",
                flag Flag::value("write", "FILE", "Also record what is captured, as pcapng, \
                    compressed if FILE ends in .zst or .gz; read again, it gives the same \
                    records").short('w').hint(Hint::File);
            /// Go on with another file of the recording at each interval.
            write_every: Span => record_every_ns: Option<u64> = None, example "\"1 h\"",
                not_zero "the interval of recordings",
                flag Flag::value("write-rotate", "WHEN", "Record to one file after the \
                    other: a new one at each interval, or before one exceeds a size: \"1 h\", \
                    \"100 MiB\", or both, separated by a comma").by_comma().by(rotate);
            /// Go on with another file of the recording before one exceeds this size.
            write_size: ByteSize => record_bytes_max: Option<u64> = None, example "\"1 GiB\"",
                not_zero "the size of recordings", flag Flag::shared("write-rotate");
            /// Of the files of the recording, keep the last ones and remove those before.
            write_keep: u64 => record_keep: Option<u64> = None, example "24",
                not_zero "the number of recordings that are kept",
                flag Flag::value("write-keep", "N", "Of the files of --write-rotate, keep the last \
                    N and remove those before");
            /// Of the files of the recording, keep the last ones that have this size together,
            /// and remove those before.
            write_total: ByteSize => record_total: Option<u64> = None, example "\"100 GiB\"",
                not_zero "the size of all recordings",
                flag Flag::value("write-total", "SIZE", "Of the files of --write-rotate, keep the \
                    last ones that have SIZE together, and remove those before");
            /// Record only packets of connections with one of these: "alert", "anomaly", "scan",
            /// or a protocol: "app:dns".
            write_if: RecordIf => record_if: Option<RecordIf> = None,
                example "\"alert or app:dns\"",
                flag Flag::value("record-if", "EXPR", "Of captured packets, or of those of files \
                    (-r), record (-w) only the ones of connections with an \"alert\", an \
                    \"anomaly\", a \"scan\" or a protocol (\"app:dns\"); several are joined by \
                    \"or\"");
            /// For recording what happened before: memory for packets that wait until it is known
            /// whether they are recorded.
            write_before: ByteSize => record_before_bytes: u64 = 64 << 20,
                not_zero "the memory for recent packets",
                flag Flag::value("record-before", "SIZE", "With --record-if, packets wait in so \
                    much memory until they are recorded or dropped: what a connection had before");
            /// Bytes kept of each frame.
            snap_len: u32 => snap_len: u32 = 262_144, not_zero "the snap length",
                flag Flag::value("snaplen", "BYTES", "Bytes kept of each frame").short('s');
            /// Capture frames for other stations too.
            promiscuous: bool => promiscuous: bool = true,
                flag Flag::value("promiscuous", "on|off", "Capture frames for other stations \
                    too");
            /// Memory of each interface for packets that wait to be read.
            ring: ByteSize => ring_bytes: u64 = 64 << 20, not_zero "the memory of a ring",
                flag Flag::value("ring", "SIZE", "Memory of each interface for packets that wait \
                    to be read; what has no room there is lost, and counted");
            /// Rings of each interface, which the kernel fills side by side: by receive queue, or
            /// by hosts where the card has fewer queues.
            rings: u16 => rings: u16 = 1, not_zero "the number of rings",
                flag Flag::value("rings", "N", "Rings of each interface, which the kernel fills \
                    side by side: by receive queue, or by hosts where the card has fewer queues");
            /// How long a packet may wait for others to be analysed with.
            latency: Span => latency_ns: u64 = 1_000_000, not_zero "the latency",
                flag Flag::value("latency", "SPAN", "How long a packet may wait for others to be \
                    analysed with");
            /// Under overload, leave out bodies, then parsing, then new connections, and count
            /// them: records then depend on the load.
            shed: bool => shed: bool = false,
                flag Flag::switch("shed", "Under overload, leave out bodies, then parsing, then \
                    new connections, and count them; records then depend on the load");
            /// Become this user once the interfaces are open, and lose all other rights.
            user: String => user: Option<String> = None, example "\"flowpin\"",
                flag Flag::value("user", "NAME", "Become this user once the interfaces are open, \
                    and lose all other rights");
            /// Serve counters of the run for Prometheus at this address.
            metrics: Address => metrics: Option<Address> = None, example "\"127.0.0.1:9477\"",
                flag Flag::value("metrics", "ADDRESS", "Serve counters of the run for Prometheus \
                    at ADDRESS: 127.0.0.1:9477");
            /// Give up files, programs and connections that the capture does not need.
            confine: bool => confine: bool = true,
                flag Flag::value("confine", "on|off", "Give up files, programs and connections \
                    that the capture does not need");
        }
        others {
            /// What rules were read from: it is read again while the run goes on (USR2), and never
            /// written.
            read_again: Vec<PathBuf> = Vec::new();
        }
    }
}

/// As `--rotate`, of the recording.
fn rotate(settings: &mut Settings, text: &OsStr) -> Result<(), String> {
    let live = &mut settings.live;
    put_rotation(&mut live.write_every, &mut live.write_size, text)
}

impl LiveSettings {
    /// Any setting of rotation replaces both settings `below`.
    pub(crate) const fn clear_rotation(&self, below: &mut Self) {
        if self.write_every.is_some() || self.write_size.is_some() {
            (below.write_every, below.write_size) = (None, None);
        }
    }
}

/// What a connection must have for its packets to be recorded: any of these.
///
/// ```
/// use flowpin_config::RecordIf;
/// let either: RecordIf = "alert or app:dns".parse().unwrap();
/// assert!(either.alert && !either.scan);
/// assert_eq!(either.apps, ["dns"]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordIf {
    /// An alert.
    pub alert: bool,
    /// An anomaly.
    pub anomaly: bool,
    /// A host that scans has begun it.
    pub scan: bool,
    /// One of these protocols.
    pub apps: Vec<String>,
}

impl FromStr for RecordIf {
    type Err = RecordIfError;

    fn from_str(text: &str) -> Result<Self, RecordIfError> {
        let mut wanted = Self::default();
        let mut words = text.split_whitespace();
        loop {
            match words.next() {
                Some("alert") => wanted.alert = true,
                Some("anomaly") => wanted.anomaly = true,
                Some("scan") => wanted.scan = true,
                Some(word) => match word.strip_prefix("app:") {
                    Some(app) if !app.is_empty() => wanted.apps.push(app.to_owned()),
                    _ => return Err(RecordIfError(word.to_owned())),
                },
                None => return Err(RecordIfError(String::new())),
            }
            match words.next() {
                None => return Ok(wanted),
                Some("or") => {}
                Some(word) => return Err(RecordIfError(word.to_owned())),
            }
        }
    }
}

impl Display for RecordIf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = [
            (self.alert, "alert"),
            (self.anomaly, "anomaly"),
            (self.scan, "scan"),
        ];
        let named = named.iter().filter(|(wanted, _)| *wanted);
        let named = named.map(|(_, word)| (*word).to_owned());
        let apps = self.apps.iter().map(|app| format!("app:{app}"));
        let words: Vec<_> = named.chain(apps).collect();
        f.write_str(&words.join(" or "))
    }
}

/// Nothing that a recording can depend on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` does not belong there: alert, anomaly, scan or app:NAME, joined by `or`, such as \
     \"alert or app:dns\""
)]
pub struct RecordIfError(String);

/// A network interface, or one of its receive queues.
///
/// ```
/// use flowpin_config::Interface;
/// let queue: Interface = "eth1@2".parse().unwrap();
/// assert_eq!((queue.name.as_str(), queue.queue), ("eth1", Some(2)));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// The interface's name.
    pub name: String,
    /// The only queue to capture from, from 0.
    pub queue: Option<u16>,
}

impl FromStr for Interface {
    type Err = InterfaceError;

    fn from_str(text: &str) -> Result<Self, InterfaceError> {
        let (name, queue) = match text.rsplit_once('@') {
            None => (text, None),
            Some((name, queue)) => (name, Some(queue.parse().map_err(|_| InterfaceError)?)),
        };
        // As the kernel's own rule (dev_valid_name).
        let is_name = !name.is_empty()
            && name.len() < NAME_LEN
            && !matches!(name, "." | "..")
            && !name
                .contains(|letter: char| letter == '/' || letter == ':' || letter.is_whitespace());
        if !is_name {
            return Err(InterfaceError);
        }
        let name = name.to_owned();
        Ok(Self { name, queue })
    }
}

impl Display for Interface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.queue {
            None => f.write_str(&self.name),
            Some(queue) => write!(f, "{}@{queue}", self.name),
        }
    }
}

/// An address to listen on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address(pub SocketAddr);

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        text.parse().map(Self).map_err(|_| AddressError)
    }
}

impl Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Not an address with a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("needs an address with its port, such as 127.0.0.1:9477 or [::1]:9477")]
pub struct AddressError;

/// No interface can have such a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("is no interface: a name of up to 15 letters, or one with a queue, such as eth1@2")]
pub struct InterfaceError;

/// `IFNAMSIZ`.
const NAME_LEN: usize = 16;

#[cfg(test)]
mod tests {
    use super::{Interface, RecordIf};

    /// What is written down says the same when it is read.
    #[test]
    fn conditions_are_words_joined_by_or() {
        for good in ["alert", "anomaly or scan", "alert or app:dns or app:http"] {
            assert_eq!(good.parse::<RecordIf>().unwrap().to_string(), good);
        }
        for bad in [
            "",
            "or",
            "alert or",
            "alert scan",
            "dns",
            "app:",
            "alert and scan",
        ] {
            assert!(bad.parse::<RecordIf>().is_err(), "{bad}");
        }
    }

    #[test]
    fn names_are_those_that_the_kernel_takes() {
        for good in ["lo", "eth0", "eth1@0", "enp0s31f6@65535", "br-0123456789ab"] {
            assert_eq!(good.parse::<Interface>().unwrap().to_string(), good);
        }
        for bad in [
            "",
            "@1",
            "eth0@",
            "eth0@x",
            "eth0@65536",
            "a b",
            "a/b",
            "..",
            "0123456789abcdef",
        ] {
            assert!(bad.parse::<Interface>().is_err(), "{bad}");
        }
    }
}
