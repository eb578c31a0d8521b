#!/usr/bin/env python3
"""Records the bundled captures: real programs, in network namespaces of their own.

usage: record.py [-o FOLDER] [NAME …]

Needs root and the programs below (Debian's packages); says which are missing. Makes three
namespaces, runs everything inside them and removes them. Nothing else on the machine is touched:
no clock is set, no service of the system is used, no packet leaves. Beside each capture it writes
NAME.json: which programs talked, on which connections, and what is certain about them.
"""

import argparse
import gzip
import lzma
import os
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import mail  # noqa: E402
import pcapng  # noqa: E402
import servers  # noqa: E402
import steps  # noqa: E402
import transfer  # noqa: E402
import tunnels  # noqa: E402
import web  # noqa: E402
from lab import Lab  # noqa: E402
from truth import Truth  # noqa: E402

NEEDED = {
    "ip": "iproute2", "ss": "iproute2", "sysctl": "procps", "ethtool": "ethtool",
    "tcpdump": "tcpdump", "dumpcap": "wireshark-common", "nginx": "nginx-light", "curl": "curl",
    "openssl": "openssl", "ssh": "openssh-client", "/usr/sbin/sshd": "openssh-server",
    "dnsmasq": "dnsmasq-base", "dig": "bind9-dnsutils", "/usr/bin/aiosmtpd": "python3-aiosmtpd",
    "swaks": "swaks", "vsftpd": "vsftpd", "redis-server": "redis-server",
    "redis-cli": "redis-tools", "mosquitto": "mosquitto", "mosquitto_pub": "mosquitto-clients",
    "sipp": "sip-tester", "chronyd": "chrony", "nmap": "nmap", "ping": "iputils-ping",
    "traceroute": "traceroute", tunnels.SCTP_SERVER: "libusrsctp-examples",
    "postfix": "postfix", "saslpasswd2": "sasl2-bin", "apache2": "apache2",
    "wrk": "wrk", "node": "nodejs", "go": "golang-go",
}

MICRO, NANO = ["tcpdump"], ["tcpdump", "--time-stamp-precision=nano"]
NG = ["dumpcap", "-q"]
# Both links of the router: each packet twice, before and after it was forwarded.
COOKED = {"side": "r", "link": "any"}

# name, suffix, capture command, where, steps
CAPTURES = [
    ("http", "pcapng", NG, {}, [steps.http]),
    ("http-failures", "pcap", MICRO, {}, [steps.http_failures]),
    ("tls", "pcap.xz", MICRO, {}, [steps.tls]),
    ("ssh", "pcap", NANO, {}, [steps.ssh]),
    ("dns", "pcapng", NG, {}, [steps.dns]),
    ("dns-fragments", "pcap", NANO, {}, [steps.dns_fragments]),
    ("smtp", "pcap", MICRO, {}, [steps.smtp]),
    ("ftp", "pcap.gz", MICRO, {}, [steps.ftp]),
    ("ftp-modes", "pcap.gz", MICRO, {}, [transfer.modes]),
    ("redis", "pcap", [*MICRO, "-y", "LINUX_SLL2"], COOKED, [steps.redis]),
    ("mqtt", "pcapng.gz", NG, {}, [steps.mqtt]),
    ("sip", "pcap", [*MICRO, "-y", "LINUX_SLL"], COOKED, [steps.sip]),
    ("ntp", "pcap", MICRO, {}, [steps.ntp]),
    ("scan", "pcap", [*MICRO, "-s", "80"], {}, [steps.scan]),
    ("icmp", "pcapng", NG, {}, [steps.icmp]),
    ("midstream", "pcap", MICRO, {}, [steps.midstream]),
    ("offload", "pcap.gz", MICRO, {"side": "c", "link": "c0"}, [steps.http]),
    ("vxlan", "pcap", MICRO, {}, [tunnels.vxlan]),
    ("gre", "pcap", MICRO, {}, [tunnels.gre]),
    ("ip-in-ip", "pcapng", NG, {}, [tunnels.ip_in_ip]),
    ("vlan", "pcap", MICRO, {}, [tunnels.vlan]),
    ("raw-ip", "pcap", MICRO, {"side": "c", "link": "tun0"}, [tunnels.raw_ip]),
    ("sctp", "pcap", MICRO, {}, [tunnels.sctp]),
    ("fix", "pcap", MICRO, {}, [steps.fix]),
    ("http-apache", "pcap.gz", MICRO, {}, [web.apache]),
    ("http-node", "pcapng.gz", NG, {}, [web.node]),
    ("http-go", "pcap.gz", NANO, {}, [web.go]),
    ("http-expect", "pcap.gz", MICRO, {}, [web.expect]),
    ("http-wrk", "pcap.gz", MICRO, {}, [web.wrk]),
    ("smtp-postfix", "pcap.gz", MICRO, {}, [mail.postfix]),
    ("smtp-exim", "pcap.gz", MICRO, {}, [mail.exim]),
]
DAY = ("lab-day", "pcapng", [
    steps.dns, steps.http, steps.tls, steps.ssh, steps.smtp, steps.ftp, steps.redis, steps.mqtt,
    steps.sip, steps.ntp, steps.http_large, steps.http_failures, steps.scan, steps.icmp,
    steps.dns_fragments])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    here = os.path.dirname(os.path.abspath(__file__))
    parser.add_argument("-o", "--output", default=os.path.join(here, "..", "captures"))
    parser.add_argument("names", nargs="*", help="which captures (default: all)")
    arguments = parser.parse_args()
    complain()
    os.makedirs(arguments.output, exist_ok=True)
    programs = versions()
    with Lab() as lab:
        servers.start_all(lab)
        for name, suffix, command, where, tasks in CAPTURES:
            if steps.fix in tasks and not steps.fix_python():
                print(f"{name}: skipped: no QuickFIX (pip install quickfix), see steps.py")
            elif mail.exim in tasks and not mail.exim_program():
                print(f"{name}: skipped: no Exim, see mail/__init__.py")
            elif transfer.modes in tasks and not transfer.python():
                print(f"{name}: skipped: no pyftpdlib, see transfer/__init__.py")
            elif not arguments.names or name in arguments.names:
                if transfer.modes in tasks:
                    transfer.prepare(lab)
                record(lab, arguments.output, name, suffix, command, where, tasks, programs)
        if not arguments.names or DAY[0] in arguments.names:
            name, suffix, tasks = DAY
            record(lab, arguments.output, name, suffix, NG, {}, tasks, programs)


