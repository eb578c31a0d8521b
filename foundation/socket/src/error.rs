//! Why an interface cannot be captured from, in one line that says what to do.

use std::io;

/// Why there is no ring.
#[derive(Debug, thiserror::Error)]
pub enum SocketError {
    /// The process may not open packet sockets.
    #[error(
        "capturing from {interface} needs the capability CAP_NET_RAW: run as root, or once \
         `sudo setcap cap_net_raw+ep` for this program"
    )]
    NotPermitted {
        /// The interface.
        interface: String,
    },
    /// There is no interface of that name.
    #[error("there is no interface {interface}; there are: {}", known.join(", "))]
    NoSuchInterface {
        /// The name as given.
        interface: String,
        /// Those that exist.
        known: Vec<String>,
    },
    /// Its frames begin with a header that is not decoded.
    #[error(
        "{interface} is of hardware type {hardware}, whose frames are not decoded: name another \
         interface"
    )]
    Undecoded {
        /// The interface.
        interface: String,
        /// The `ARPHRD_` number (if_arp.h).
        hardware: u16,
    },
    /// It has no such receive queue.
    #[error("{interface} has no receive queue {queue}: it has {count}, counted from 0")]
    NoSuchQueue {
        /// The interface.
        interface: String,
        /// The queue.
        queue: u16,
        /// How many there are.
        count: u32,
    },
    /// The system refused something else.
    #[error("cannot capture from {interface}: {what}: {source}")]
    System {
        /// The interface.
        interface: String,
        /// What was tried.
        what: &'static str,
        /// What the system said.
        source: io::Error,
    },
}
