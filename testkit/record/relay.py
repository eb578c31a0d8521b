"""One end of a tunnel: a TUN or TAP device on one side, a raw socket on the other.

usage: relay.py gre|ip DEVICE LOCAL REMOTE
       relay.py vlan DEVICE LINK

Runs until it is ended; the device goes with it.
"""

import errno
import fcntl
import os
import select
import socket
import struct
import sys

TUNSETIFF, IFF_TUN, IFF_TAP, IFF_NO_PI = 0x400454CA, 1, 2, 0x1000
GRE, IPIP, SIXINFOUR = 47, 4, 41
KEY = 5150
# Service tag (802.1ad) 200 around customer tag (802.1Q) 31.
TAGS = struct.pack("!HHHH", 0x88A8, 200, 0x8100, 31)
SOL_PACKET, PACKET_AUXDATA = 263, 8


def device(name, kind):
    tun = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH", name.encode(), kind | IFF_NO_PI))
    return tun


def deliver(tun, data):
    """Hands a packet to the kernel; while the device is not up yet, it is lost as on a cable."""
    try:
        os.write(tun, data)
    except OSError as error:
        if error.errno != errno.EIO:
            raise


def relay_ip(kind, name, local, remote):
    """IPv4 and IPv6 packets inside GRE or directly inside IPv4."""
    tun = device(name, IFF_TUN)
    sockets = {}
    for protocol in (GRE,) if kind == "gre" else (IPIP, SIXINFOUR):
        sockets[protocol] = socket.socket(socket.AF_INET, socket.SOCK_RAW, protocol)
        sockets[protocol].bind((local, 0))
    while True:
        ready, _, _ = select.select([tun, *sockets.values()], [], [])
        for source in ready:
            if source == tun:
                packet = os.read(tun, 65535)
                v6 = packet[0] >> 4 == 6
                if kind == "gre":
                    header = struct.pack("!HHI", 0x2000, 0x86DD if v6 else 0x0800, KEY)
                    sockets[GRE].sendto(header + packet, (remote, 0))
                else:
                    sockets[SIXINFOUR if v6 else IPIP].sendto(packet, (remote, 0))
            else:
                packet = source.recv(65535)
                inner = packet[(packet[0] & 15) * 4:]
                deliver(tun, inner[8:] if kind == "gre" else inner)


def relay_vlan(name, link):
    """Ethernet frames with two tags."""
    tap = device(name, IFF_TAP)
    wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    wire.bind((link, 3))
    wire.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
    while True:
        ready, _, _ = select.select([tap, wire], [], [])
        if tap in ready:
            frame = os.read(tap, 65535)
            wire.send(frame[:12] + TAGS + frame[12:])
        if wire in ready:
            frame, extra, _, sender = wire.recvmsg(65535, socket.CMSG_SPACE(20))
            if sender[2] == socket.PACKET_OUTGOING:
                continue
            # The kernel takes the outer tag off and reports it beside the frame.
            for level, kind, data in extra:
                if level == SOL_PACKET and kind == PACKET_AUXDATA:
                    tag, tpid = struct.unpack("HH", data[16:20])
                    if tpid == 0x88A8:
                        frame = frame[:12] + struct.pack("!HH", tpid, tag) + frame[12:]
            if frame[12:20] == TAGS:
                deliver(tap, frame[:12] + frame[20:])


if __name__ == "__main__":
    if sys.argv[1] == "vlan":
        relay_vlan(*sys.argv[2:])
    else:
        relay_ip(*sys.argv[1:])
