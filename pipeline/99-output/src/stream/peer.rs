//! The other end: how it is reached.

use flowpin_config::PeerAddress;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Where the peer listens. A name is resolved once: a confined run cannot ask again.
pub(super) enum Peer {
    Unix(PathBuf),
    Tcp(Vec<SocketAddr>),
}

/// A connection; a write takes [`TURN`] at most.
pub(super) enum Connection {
    Unix(UnixStream),
    Tcp(TcpStream),
}

/// How long a system call may take before the sender looks up.
pub(super) const TURN: Duration = Duration::from_millis(500);
/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(5);
/// How long a peer may take to close after us, before it is believed to have read all.
const CLOSE: Duration = Duration::from_secs(5);

impl Peer {
    pub(super) fn resolve(address: &PeerAddress) -> io::Result<Self> {
        match address {
            PeerAddress::Unix(path) => Ok(Self::Unix(path.clone())),
            PeerAddress::Tcp(name) => {
                let found: Vec<_> = name.to_socket_addrs()?.collect();
                Ok(Self::Tcp(found))
            }
            PeerAddress::Kafka { .. } | PeerAddress::Bucket { .. } => {
                Err(io::ErrorKind::Unsupported.into())
            }
        }
    }

    pub(super) fn connect(&mut self) -> io::Result<Connection> {
        let connection = match self {
            Self::Unix(path) => Connection::Unix(flowpin_disk::connect(path)?),
            Self::Tcp(addresses) => Connection::Tcp(connect_any(addresses)?),
        };
        connection.limit_waits()?;
        Ok(connection)
    }
}

fn connect_any(addresses: &[SocketAddr]) -> io::Result<TcpStream> {
    let mut error = io::ErrorKind::AddrNotAvailable.into();
    for address in addresses {
        match TcpStream::connect_timeout(address, CONNECT) {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                return Ok(stream);
            }
            Err(failed) => error = failed,
        }
    }
    Err(error)
}

impl Connection {
    fn limit_waits(&self) -> io::Result<()> {
        match self {
            Self::Unix(stream) => {
                stream.set_write_timeout(Some(TURN))?;
                stream.set_read_timeout(Some(TURN))
            }
            Self::Tcp(stream) => {
                stream.set_write_timeout(Some(TURN))?;
                stream.set_read_timeout(Some(TURN))
            }
        }
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.write(bytes),
            Self::Tcp(stream) => stream.write(bytes),
        }
    }

    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.read(bytes),
            Self::Tcp(stream) => stream.read(bytes),
        }
    }

    /// Ends the stream, and waits until the peer has closed it, too.
    ///
    /// # Errors
    /// The peer reset the connection: it has not read all.
    pub(super) fn close(mut self) -> io::Result<()> {
        match &self {
            Self::Unix(stream) => stream.shutdown(Shutdown::Write)?,
            Self::Tcp(stream) => stream.shutdown(Shutdown::Write)?,
        }
        let begun = Instant::now();
        let mut bytes = [0; 4096];
        while begun.elapsed() < CLOSE {
            match self.read(&mut bytes) {
                Ok(0) => return Ok(()),
                Ok(_) => {}
                Err(error) if is_wait(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Whether a system call only took too long.
pub(super) fn is_wait(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), Interrupted | TimedOut | WouldBlock)
}