def versions():
    """Which programs of which version, by Debian's package names."""
    packages = sorted(set(NEEDED.values()))
    done = subprocess.run(["dpkg-query", "-W", "-f", "${Package} ${Version}\n", *packages],
                          stdout=subprocess.PIPE, text=True, check=False)
    found = dict(line.split(" ", 1) for line in done.stdout.splitlines())
    # Go comes from elsewhere on many machines.
    if "golang-go" not in found:
        done = subprocess.run(["go", "version"], stdout=subprocess.PIPE, text=True, check=False)
        found["go"] = done.stdout.strip()
    return found


def complain():
    """Ends with one clear message where something is missing."""
    if os.geteuid() != 0:
        sys.exit("record.py: network namespaces need root: run it with sudo")
    missing = {package for program, package in NEEDED.items() if not shutil.which(program)}
    if missing:
        sys.exit("record.py: missing programs; install them first (services need not run):\n"
                 "  apt-get install --no-install-recommends " + " ".join(sorted(missing)))


def record(lab, folder, name, suffix, command, where, tasks, programs):
    """Makes one capture and its ground truth."""
    about = " ".join(task.__doc__.strip().splitlines()[0] for task in tasks)
    truth = Truth(about)
    raw = lab.path("recording")
    where = {"side": "r", "link": "r0"} | where
    lab.offload(name == "offload")
    early = None
    prepare = [tunnels.PREPARE[task] for task in tasks if task in tunnels.PREPARE]
    for begin in prepare:
        begin(lab)
    if steps.midstream in tasks:
        early = steps.slow_transfer(lab)
        time.sleep(0.3)
    with lab.capture(raw, command, **where):
        for task in tasks:
            task(lab, truth)
        if early:
            steps.end(early)
    for finish in (tunnels.FINISH[task] for task in tasks if task in tunnels.FINISH):
        finish(lab)
    lab.offload(False)
    capture = f"{name}.{suffix}"
    target = os.path.join(folder, capture)
    with open(raw, "rb") as file:
        data = file.read()
    os.unlink(raw)
    if command[0] == "dumpcap":
        data = pcapng.without_machine(data)
    with open(target, "wb") as file:
        file.write(compress(data, suffix))
    how = f"{' '.join(command)} on {where['link']} of the {SIDES[where['side']]}"
    truth.write(os.path.join(folder, name + ".json"), capture, how, programs)
    print(f"{capture:24} {len(data):8} bytes, {os.path.getsize(target):8} stored, "
          f"{sum(entry['count'] for entry in truth.connections):4} connections known")


SIDES = {"c": "client", "r": "router", "s": "server"}


def compress(data, suffix):
    if suffix.endswith(".gz"):
        return gzip.compress(data, mtime=0)
    if suffix.endswith(".xz"):
        return lzma.compress(data)
    return data


if __name__ == "__main__":
    main()
