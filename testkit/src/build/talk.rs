//! A whole TCP connection that says what it is told to.

use super::{Ip, Tcp, flags};
use crate::pcap::ethernet_file;
use std::io;

/// A capture of one connection from 10.0.0.1 to port `port` of 10.0.0.2: handshake, turns, the end.
///
/// A turn says who speaks (`true`: the client), so many seconds after the packet before, and what:
/// one segment, which the other side acknowledges.
///
/// # Errors
/// A turn is longer than a frame can be.
///
/// ```
/// use flowpin_testkit::build::talk;
/// let capture = talk(11211, &[(true, 0.1, b"get a\r\n"), (false, 0.1, b"END\r\n")])?;
/// assert_eq!(flowpin_testkit::pcap::Capture::parse(capture)?.packets.len(), 3 + 2 * 2 + 3);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn talk(port: u16, turns: &[(bool, f64, &[u8])]) -> io::Result<Vec<u8>> {
    let mut talk = Talk {
        port,
        time_ns: 1_700_000_000_000_000_000,
        next: [1000, 5000],
        frames: Vec::new(),
    };
    talk.says(true, flags::SYN, b"");
    talk.says(false, flags::SYN | flags::ACK, b"");
    talk.says(true, flags::ACK, b"");
    for &(is_client, seconds, bytes) in turns {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a span of a test"
        )]
        let later = (seconds * 1e9) as u64;
        talk.time_ns += later;
        talk.says(is_client, flags::PSH | flags::ACK, bytes);
        talk.says(!is_client, flags::ACK, b"");
    }
    talk.says(true, flags::FIN | flags::ACK, b"");
    talk.says(false, flags::FIN | flags::ACK, b"");
    talk.says(true, flags::ACK, b"");
    let frames = talk.frames.iter();
    ethernet_file(frames.map(|(time_ns, frame)| (*time_ns, frame.as_slice())))
}

struct Talk {
    port: u16,
    time_ns: u64,
    /// The next sequence numbers, the client's first.
    next: [u32; 2],
    frames: Vec<(u64, Vec<u8>)>,
}

impl Talk {
    fn says(&mut self, is_client: bool, control: u8, bytes: &[u8]) {
        let [client, server] = self.next;
        let (ends, ports, seq, ack) = match is_client {
            true => ((1, 2), (40_000, self.port), client, server),
            false => ((2, 1), (self.port, 40_000), server, client),
        };
        let ack = if control & flags::ACK != 0 { ack } else { 0 };
        let ip = Ip::v4([10, 0, 0, ends.0], [10, 0, 0, ends.1]);
        let packet = ip.tcp(Tcp::new(ports.0, ports.1, seq, ack, control), bytes);
        self.frames.push((self.time_ns, packet.ethernet()));
        self.time_ns += 1_000_000;
        let counted = u32::from(control & (flags::SYN | flags::FIN) != 0);
        let len = u32::try_from(bytes.len()).unwrap_or(0);
        let next = &mut self.next[usize::from(!is_client)];
        *next = next.wrapping_add(len + counted);
    }
}
