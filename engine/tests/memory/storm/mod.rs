//! A capture of everything at once that takes memory.

mod way;

use flowpin_testkit::build::{Ip, Tcp, flags};
use flowpin_testkit::pcap::ethernet_file;
use way::{Way, Wire};

/// Numbers that look random, the same for a seed.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() >> 11) as usize % end.max(1)
    }
}

/// A connection that goes on from time to time.
struct Talk {
    ip: Ip,
    way: Way,
    port: u16,
    kind: usize,
    /// The next bytes of client and server.
    next: [u32; 2],
    /// How often it has spoken.
    spoken: u32,
}

const KINDS: usize = 13;
/// The first one without a handshake.
const BARE: usize = 10;
const FRAMES: usize = 30_000;

impl Talk {
    fn new(number: u32, kind: usize, dice: &mut Dice) -> Self {
        let [_, a, b, c] = number.to_be_bytes();
        let ip = match dice.below(5) {
            0 => Ip::v6(number as u16, 60_000 + kind as u16),
            _ => Ip::v4([10, a, b, c], [192, 0, 2, (kind + 1) as u8]),
        };
        Self {
            ip: ip.identified(number as u16),
            way: Way::any(dice),
            port: 1024 + (number % 60_000) as u16,
            kind,
            next: [1001, 5001],
            spoken: 0,
        }
    }

    fn open(&self, wire: &mut Wire<'_>) {
        let (port, to) = (self.port, 7000);
        let syn = Tcp::new(port, to, 1000, 0, flags::SYN);
        wire.send(self.way, &self.ip.tcp(syn, b""));
        let answer = Tcp::new(to, port, 5000, 1001, flags::SYN | flags::ACK);
        wire.send(self.way, &self.ip.reversed().tcp(answer, b""));
    }

    /// Sends `bytes` after a hole of `gap`.
    fn say(&mut self, to_server: bool, gap: u32, bytes: &[u8], wire: &mut Wire<'_>) {
        let [client, server] = self.next;
        let len = u32::try_from(bytes.len()).unwrap_or(0);
        let (ip, tcp) = if to_server {
            let tcp = Tcp::new(self.port, 7000, client + gap, server, flags::ACK);
            (self.ip, tcp)
        } else {
            let tcp = Tcp::new(7000, self.port, server + gap, client, flags::ACK);
            (self.ip.reversed(), tcp)
        };
        // The identification of each is its own.
        let ip = ip.identified((client ^ server ^ len) as u16);
        wire.send(self.way, &ip.tcp(tcp, bytes));
        if gap == 0 {
            self.next[usize::from(!to_server)] += len;
        }
    }

