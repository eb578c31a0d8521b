//! A small capture in which packets end in every way: built, so that each byte is meant.

use flowpin_testkit::build::tunnel::vxlan;
use flowpin_testkit::build::{Ip, Tcp, flags};
use flowpin_testkit::pcap::Writer;

/// The packets, from 1, with what each shows.
pub(crate) fn capture() -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), 1, true).unwrap();
    for (frame, nth) in frames().iter().zip(1u64..) {
        let time = START_NS + nth * 1_000_000;
        let len = u32::try_from(frame.len()).unwrap();
        // The last one is cut by the capture.
        let wire_len = if frame.len() < 14 { 60 } else { len };
        writer.packet(time, wire_len, frame).unwrap();
    }
    writer.finish().unwrap()
}

/// The packet with each number has its place here, less one.
fn frames() -> Vec<Vec<u8>> {
    let mut frames = conversation();
    let mut broken = Ip::v4(CLIENT, SERVER)
        .tcp(Tcp::syn(50_001, 80, 1), b"")
        .ethernet();
    // 17: the checksum of its IP header does not hold.
    broken[24] ^= 0xff;
    frames.push(broken);
    // 18 and 19: fragments of one datagram.
    let datagram = Ip::v4(CLIENT, SERVER)
        .identified(7)
        .udp(40_000, 40_001, &[0xaa; 80]);
    frames.extend(datagram.fragments(76).iter().map(|one| one.ethernet()));
    // 20: a SYN inside VXLAN.
    let inner = Ip::v4([172, 16, 0, 1], [172, 16, 0, 2])
        .tcp(Tcp::syn(50_002, 443, 9), b"")
        .ethernet();
    let outer = Ip::v4([10, 0, 1, 1], [10, 0, 1, 2]).udp(50_003, 4789, &vxlan(7, &inner));
    frames.push(outer.ethernet());
    // 21: ARP.
    let mut arp = vec![0xff; 6];
    arp.extend([2, 0, 0, 0, 0, 2, 8, 6, 0, 1, 8, 0, 6, 4, 0, 1]);
    arp.resize(42, 0);
    frames.push(arp);
    // 22 and 23: a question of DNS, and its answer.
    let ip = Ip::v4([10, 0, 0, 3], [10, 0, 0, 4]);
    frames.push(ip.udp(40_002, 53, &dns(false)).ethernet());
    frames.push(ip.reversed().udp(53, 40_002, &dns(true)).ethernet());
    // 24: cut within the link header.
    frames.push(vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0]);
    frames
}

/// An HTTP connection with all that happens to streams.
fn conversation() -> Vec<Vec<u8>> {
    let ip = Ip::v4(CLIENT, SERVER);
    let there = |seq, ack, flags, bytes: &[u8]| {
        ip.tcp(Tcp::new(50_000, 80, seq, ack, flags), bytes)
            .ethernet()
    };
    let back = |seq, ack, flags, bytes: &[u8]| {
        let tcp = Tcp::new(80, 50_000, seq, ack, flags);
        ip.reversed().tcp(tcp, bytes).ethernet()
    };
    let (syn, fin, ack) = (flags::SYN, flags::FIN | flags::ACK, flags::ACK);
    let len = |bytes: &[u8]| u32::try_from(bytes.len()).unwrap();
    let (first, second) = RESPONSE.split_at(20);
    let (asked, answered) = (1001 + len(REQUEST), 5001 + len(RESPONSE));
    let after_hole = answered + 100;
    let end = after_hole + len(RESPONSE);
    vec![
        // 1 to 3: the handshake.
        there(1000, 0, syn, b""),
        back(5000, 1001, syn | ack, b""),
        there(1001, 5001, ack, b""),
        // 4: the request, in order.
        there(1001, 5001, ack, REQUEST),
        // 5: the second part of the response, before 6: the first.
        back(5001 + len(first), asked, ack, second),
        back(5001, asked, ack, first),
        // 7: the first part again.
        back(5001, asked, ack, first),
        // 8: a RST that is far outside the window.
        back(answered + 1_000_000, asked, flags::RST, b""),
        there(asked, answered, ack, b""),
        // 10: after 100 bytes that are missing, which 11 acknowledges.
        back(after_hole, asked, ack, RESPONSE),
        there(asked, end, ack, b""),
        // 12: a keep-alive.
        there(asked - 1, end, ack, b"\0"),
        // 13 to 16: both sides close.
        back(end, asked, fin, b""),
        there(asked, end + 1, ack, b""),
        there(asked, end + 1, fin, b""),
        back(end + 1, asked + 1, ack, b""),
    ]
}

fn dns(is_answer: bool) -> Vec<u8> {
    let mut message = vec![0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    message.extend(b"\x07example\x03org\x00\x00\x01\x00\x01");
    if is_answer {
        message[2..8].copy_from_slice(&[0x81, 0x80, 0, 1, 0, 1]);
        message.extend([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 1]);
    }
    message
}

const START_NS: u64 = 1_700_000_000_000_000_000;
const CLIENT: [u8; 4] = [10, 0, 0, 1];
const SERVER: [u8; 4] = [10, 0, 0, 2];
const REQUEST: &[u8] = b"GET /a HTTP/1.1\r\nHost: example.org\r\n\r\n";
const RESPONSE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
