"""Captures of floods: each takes as much memory of one kind as it can."""

import random
import struct

SYN, ACK, PUSH = 2, 16, 24
QUERY = b"\x12\x34\x01\0\0\1\0\0\0\0\0\0\3www\7example\3com\0\0\1\0\1"
NOON = 1_700_000_000_000_000


class Capture:
    """A pcap file being written; times in microseconds."""

    def __init__(self, file):
        self.file = file
        self.time = NOON
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))

    def ip(self, source, target, protocol, payload, step=1, identification=1, fragment=0):
        """An IPv4 packet, `step` after the one before."""
        self.time += step
        header = struct.pack(">BBHHHBBHII", 0x45, 0, 20 + len(payload), identification, fragment,
                             64, protocol, 0, source, target)
        frame = b"\2\0\0\0\0\1\2\0\0\0\0\2\x08\0" + header + payload
        self.file.write(struct.pack("<IIII", self.time // 10**6, self.time % 10**6, len(frame),
                                    len(frame)) + frame)

    def ipv6(self, source, target, protocol, payload, step=1):
        """An IPv6 packet, `step` after the one before; addresses of 16 bytes."""
        self.time += step
        header = struct.pack(">IHBB", 6 << 28, len(payload), protocol, 64) + source + target
        frame = b"\2\0\0\0\0\1\2\0\0\0\0\2\x86\xdd" + header + payload
        self.file.write(struct.pack("<IIII", self.time // 10**6, self.time % 10**6, len(frame),
                                    len(frame)) + frame)

    def udp(self, source, target, ports, payload, step=1):
        """A datagram, without a checksum."""
        self.ip(source, target, 17, struct.pack(">HHHH", *ports, 8 + len(payload), 0) + payload,
                step)

    def tcp(self, ends, places, flags, payload=b"", step=1):
        """A segment; its checksum is not right, which `-k` may say."""
        (source, port), (target, to) = ends
        segment = struct.pack(">HHIIBBHHH", port, to, places[0] & 0xFFFFFFFF,
                              places[1] & 0xFFFFFFFF, 0x50, flags, 65535, 0, 0)
        self.ip(source, target, 6, segment + payload, step)


class Talk:
    """A TCP connection."""

    def __init__(self, capture, number, port=7000):
        self.capture = capture
        self.ends = ((0x0A000000 + number, 1024 + number % 60000), (0xC0000201, port))
        self.next = [1000, 5000]
        self.send(True, flags=SYN)
        self.next[0] += 1
        self.send(False, flags=SYN | ACK)
        self.next[1] += 1

    def send(self, to_server, payload=b"", flags=ACK, gap=0):
        """Sends bytes, behind a hole of `gap`."""
        ends = self.ends if to_server else self.ends[::-1]
        own, other = self.next if to_server else self.next[::-1]
        self.capture.tcp(ends, (own + gap, other), flags, payload)
        self.next[0 if to_server else 1] += len(payload) if gap == 0 else 0


def queries(step):
    """DNS queries, each on a connection of its own, so many microseconds apart."""
    def write(capture, scale):
        capture.time += 10**9
        for nth in range(int(1_000_000 * scale)):
            capture.udp(0x0B000000 + nth, 0x0A000002, (5000, 53), QUERY, step)
    return write


def pipelined(capture, scale):
    """Requests in segments of 60 kB, all before the first answer."""
    talk = Talk(capture, 1)
    request = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n" * 2200
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n" * 1600
    for _ in range(int(1400 * scale)):
        talk.send(True, request)
    for _ in range(int(1900 * scale)):
        talk.send(False, answer)


def syns(capture, scale):
    """SYNs, each from an address of its own."""
    for nth in range(int(2_000_000 * scale)):
        capture.tcp(((0x0B000000 + nth, 5000), (0x0A000002, 80)), (1, 0), SYN, step=2)


def ipv6_syns(capture, scale):
    """IPv6 SYNs between random addresses."""
    dice = random.Random(7)
    for _ in range(int(400_000 * scale)):
        ends = dice.randbytes(32)
        segment = struct.pack(">HHIIBBHHH", dice.randrange(1024, 65536), 80, 1, 0, 0x50, SYN,
                              65535, 0, 0)
        capture.ipv6(b"\x20" + ends[1:16], b"\x20" + ends[17:], 6, segment, step=2)


def unknown(capture, scale):
    """Open connections that no protocol's rules fit."""
    dice = random.Random(7)
    for nth in range(int(400_000 * scale)):
        Talk(capture, nth).send(True, dice.randbytes(300))


def holes(capture, scale):
    """Bytes after holes that nothing fills."""
    for nth in range(int(20_000 * scale)):
        talk = Talk(capture, nth)
        for gap in range(20):
            talk.send(True, b"h" * 1400, gap=1000 + gap * 2000)


def fragments(capture, scale):
    """First fragments of datagrams whose ends are missing."""
    for nth in range(int(300_000 * scale)):
        capture.ip(0x0B000000 + nth // 60000, 0x0A000002, 17, b"\x13\x88" * 500,
                   identification=nth % 60000, fragment=0x2000)


def commands(capture, scale):
    """FTP commands that wait for replies."""
    for nth in range(int(3000 * scale)):
        talk = Talk(capture, nth, 21)
        talk.send(False, b"220 FTP server ready\r\n")
        talk.send(True, b"USER a\r\n")
        for _ in range(20):
            talk.send(True, b"RETR a-file-with-a-name\r\n" * 50)


def bodies(capture, scale):
    """Responses whose bodies go on, each with a decoder of its own."""
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5000000\r\n\r\n"
    start = b"\x1f\x8b\x08\0\0\0\0\0\0\3" + b"\0\xff\xff\0\0" + b"b" * 900
    for nth in range(int(60_000 * scale)):
        talk = Talk(capture, nth, 80)
        talk.send(True, b"GET /a HTTP/1.1\r\nHost: a\r\n\r\n")
        talk.send(False, head + start)


def tunnels(capture, scale):
    """VXLAN between ever new ends, a connection in each."""
    inner = (b"\2\0\0\0\0\1\2\0\0\0\0\2\x08\0"
             + struct.pack(">BBHHHBBHII", 0x45, 0, 28 + len(QUERY), 1, 0, 64, 17, 0, 0x0A000001,
                           0x0A000002)
             + struct.pack(">HHHH", 5000, 53, 8 + len(QUERY), 0) + QUERY)
    for nth in range(int(600_000 * scale)):
        capture.udp(0x0B000000 + nth, 0x0A000002, (5000, 4789), b"\x08\0\0\0\0\0\7\0" + inner)


ALL = [
    ("a million queries at one time", queries(0)),
    ("a million queries, each before the one before", queries(-1)),
    ("a million queries, three seconds apart", queries(3_000_000)),
    ("three million pipelined requests", pipelined),
    ("two million SYNs", syns),
    ("400,000 IPv6 SYNs between random addresses", ipv6_syns),
    ("400,000 open connections of no known protocol", unknown),
    ("bytes after holes", holes),
    ("fragments without an end", fragments),
    ("FTP commands without replies", commands),
    ("compressed bodies under way", bodies),
    ("600,000 tunnels", tunnels),
]
