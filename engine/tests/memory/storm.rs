//! A capture of everything at once that takes memory.

use flowpin_testkit::build::{Ip, Tcp, flags};
use flowpin_testkit::pcap::ethernet_file;

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
    port: u16,
    kind: usize,
    /// The next bytes of client and server.
    next: [u32; 2],
    /// How often it has spoken.
    spoken: u32,
}

const KINDS: usize = 9;
const FRAMES: usize = 30_000;

impl Talk {
    fn new(number: u32, kind: usize) -> Self {
        let [_, a, b, c] = number.to_be_bytes();
        Self {
            ip: Ip::v4([10, a, b, c], [192, 0, 2, (kind + 1) as u8]),
            port: 1024 + (number % 60_000) as u16,
            kind,
            next: [1001, 5001],
            spoken: 0,
        }
    }

    fn open(&self, frames: &mut Vec<Vec<u8>>) {
        let (port, to) = (self.port, 7000);
        let syn = Tcp::new(port, to, 1000, 0, flags::SYN);
        frames.push(self.ip.tcp(syn, b"").ethernet());
        let answer = Tcp::new(to, port, 5000, 1001, flags::SYN | flags::ACK);
        frames.push(self.ip.reversed().tcp(answer, b"").ethernet());
    }

    /// Sends `bytes` after a hole of `gap`.
    fn say(&mut self, to_server: bool, gap: u32, bytes: &[u8], frames: &mut Vec<Vec<u8>>) {
        let [client, server] = self.next;
        let len = u32::try_from(bytes.len()).unwrap_or(0);
        let (ip, tcp) = if to_server {
            let tcp = Tcp::new(self.port, 7000, client + gap, server, flags::ACK);
            (self.ip, tcp)
        } else {
            let tcp = Tcp::new(7000, self.port, server + gap, client, flags::ACK);
            (self.ip.reversed(), tcp)
        };
        frames.push(ip.tcp(tcp, bytes).ethernet());
        if gap == 0 {
            self.next[usize::from(!to_server)] += len;
        }
    }

    fn go_on(&mut self, dice: &mut Dice, frames: &mut Vec<Vec<u8>>) {
        self.spoken += 1;
        let noise: Vec<u8> = (0..dice.below(900)).map(|_| dice.next() as u8).collect();
        let part = dice.below(4) == 0;
        match self.kind {
            // A hole that is not filled, or filled late.
            0 => {
                let gap = [0, 1460, 3000, 20_000][dice.below(4)];
                self.say(true, gap, &vec![b'h'; 100 + dice.below(1300)], frames);
            }
            1 => self.say(true, 0, &noise, frames),
            // Could still become a request.
            2 => self.say(true, 0, if part { b"GET " } else { b" " }, frames),
            3 => {
                let many = b"GET /a HTTP/1.1\r\nHost: a\r\n\r\n".repeat(1 + dice.below(40));
                self.say(true, 0, &many, frames);
            }
            4 => {
                let head = b"GET / HTTP/1.1\r\nHost: example.com\r\nUser-Agent: ";
                let line = [&head[..], &vec![b'u'; dice.below(1200)]].concat();
                self.say(true, 0, &line, frames);
            }
            5 => {
                let hello = [&b"\x16\x03\x01\x10\x00\x01\x00\x0f\xfc\x03\x03"[..], &noise];
                let bytes = if self.spoken == 1 {
                    hello.concat()
                } else {
                    noise
                };
                self.say(true, 0, &bytes, frames);
            }
            6 => {
                let order = b"8=FIX.4.4\x019=3019\x0135=D\x0111=a\x0158=";
                let bytes = if self.spoken == 1 {
                    &order[..]
                } else {
                    &b"fffffffffff"[..]
                };
                self.say(true, 0, bytes, frames);
            }
            7 => {
                let hello: &[u8] = match self.spoken {
                    1 => b"220 mail.example.com ESMTP\r\n",
                    _ => b"250 ok\r\n",
                };
                self.say(false, 0, hello, frames);
                self.say(true, 0, b"MAIL FROM:<a@example.com>\r\n", frames);
            }
            _ => {
                let query = b"\0\x07\x01\0\0\x01\0\0\0\0\0\0\x07example\x03com\0\0\x01\0\x01";
                let id = (dice.next() as u16).to_be_bytes();
                let query = [&id[..], &query[2..]].concat();
                frames.push(self.ip.udp(self.port, 53, &query).ethernet());
            }
        }
        match dice.below(40) {
            0 => {
                let fin = Tcp::new(
                    self.port,
                    7000,
                    self.next[0],
                    self.next[1],
                    flags::FIN | flags::ACK,
                );
                frames.push(self.ip.tcp(fin, b"").ethernet());
            }
            1 => {
                let reset = Tcp::new(self.port, 7000, self.next[0], 0, flags::RST);
                frames.push(self.ip.tcp(reset, b"").ethernet());
            }
            // The other side speaks.
            2 => self.say(false, 0, &[b'x'; 300], frames),
            _ => {}
        }
    }
}

/// A capture.
pub(crate) fn storm(dice: &mut Dice) -> Vec<u8> {
    let mut frames = Vec::new();
    let mut times = Vec::new();
    let mut talks: Vec<Talk> = Vec::new();
    let mut time = 1_700_000_000_000_000_000u64;
    let kinds = 1 + dice.below(KINDS);
    let wanted = 200 + dice.below(5000);
    let mut number = 0;
    while frames.len() < FRAMES {
        time += match dice.below(2000) {
            // Long enough for time-outs.
            0 => 70_000_000_000,
            1..6 => 900_000_000,
            // At the same moment.
            6..400 => 0,
            _ => 40_000,
        };
        if talks.len() < wanted || dice.below(60) == 0 {
            number += 1;
            let kind = (dice.below(kinds) + number as usize % 2 * 3) % KINDS;
            let talk = Talk::new(number, kind);
            if kind < 8 {
                talk.open(&mut frames);
            }
            talks.push(talk);
        }
        let nth = dice.below(talks.len());
        talks[nth].go_on(dice, &mut frames);
        times.resize(frames.len(), time);
    }
    let timed = times.iter().zip(&frames);
    ethernet_file(timed.map(|(time, frame)| (*time, frame.as_slice()))).unwrap_or_default()
}
