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
    /// The process may not use AF_XDP.
    #[error(
        "capturing from {interface} by AF_XDP needs the capabilities CAP_NET_RAW, CAP_NET_ADMIN \
         and CAP_BPF, of the whole system and not of a namespace: run as root, or without \
         `--capture af-xdp`"
    )]
    NotPermittedXdp {
        /// The interface.
        interface: String,
    },
    /// AF_XDP takes Ethernet alone.
    #[error("{interface} is no Ethernet interface: capture from it without `--capture af-xdp`")]
    NotForXdp {
        /// The interface.
        interface: String,
    },
    /// The kernel was built without AF_XDP.
    #[error("this kernel has no AF_XDP: capture from {interface} without `--capture af-xdp`")]
    WithoutXdp {
        /// The interface.
        interface: String,
    },
    /// An interface runs one XDP program.
    #[error(
        "another program has an XDP program on {interface} (`ip link show {interface}`): end it, \
         or capture without `--capture af-xdp`"
    )]
    ProgramThere {
        /// The interface.
        interface: String,
    },
    /// A queue has one socket.
    #[error("another AF_XDP socket has receive queue {queue} of {interface}: end its program")]
    QueueTaken {
        /// The interface.
        interface: String,
        /// The queue.
        queue: u16,
    },
    /// Frames are locked in memory, of which the process may have less.
    #[error(
        "the memory of {interface}'s frames may not be locked: raise the limit (`ulimit -l`), or \
         make --ring smaller"
    )]
    NotLocked {
        /// The interface.
        interface: String,
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
