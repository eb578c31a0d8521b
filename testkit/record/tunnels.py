"""Tunnels and tags around real traffic, and SCTP.

VXLAN is the kernel's. GRE, IP in IP and VLAN tags are put on by small relays between a TUN or TAP
device and a raw socket (`relay.py`), because small kernels come without those modules; what is
inside comes from the same real programs. SCTP comes from usrsctp's example programs, which bring
their own protocol stack.
"""

import os
import sys
import time

from lab import CLIENT, SERVER, run, stop

SCTP_FOLDER = "/usr/lib/usrsctp/"
SCTP_SERVER = SCTP_FOLDER + "daytime_server"
RELAY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "relay.py")

INNER, INNER_SERVER = "10.92.0.1", "10.92.0.2"
INNER6, INNER_SERVER6 = "fd92::1", "fd92::2"


def vxlan(lab, truth):
    """HTTP, DNS in fragments and pings inside VXLAN; large packets in outer fragments."""
    _inside(lab, truth, "vxlan", 61001)


def gre(lab, truth):
    """HTTP, DNS in fragments and pings inside GRE with a key."""
    _inside(lab, truth, "gre", 61011)


def ip_in_ip(lab, truth):
    """HTTP, DNS in fragments and pings inside IP in IP (protocol 4; IPv6: 41)."""
    _inside(lab, truth, "ip", 61021)


def vlan(lab, truth):
    """HTTP, DNS in fragments and pings with two VLAN tags (802.1ad around 802.1Q)."""
    _inside(lab, truth, "vlan", 61031)


def raw_ip(lab, truth):
    """The same, captured inside the tunnel: packets without a link layer."""
    _inside(lab, truth, "", 61041)


def _inside(lab, truth, tunnel, port):
    mark = {"tunnel": tunnel} if tunnel else {}
    lab.client(port, ["curl", "-sS", "-o", "/dev/null", f"http://{INNER_SERVER}/data.json"])
    truth.connection("http", (INNER, port), (INNER_SERVER, 80), program="curl → nginx",
                     conn_state="SF", **mark)
    lab.client(port + 1, ["curl", "-gsS", "-o", "/dev/null",
                          f"http://[{INNER_SERVER6}]/small.txt"])
    truth.connection("http", (INNER6, port + 1), (INNER_SERVER6, 80), program="curl → nginx",
                     conn_state="SF", **mark)
    lab.run("c", ["dig", "+tries=1", "-b", f"{INNER}#{port + 2}", f"@{INNER_SERVER}",
                  "big.lab.test", "TXT", "+bufsize=4096"])
    truth.connection("dns", (INNER, port + 2), (INNER_SERVER, 53), "udp",
                     program="dig → dnsmasq", packets=2, **mark)
    lab.run("c", ["ping", "-n", "-c", "2", "-i", "0.2", "-e", "7100", INNER_SERVER])
    truth.connection("", (INNER, 8), (INNER_SERVER, 0), "icmp", program="ping", packets=4, **mark)
    lab.run("c", ["ping", "-n", "-c", "2", "-i", "0.2", "-e", "7101", INNER_SERVER6])
    truth.connection("", (INNER6, 128), (INNER_SERVER6, 129), "icmp6", program="ping", packets=4,
                     **mark)


def sctp(lab, truth):
    """The time of day, asked for twice over SCTP."""
    server = lab.start("s", [SCTP_SERVER])
    time.sleep(0.5)
    for port in (61051, 61052):
        lab.run("c", ["timeout", "4", SCTP_FOLDER + "client", SERVER, "13", str(port)],
                check=False)
        truth.connection("", (CLIENT, port), (SERVER, 13), "sctp",
                         program="usrsctp client → daytime_server")
    stop(server)


def _addresses(lab, link, peer_link, mtu):
    for side, device, v4, v6 in (("c", link, INNER, INNER6),
                                 ("s", peer_link, INNER_SERVER, INNER_SERVER6)):
        name = lab.names[side]
        run(["ip", "-n", name, "addr", "add", f"{v4}/24", "dev", device])
        run(["ip", "-n", name, "addr", "add", f"{v6}/64", "dev", device, "nodad"])
        run(["ip", "-n", name, "link", "set", device, "mtu", str(mtu), "up"])
    time.sleep(2.5)


def _vxlan_up(lab):
    for side, local, remote in (("c", CLIENT, SERVER), ("s", SERVER, CLIENT)):
        run(["ip", "-n", lab.names[side], "link", "add", "vx0", "type", "vxlan", "id", "4711",
             "local", local, "remote", remote, "dstport", "4789", "noudpcsum"])
    # As large as the link's own MTU, so that the outer packets must be fragmented.
    _addresses(lab, "vx0", "vx0", 1500)


def _vxlan_down(lab):
    for side in "cs":
        run(["ip", "-n", lab.names[side], "link", "del", "vx0"])


_RELAYS = []


def _relay_up(kind, mtu):
    def up(lab):
        for side, local, remote in (("c", CLIENT, SERVER), ("s", SERVER, CLIENT)):
            words = {"vlan": [{"c": "c0", "s": "s0"}[side]]}.get(kind, [local, remote])
            _RELAYS.append(lab.start(side, [sys.executable, RELAY, kind, "tun0", *words]))
        time.sleep(0.7)
        _addresses(lab, "tun0", "tun0", mtu)
    return up


def _relay_down(_lab):
    while _RELAYS:
        stop(_RELAYS.pop())


def _vlan_up(lab):
    # Tags end at the next host, so the router forwards nothing: it joins both links instead.
    router = lab.names["r"]
    run(["ip", "-n", router, "link", "add", "br0", "type", "bridge"])
    for link in ("r0", "r1"):
        run(["ip", "-n", router, "link", "set", link, "master", "br0"])
    run(["ip", "-n", router, "link", "set", "br0", "up"])
    _relay_up("vlan", 1400)(lab)


def _vlan_down(lab):
    _relay_down(lab)
    run(["ip", "-n", lab.names["r"], "link", "del", "br0"])


def _one_address(lab):
    # SCTP would use every address that a host has; one each keeps the truth simple.
    run(["ip", "-n", lab.names["s"], "addr", "del", "10.91.2.3/24", "dev", "s0"])


def _second_address(lab):
    run(["ip", "-n", lab.names["s"], "addr", "add", "10.91.2.3/24", "dev", "s0"])


PREPARE = {vxlan: _vxlan_up, gre: _relay_up("gre", 1472), ip_in_ip: _relay_up("ip", 1480),
           raw_ip: _relay_up("ip", 1480), vlan: _vlan_up, sctp: _one_address}
FINISH = {vxlan: _vxlan_down, gre: _relay_down, ip_in_ip: _relay_down, raw_ip: _relay_down,
          vlan: _vlan_down, sctp: _second_address}