    fn go_on(&mut self, wire: &mut Wire<'_>) {
        self.spoken += 1;
        let dice = &mut *wire.dice;
        let noise: Vec<u8> = (0..dice.below(900)).map(|_| dice.next() as u8).collect();
        let part = dice.below(4) == 0;
        match self.kind {
            // A hole that is not filled, or filled late.
            0 => {
                let gap = [0, 1460, 3000, 20_000][dice.below(4)];
                self.say(true, gap, &vec![b'h'; 100 + dice.below(1300)], wire);
            }
            1 => self.say(true, 0, &noise, wire),
            // Could still become a request.
            2 => self.say(true, 0, if part { b"GET " } else { b" " }, wire),
            3 => {
                let many = b"GET /a HTTP/1.1\r\nHost: a\r\n\r\n".repeat(1 + dice.below(40));
                self.say(true, 0, &many, wire);
            }
            4 => {
                let head = b"GET / HTTP/1.1\r\nHost: example.com\r\nUser-Agent: ";
                let line = [&head[..], &vec![b'u'; dice.below(1200)]].concat();
                self.say(true, 0, &line, wire);
            }
            5 => {
                let hello = [&b"\x16\x03\x01\x10\x00\x01\x00\x0f\xfc\x03\x03"[..], &noise];
                let bytes = if self.spoken == 1 {
                    hello.concat()
                } else {
                    noise
                };
                self.say(true, 0, &bytes, wire);
            }
            6 => {
                let order = b"8=FIX.4.4\x019=3019\x0135=D\x0111=a\x0158=";
                let bytes = if self.spoken == 1 {
                    &order[..]
                } else {
                    &b"fffffffffff"[..]
                };
                self.say(true, 0, bytes, wire);
            }
            7 => {
                let hello: &[u8] = match self.spoken {
                    1 => b"220 mail.example.com ESMTP\r\n",
                    _ => b"250 ok\r\n",
                };
                self.say(false, 0, hello, wire);
                self.say(true, 0, b"MAIL FROM:<a@example.com>\r\n", wire);
            }
            // A body that is decoded.
            8 => {
                let method = if self.spoken % 2 == 1 { "POST" } else { "GET" };
                let head = format!("{method} /{} HTTP/1.1\r\nHost: a\r\n\r\n", self.spoken);
                self.say(true, 0, head.as_bytes(), wire);
                let head =
                    "HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\nContent-Length: 500\r\n\r\n";
                // One stored block (RFC 1951 §3.2.4), and what is left of its length.
                let body = [&b"\x01\xef\x01\x10\xfe"[..], &[b'b'; 400]].concat();
                self.say(false, 0, &[head.as_bytes(), &body].concat(), wire);
            }
            // A data connection that is announced, and comes or does not.
            9 if self.spoken == 1 => self.say(false, 0, b"220 FTP server ready\r\n", wire),
            9 => {
                let port = 20_000 + self.spoken as u16;
                self.say(true, 0, b"PASV\r\n", wire);
                let [high, low] = port.to_be_bytes();
                let reply = format!("227 Entering Passive Mode (192,0,2,10,{high},{low})\r\n");
                self.say(false, 0, reply.as_bytes(), wire);
                if part {
                    let syn = Tcp::new(self.port ^ 1, port, 1000, 0, flags::SYN);
                    wire.send(self.way, &self.ip.tcp(syn, b""));
                }
            }
            // A scan.
            10 => {
                let port = (self.spoken * 7919) as u16;
                let syn = Tcp::new(self.port, port, 1000, 0, flags::SYN);
                wire.send(self.way, &self.ip.tcp(syn, b""));
                if !part {
                    let reset = Tcp::new(port, self.port, 0, 1001, flags::RST | flags::ACK);
                    wire.send(self.way, &self.ip.reversed().tcp(reset, b""));
                }
            }
            11 => wire.send(self.way, &self.ip.udp(self.port, 5000, &noise)),
            _ => {
                let query = b"\0\x07\x01\0\0\x01\0\0\0\0\0\0\x07example\x03com\0\0\x01\0\x01";
                let id = (dice.next() as u16).to_be_bytes();
                let query = [&id[..], &query[2..]].concat();
                wire.send(self.way, &self.ip.udp(self.port, 53, &query));
            }
        }
        if self.kind >= BARE {
            return;
        }
        match wire.dice.below(40) {
            0 => {
                let fin = Tcp::new(
                    self.port,
                    7000,
                    self.next[0],
                    self.next[1],
                    flags::FIN | flags::ACK,
                );
                wire.send(self.way, &self.ip.tcp(fin, b""));
            }
            1 => {
                let reset = Tcp::new(self.port, 7000, self.next[0], 0, flags::RST);
                wire.send(self.way, &self.ip.tcp(reset, b""));
            }
            // The other side speaks.
            2 => self.say(false, 0, &[b'x'; 300], wire),
            _ => {}
        }
    }
}

/// A capture.
pub(crate) fn storm(dice: &mut Dice) -> Vec<u8> {
    let mut wire = Wire::new(dice);
    let mut times = Vec::new();
    let mut talks: Vec<Talk> = Vec::new();
    let mut time = 1_700_000_000_000_000_000u64;
    let kinds = 1 + wire.dice.below(KINDS);
    let wanted = 200 + wire.dice.below(5000);
    let mut number = 0;
    while wire.frames.len() < FRAMES {
        time += match wire.dice.below(2000) {
            // Long enough for time-outs.
            0 => 70_000_000_000,
            1..6 => 900_000_000,
            // At the same moment.
            6..400 => 0,
            _ => 40_000,
        };
        if talks.len() < wanted || wire.dice.below(60) == 0 {
            number += 1;
            let kind = (wire.dice.below(kinds) + number as usize % 2 * 3) % KINDS;
            let talk = Talk::new(number, kind, wire.dice);
            if kind < BARE {
                talk.open(&mut wire);
            }
            talks.push(talk);
        }
        let nth = wire.dice.below(talks.len());
        talks[nth].go_on(&mut wire);
        // Sometimes one that comes late.
        let back = if wire.dice.below(50) == 0 { 30_000 } else { 0 };
        times.resize(wire.frames.len(), time - back);
    }
    let timed = times.iter().zip(&wire.frames);
    ethernet_file(timed.map(|(time, frame)| (*time, frame.as_slice()))).unwrap_or_default()
}
