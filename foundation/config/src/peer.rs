//! Where a stream of records goes: the address of another program.

use core::fmt::{self, Display};
use core::str::FromStr;
use std::path::PathBuf;

/// A program that listens for records.
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
}

/// A text that names no program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no output: use `-` for standard output, unix:/PATH or tcp://HOST:PORT; `-l DIR` \
     writes files"
)]
pub struct PeerAddressError(String);

impl FromStr for PeerAddress {
    type Err = PeerAddressError;

    fn from_str(text: &str) -> Result<Self, PeerAddressError> {
        let refused = || PeerAddressError(text.to_owned());
        if let Some(path) = text.strip_prefix("unix:").filter(|path| !path.is_empty()) {
            return Ok(Self::Unix(path.into()));
        }
        let address = text.strip_prefix("tcp://").ok_or_else(refused)?;
        let (host, port) = address.rsplit_once(':').ok_or_else(refused)?;
        let is_host = match host.strip_prefix('[') {
            Some(inner) => inner.ends_with(']'),
            None => !host.is_empty() && !host.contains([':', '/']),
        };
        let is_port = port.parse::<u16>().is_ok_and(|port| port > 0);
        match is_host && is_port {
            true => Ok(Self::Tcp(address.to_owned())),
            false => Err(refused()),
        }
    }
}

impl Display for PeerAddress {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(path) => write!(out, "unix:{}", path.display()),
            Self::Tcp(address) => write!(out, "tcp://{address}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::PeerAddress;

    /// What is no address is refused before anything is opened.
    #[test]
    fn addresses_are_complete() {
        for good in ["unix:/run/x", "tcp://h:1", "tcp://[::1]:65535"] {
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
        ] {
            assert!(bad.parse::<PeerAddress>().is_err(), "{bad}");
        }
    }
}
