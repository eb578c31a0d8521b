"""Other programs that read captures: how each is called, and what it did and did not do.

All write what they find, if they can write at all: to a folder that is new for each run. Programs
of Debian's are asked for by package; Suricata, Snort 3, Zeek and Retina are used where they are on
the PATH (`retina`: a program that takes a capture's path; `SNORT_CONFIG` names Snort's configuration).
"""

import os
import re
import shutil
import subprocess


class Peer:
    """One way of calling a program."""

    def __init__(self, name, command, did, did_not, package=None, version="--version"):
        self.name, self.command, self.did, self.did_not = name, command, did, did_not
        self.package, self.version_flag = package, version
        is_path = os.path.exists(command[0])
        self.program = command[0] if is_path else shutil.which(command[0])

    def version(self):
        """What it says of itself, as a number; empty if it does not say."""
        ask = [self.program, self.version_flag]
        if not self.version_flag:  # a library: what its package says
            ask = ["dpkg-query", "-W", "-f", "${Version}", self.package or ""]
        if not shutil.which(ask[0]):
            return ""
        done = subprocess.run(ask, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              stdin=subprocess.DEVNULL, timeout=20, check=False)
        found = re.search(rb"\d+\.\d+(?:\.\d+)*[\w+-]*", done.stdout)
        return found.group(0).decode() if found else ""


def peers(flowpin, nids, file, out):
    """All of them, Flowpin's own rows first. Those whose program is None are not there."""
    def run(*words):
        return [flowpin, "run", "-r", file, "--pipeline", "1x1", "-l", out, "--force", "--format", "eve",
                *words]
    snort = os.environ.get("SNORT_CONFIG", "/usr/local/etc/snort/snort.lua")
    return [
        Peer("Flowpin, connections",
             run("-k", "none", "--streams", "off", "--scans", "off", "--identify", "off"),
             "connections as EVE", "checksums, streams, scans, protocols"),
        Peer("Flowpin, protocols", run("--parse", "off"),
             "checksums, connections, streams, scans, protocols as EVE", "messages"),
        Peer("Flowpin, everything", run(),
             "checksums, connections, streams, scans, protocols, messages as EVE", "rules"),
        Peer("libnids", [nids or "nidsbench", file], "streams, scans",
             "checksums (off), IPv6, protocols, output", "libnids-dev", None),
        Peer("ndpiReader", ["ndpiReader", "-q", "-i", file], "connections, protocols",
             "streams, scans, records", "libndpi-bin", "-h"),
        Peer("argus", ["argus", "-X", "-r", file, "-w", os.path.join(out, "argus.out")],
             "connections as Argus records", "streams, protocols", "argus-server", "-h"),
        Peer("tcpflow", ["tcpflow", "-q", "-x", "netviz", "-r", file, "-o", out],
             "streams, a file for each", "scans, protocols, UDP", "tcpflow", "-V"),
        Peer("tshark", ["tshark", "-n", "-q", "-z", "conv,tcp", "-z", "conv,udp", "-r", file],
             "every field of every packet, conversations", "scans", "tshark"),
        Peer("tcpdump, copying", ["tcpdump", "-r", file, "-w", "/dev/null"],
             "reads and copies", "everything else", "tcpdump"),
        Peer("tcpdump, printing", ["tcpdump", "-nn", "-r", file],
             "a line for each packet", "connections", "tcpdump"),
        Peer("softflowd", ["softflowd", "-d", "-r", file, "-v", "10", "-m", "1000000",
                           "-n", "127.0.0.1:9", "-c", "none", "-p", os.path.join(out, "pid")],
             "flows as IPFIX", "streams, protocols", "softflowd", "-h"),
        Peer("nfpcapd", ["nfpcapd", "-r", file, "-w", out], "flows as nfdump files",
             "streams, protocols", "nfdump", "-V"),
        Peer("Suricata", ["suricata", "-r", file, "-l", out, "-k", "none", "-S", "/dev/null",
                          "--runmode", "single"],
             "what its configuration says, as EVE", "checksums (off), rules (none)", None, "-V"),
        Peer("Snort 3", ["snort", "-q", "-k", "none", "-c", snort, "-r", file, "-l", out],
             "what its configuration says", "checksums (off)", None, "-V"),
        Peer("Zeek", ["zeek", "-C", "-r", file], "its default logs", "checksums (off)", None),
        Peer("Retina", ["retina", file], "what it was compiled for", "", None, None),
    ]
