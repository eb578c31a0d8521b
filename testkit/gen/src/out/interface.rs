//! Frames out of an interface, at the times of the trace or as fast as it takes them.
//!
//! Takes a pcap as it is written, so that whatever makes captures can send them. Linux only: a
//! packet socket, which needs `CAP_NET_RAW`.

use std::io;
use std::time::{Duration, Instant};

const FILE_HEADER_LEN: usize = 24;
const RECORD_HEADER_LEN: usize = 16;

/// Waits shorter than this are spent turning: the system's sleep is no finer.
const SLEEP_MIN: Duration = Duration::from_micros(150);

/// Sends the frames of a pcap that is written to it: nanoseconds, little endian, Ethernet, as
/// [`crate::generate`] makes them.
#[derive(Debug)]
pub struct Interface {
    socket: socket::Socket,
    /// The beginning of a record whose end has not come yet.
    pending: Vec<u8>,
    /// Bytes of the file header that are still to come.
    header_left: usize,
    /// The time of the first frame, and when it was sent; none: as fast as it goes.
    pace: Option<Pace>,
}

#[derive(Debug, Default)]
struct Pace {
    begun: Option<(u64, Instant)>,
}

impl Interface {
    /// Opens an interface by its name. `topspeed`: nothing waits for its time.
    ///
    /// # Errors
    /// There is no such interface; it must not be written to; the system is not Linux.
    pub fn open(name: &str, topspeed: bool) -> io::Result<Self> {
        Ok(Self {
            socket: socket::Socket::open(name)?,
            pending: Vec::new(),
            header_left: FILE_HEADER_LEN,
            pace: (!topspeed).then(Pace::default),
        })
    }

    /// Sends the whole records of `bytes`; how many bytes these are.
    fn send_whole(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut at = 0;
        while let Some((time_ns, frame)) = record(bytes.get(at..).unwrap_or_default()) {
            if let Some(pace) = &mut self.pace {
                pace.wait(time_ns);
            }
            self.socket.send(frame)?;
            at += RECORD_HEADER_LEN + frame.len();
        }
        Ok(at)
    }
}

impl io::Write for Interface {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let header = self.header_left.min(bytes.len());
        self.header_left -= header;
        let mut pending = core::mem::take(&mut self.pending);
        pending.extend_from_slice(bytes.get(header..).unwrap_or_default());
        let sent = self.send_whole(&pending)?;
        pending.drain(..sent);
        self.pending = pending;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Pace {
    fn wait(&mut self, time_ns: u64) {
        let (first_ns, start) = *self.begun.get_or_insert_with(|| (time_ns, Instant::now()));
        let due = Duration::from_nanos(time_ns.saturating_sub(first_ns));
        loop {
            let early = due.saturating_sub(start.elapsed());
            if early.is_zero() {
                return;
            }
            if early > SLEEP_MIN {
                std::thread::sleep(early - SLEEP_MIN);
            }
            std::hint::spin_loop();
        }
    }
}

/// The first record, if all of it is there: its time and its frame.
fn record(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (header, rest) = bytes.split_first_chunk::<RECORD_HEADER_LEN>()?;
    let (words, _) = header.as_chunks::<4>();
    let word = |at: usize| words.get(at).map(|word| u32::from_le_bytes(*word));
    let time_ns = u64::from(word(0)?) * 1_000_000_000 + u64::from(word(1)?);
    Some((time_ns, rest.get(..word(2)? as usize)?))
}

#[cfg(target_os = "linux")]
mod socket {
    use nix::errno::Errno;
    use nix::ifaddrs::getifaddrs;
    use nix::sys::socket::{
        AddressFamily, LinkAddr, MsgFlags, SockFlag, SockType, SockaddrLike, bind, send, socket,
    };
    use std::io;
    use std::os::fd::{AsRawFd, OwnedFd};
    use std::time::Duration;

    /// How long the queue of an adapter is given to drain.
    const FULL: Duration = Duration::from_micros(50);

    /// A packet socket of one interface.
    #[derive(Debug)]
    pub(super) struct Socket {
        fd: OwnedFd,
        name: String,
    }

    impl Socket {
        pub(super) fn open(name: &str) -> io::Result<Self> {
            let told = |error: Errno| {
                let error = io::Error::from(error);
                io::Error::new(error.kind(), format!("interface {name}: {error}"))
            };
            let address = address(name).map_err(told)?.ok_or_else(|| {
                let text = format!("there is no interface {name}");
                io::Error::new(io::ErrorKind::NotFound, text)
            })?;
            // No protocol: nothing is received.
            let family = AddressFamily::Packet;
            let fd = socket(family, SockType::Raw, SockFlag::SOCK_CLOEXEC, None).map_err(told)?;
            bind(fd.as_raw_fd(), &address).map_err(told)?;
            Ok(Self {
                fd,
                name: name.to_owned(),
            })
        }

        /// Waits while the queue is full.
        pub(super) fn send(&self, frame: &[u8]) -> io::Result<()> {
            loop {
                match send(self.fd.as_raw_fd(), frame, MsgFlags::empty()) {
                    Ok(_) => return Ok(()),
                    Err(Errno::EINTR) => {}
                    Err(Errno::ENOBUFS | Errno::EAGAIN) => std::thread::sleep(FULL),
                    Err(error) => return Err(self.refused(error, frame.len())),
                }
            }
        }

        fn refused(&self, error: Errno, len: usize) -> io::Error {
            let name = &self.name;
            if error == Errno::EMSGSIZE {
                let text = format!("interface {name}: a frame of {len} bytes is beyond its MTU");
                return io::Error::new(io::ErrorKind::InvalidInput, text);
            }
            let error = io::Error::from(error);
            io::Error::new(error.kind(), format!("interface {name}: {error}"))
        }
    }

    /// The link-layer address of an interface, which holds its number.
    fn address(name: &str) -> nix::Result<Option<LinkAddr>> {
        let found = getifaddrs()?
            .filter(|one| one.interface_name == name)
            .filter_map(|one| one.address)
            .find(|address| address.family() == Some(AddressFamily::Packet));
        Ok(found.and_then(|address| address.as_link_addr().copied()))
    }
}

#[cfg(not(target_os = "linux"))]
mod socket {
    use std::io;

    /// No such sockets here.
    #[derive(Debug)]
    pub(super) struct Socket;

    impl Socket {
        pub(super) fn open(_: &str) -> io::Result<Self> {
            Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "frames can be sent on Linux only",
            ))
        }

        pub(super) fn send(&self, _: &[u8]) -> io::Result<()> {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{RECORD_HEADER_LEN, record};

    /// A capture comes in writes that end anywhere: a record counts once all of it is there.
    #[test]
    fn a_record_is_told_once_it_is_whole() {
        let mut bytes = Vec::new();
        for word in [3_u32, 7, 5, 60] {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
        bytes.extend_from_slice(b"frame, and the next");
        for end in 0..RECORD_HEADER_LEN + 5 {
            assert_eq!(record(&bytes[..end]), None);
        }
        assert_eq!(record(&bytes), Some((3_000_000_007, &b"frame"[..])));
    }
}
