"""A network of three namespaces, and the processes that run in it.

    client  c0 ──────── r0  router  r1 ──────── s0  server
    10.91.1.2           .1           .1         10.91.2.2, .3
    fd91:1::2           ::1          ::1        fd91:2::2
                        ▲
                        captures are made here, as a tap before the router would

Owns the namespaces and every process started in them, and takes all of it down again by the
names and process ids that it has noted. No packet leaves: no namespace has another link.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time

CLIENT, SERVER = "10.91.1.2", "10.91.2.2"
CLIENT6, SERVER6 = "fd91:1::2", "fd91:2::2"
ROUTER, ROUTER6 = "10.91.1.1", "fd91:1::1"
SILENT = "10.91.7.7"        # the router drops what is sent there
UNREACHABLE = "10.91.8.8"   # the router answers "host unreachable"
PROHIBITED = "10.91.9.9"    # the router answers "communication prohibited"

SETUP = """
c link set lo up
r link set lo up
s link set lo up
c addr add 10.91.1.2/24 dev c0
r addr add 10.91.1.1/24 dev r0
r addr add 10.91.2.1/24 dev r1
s addr add 10.91.2.2/24 dev s0
s addr add 10.91.2.3/24 dev s0
c addr add fd91:1::2/64 dev c0 nodad
r addr add fd91:1::1/64 dev r0 nodad
r addr add fd91:2::1/64 dev r1 nodad
s addr add fd91:2::2/64 dev s0 nodad
c link set c0 up
r link set r0 up
r link set r1 up
s link set s0 up
c route add default via 10.91.1.1
s route add default via 10.91.2.1
c -6 route add default via fd91:1::1
s -6 route add default via fd91:2::1
r route add blackhole 10.91.7.0/24
r route add unreachable 10.91.8.0/24
r route add prohibit 10.91.9.0/24
"""

SYSCTLS = {
    "c": ["net.ipv4.icmp_ratelimit=0", "net.ipv4.tcp_tw_reuse=1"],
    "r": ["net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1", "net.ipv4.icmp_ratelimit=0"],
    "s": ["net.ipv4.icmp_ratelimit=0", "net.ipv4.icmp_msgs_per_sec=100000"],
}


class Lab:
    """The namespaces; a context manager that leaves nothing behind."""

    def __init__(self):
        self.names = {side: f"flowpin{os.getpid()}{side}" for side in "crs"}
        self.made = []
        self.running = []
        self.dir = None

    def __enter__(self):
        self.dir = tempfile.mkdtemp(prefix="flowpin-lab-")
        os.chmod(self.dir, 0o755)
        try:
            self._build()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for process in reversed(self.running):
            stop(process)
        for name in self.made:
            subprocess.run(["ip", "netns", "del", name], check=False)
        shutil.rmtree(self.dir, ignore_errors=True)

    def _build(self):
        for name in self.names.values():
            run(["ip", "netns", "add", name])
            self.made.append(name)
        for side, link, other, peer in (("c", "c0", "r", "r0"), ("s", "s0", "r", "r1")):
            run(["ip", "-n", self.names[side], "link", "add", link, "type", "veth",
                 "peer", "name", peer, "netns", self.names[other]])
        for side, settings in SYSCTLS.items():
            common = ["net.ipv6.conf.default.router_solicitations=0",
                      "net.ipv6.conf.all.router_solicitations=0"]
            self.run(side, ["sysctl", "-qw", *common, *settings])
        for line in SETUP.strip().splitlines():
            side, *words = line.split()
            run(["ip", "-n", self.names[side], *words])
        self.offload(False)
        time.sleep(2.5)  # the first multicast reports of new links pass by

    def offload(self, on):
        """Lets the kernel leave checksums and segmentation to the (virtual) adapter, or not."""
        state = "on" if on else "off"
        for side, link in (("c", "c0"), ("r", "r0"), ("r", "r1"), ("s", "s0")):
            self.run(side, ["ethtool", "-K", link, "tx", state, "tso", state, "gso", state,
                            "gro", "off"], quiet=True)

    def inside(self, side, command):
        return ["ip", "netns", "exec", self.names[side], *map(str, command)]

    def run(self, side, command, quiet=False, check=True, **options):
        """Runs a program to its end and returns its output."""
        done = subprocess.run(self.inside(side, command), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60,
                              **options)
        text = done.stdout.decode(errors="replace")
        if check and not quiet and done.returncode != 0:
            raise RuntimeError(f"{' '.join(map(str, command))}: {done.returncode}\n{text}")
        return text

    def client(self, ports, command, **options):
        """Runs a client whose ephemeral ports come from `ports`, so that they are known."""
        self.ephemeral("c", ports)
        return self.run("c", command, **options)

    def ephemeral(self, side, ports):
        low, high = ports if isinstance(ports, (tuple, list)) else (ports, ports)
        self.run(side, ["sysctl", "-qw", f"net.ipv4.ip_local_port_range={low} {high}"])

    def start(self, side, command, **options):
        """Starts a program and notes it for the end."""
        log = open(self.path(f"log-{len(self.running)}"), "wb")
        process = subprocess.Popen(self.inside(side, command), stdin=subprocess.DEVNULL,
                                   stdout=log, stderr=subprocess.STDOUT, **options)
        process.log = log.name
        self.running.append(process)
        return process

    def wait_for(self, side, port, kind="t"):
        """Waits until something listens."""
        for _ in range(100):
            table = self.run(side, ["ss", "-Hln" + kind])
            if any(f":{port} " in line for line in table.splitlines()):
                return
            time.sleep(0.05)
        raise RuntimeError(f"nothing listens on port {port}")

    def path(self, name, content=None, mode=0o644):
        """A file in the lab's own folder."""
        path = os.path.join(self.dir, name)
        if content is not None:
            data = content if isinstance(content, bytes) else content.encode()
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(data)
            os.chmod(path, mode)
        return path

    @contextlib.contextmanager
    def capture(self, path, command=("tcpdump",), side="r", link="r0"):
        """Captures while the body runs. `command` is tcpdump or dumpcap with its options."""
        program = command[0]
        options = ["-i", link, "-w", path]
        if program == "tcpdump":
            options += ["-U", "-Z", "root"]
        process = subprocess.Popen(self.inside(side, [*command, *options]),
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True)
        self.running.append(process)
        for line in process.stderr:
            if "listening on" in line or line.startswith("File:"):
                break
        time.sleep(0.3)
        try:
            yield process
        finally:
            time.sleep(0.7)
            stop(process, signal.SIGINT)


def stop(process, how=signal.SIGTERM):
    """Ends a process that the lab started, by its id."""
    if process.poll() is None:
        process.send_signal(how)
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def run(command):
    subprocess.run(command, check=True)
