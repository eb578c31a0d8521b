//! Segments, conversations of them, and the frames that they make.

use flowpin_testkit::build::{Ip, Tcp, flags};

pub(crate) const SYN: u8 = flags::SYN;
pub(crate) const ACK: u8 = flags::ACK;
pub(crate) const FIN: u8 = flags::FIN;
pub(crate) const RST: u8 = flags::RST;

/// One segment of a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    pub(crate) to_server: bool,
    pub(crate) flags: u8,
    pub(crate) seq: u32,
    pub(crate) ack: u32,
    pub(crate) window: u16,
    /// RFC 7323's time stamp, if the connection has them.
    pub(crate) stamp: Option<u32>,
    pub(crate) bytes: &'static [u8],
    pub(crate) bad_checksum: bool,
}

impl Segment {
    pub(crate) const fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    pub(crate) fn len(&self) -> u32 {
        u32::try_from(self.bytes.len()).unwrap()
    }

    /// One past its last number: SYN and FIN have one each.
    pub(crate) fn end(&self) -> u32 {
        let controls = u32::from(self.has(SYN)) + u32::from(self.has(FIN));
        self.seq.wrapping_add(self.len()).wrapping_add(controls)
    }

    /// Its frame, in the connection of one client.
    pub(crate) fn frame(&self, client: u32) -> Vec<u8> {
        let [_, a, b, c] = client.to_be_bytes();
        let ip = Ip::v4([10, a, b, c], SERVER);
        let (ip, ports) = match self.to_server {
            true => (ip, PORTS),
            false => (ip.reversed(), (PORTS.1, PORTS.0)),
        };
        let tcp = Tcp {
            window: self.window,
            ..Tcp::new(ports.0, ports.1, self.seq, self.ack, self.flags)
        };
        let options = self.stamp.map(|stamp| {
            let [a, b, c, d] = stamp.to_be_bytes();
            [1, 1, 8, 10, a, b, c, d, 0, 0, 0, 0]
        });
        let options = options.as_ref().map_or(&[][..], |options| options);
        let mut frame = ip.tcp_with(tcp, options, self.bytes).ethernet();
        if self.bad_checksum {
            frame[14 + 20 + 16] ^= 0x55;
        }
        frame
    }
}

const SERVER: [u8; 4] = [192, 0, 2, 1];
const PORTS: (u16, u16) = (50_000, 50_001);

/// A whole connection.
pub(crate) type Conversation = Vec<Segment>;

/// The first numbers of both sides.
pub(crate) const ISS: [u32; 2] = [1_000_000, 5_000_000];

/// A connection with these turns; `true`: the client speaks. `lone_ack`: the handshake's last
/// segment is one of its own.
pub(crate) fn conversation(
    turns: &[(bool, &'static [u8])],
    lone_ack: bool,
    stamps: bool,
) -> Conversation {
    let mut next = ISS;
    let mut all = Vec::new();
    let mut say = |to_server: bool, flags: u8, bytes: &'static [u8]| {
        let me = usize::from(!to_server);
        let segment = Segment {
            to_server,
            flags,
            seq: next[me],
            ack: if flags & ACK == 0 { 0 } else { next[me ^ 1] },
            window: 64_240,
            stamp: stamps.then(|| 1000 + u32::try_from(all.len()).unwrap()),
            bytes,
            bad_checksum: false,
        };
        next[me] = segment.end();
        all.push(segment);
    };
    say(true, SYN, b"");
    say(false, SYN | ACK, b"");
    if lone_ack {
        say(true, ACK, b"");
    }
    for &(to_server, bytes) in turns {
        say(to_server, ACK, bytes);
    }
    say(true, FIN | ACK, b"");
    say(false, FIN | ACK, b"");
    say(true, ACK, b"");
    all
}

pub(crate) const HTTP: &[(bool, &[u8])] = &[
    (true, b"GET /one HTTP/1.1\r\nHost: a.example\r\n\r\n"),
    (false, b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"),
    (true, b"GET /two HTTP/1.1\r\nHost: a.example\r\n\r\n"),
    (
        false,
        b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
    ),
];

pub(crate) const SMTP: &[(bool, &[u8])] = &[
    (false, b"220 mx.example ESMTP\r\n"),
    (true, b"EHLO c.example\r\n"),
    (false, b"250 mx.example\r\n"),
    (true, b"MAIL FROM:<a@b.example>\r\n"),
    (false, b"250 ok\r\n"),
    (true, b"RCPT TO:<c@d.example>\r\n"),
    (false, b"250 ok\r\n"),
    (true, b"QUIT\r\n"),
    (false, b"221 bye\r\n"),
];
