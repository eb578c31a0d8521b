#!/usr/bin/env python3
"""Whether memory stays flat over a day: simulated hours of traffic through `flowpin run`.

    bench/soak/soak.py [--hours 24] [--every 60] [--connections 300] [--flowpin PATH] [-- OPTIONS]

Every simulated minute (`--every`, in seconds), the packets of a generated trace come, with the
time of that minute and, as hosts come and go, with other addresses; the same hosts return after
256 rounds. They go through a pipe to one run, which writes logs, rotates them each simulated hour
and has rules. So a day takes a minute or two, and time-outs, rotations and evictions happen as
often as in a day.

Prints resident memory for each simulated hour. Exit code 1: it grew in the second half of the time,
by more than a tenth and 8 MiB; or the run failed. Checksums are not verified, as addresses change.
"""

import argparse
import os
import pathlib
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile

RECORD = struct.Struct("<IIII")
HEADER_LEN = 24
ETHERNET_IPV4 = b"\x08\x00"
# Where addresses stand in a frame of IPv4 without tags; their second byte is changed.
ADDRESSES = (27, 31)
RULES = """\
alert tcp any any -> any any (msg:"begins"; flags:S; threshold:type limit, track by_src, count 1, \
seconds 60; sid:1;)
alert http any any -> any any (msg:"get"; http.method; content:"GET"; flowbits:set,get; sid:2;)
alert dns any any -> any any (msg:"query"; dns.query; content:"."; noalert; sid:3;)
"""


class Trace:
    """The packets of a capture, to be sent again at other times and with other addresses."""

    def __init__(self, bytes_):
        self.header = bytes_[:HEADER_LEN]
        self.bytes = bytearray(bytes_[HEADER_LEN:])
        self.records = []
        at = 0
        while at < len(self.bytes):
            seconds, micros, captured, _ = RECORD.unpack_from(self.bytes, at)
            frame = at + RECORD.size
            places = ()
            if self.bytes[frame + 12 : frame + 14] == ETHERNET_IPV4:
                places = tuple(frame + place for place in ADDRESSES)
            known = tuple((place, self.bytes[place]) for place in places)
            self.records.append((at, seconds, known))
            at = frame + captured
        self.first = self.records[0][1]

    def moved(self, begin, other):
        """The packets, from the second `begin` on, between other hosts."""
        out = self.bytes
        for at, seconds, known in self.records:
            struct.pack_into("<I", out, at, begin + seconds - self.first)
            for place, was in known:
                out[place] = was ^ other
        return out


def growth(samples):
    """How much more memory there is at the end than in the middle, in bytes, beyond what is allowed.

    A warm-up does not count, nor do single peaks.

    >>> mib = 1 << 20
    >>> growth([10 * mib] * 3 + [60 * mib] * 9) <= 0
    True
    >>> growth([60 * mib, 60 * mib, 61 * mib, 60 * mib, 90 * mib, 60 * mib, 60 * mib, 61 * mib]) <= 0
    True
    >>> growth([(60 + 3 * hour) * mib for hour in range(24)]) > 0
    True
    """
    quarter = max(1, len(samples) // 4)
    middle = statistics.median(samples[quarter : 2 * quarter] or samples[:1])
    end = statistics.median(samples[-quarter:])
    return end - middle - max(middle * 0.1, 8 << 20)


def resident(pid):
    """Resident memory of a process, in bytes."""
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) << 10
    return 0


def generated(flowpin, folder, connections):
    """Some traces of the same kind."""
    traces = []
    for seed in range(4):
        path = folder / f"{seed}.pcap"
        command = [flowpin, "gen", "mix", "--connections", str(connections)]
        command += ["--seed", str(seed), "-w", str(path), "--no-truth"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        traces.append(Trace(path.read_bytes()))
    return traces


def remove_old(logs):
    """Removes all but the newest logs, as a service does."""
    files = sorted(logs.glob("*"), key=lambda path: path.stat().st_mtime)
    for path in files[:-4]:
        path.unlink()


def soak(args, folder):
    """Memory after each simulated hour, and the run's exit code."""
    traces = generated(args.flowpin, folder, args.connections)
    logs = folder / "logs"
    rules = folder / "soak.rules"
    rules.write_text(RULES)
    command = [args.flowpin, "run", "-r", "-", "-k", "none", "-q", "-l", str(logs)]
    command += ["--rotate", "1 h", "--memory", args.memory, "-S", str(rules), *args.options]
    run = subprocess.Popen(command, stdin=subprocess.PIPE)
    samples, packets = [], 0
    begin = 1_700_000_000 // 3600 * 3600
    try:
        run.stdin.write(traces[0].header)
        rounds = range(0, args.hours * 3600, args.every)
        for nth, second in enumerate(rounds):
            trace = traces[nth % len(traces)]
            run.stdin.write(trace.moved(begin + second, nth % 256))
            packets += len(trace.records)
            if (second + args.every) // 3600 > second // 3600:
                run.stdin.flush()
                samples.append(resident(run.pid))
                hour = (second + args.every) // 3600
                print(f"hour {hour:3}  {packets:10} packets  {samples[-1] >> 20:6} MiB", flush=True)
                remove_old(logs)
        run.stdin.close()
    except BrokenPipeError:
        pass
    return samples, run.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hours", type=int, default=24, help="simulated hours")
    parser.add_argument("--every", type=int, default=60, help="simulated seconds between traces")
    parser.add_argument("--connections", type=int, default=300, help="connections of each trace")
    parser.add_argument("--memory", default="256 MiB", help="--memory of the run")
    parser.add_argument("--flowpin", default="target/release/flowpin", help="the program")
    parser.add_argument("options", nargs="*", help="more options of `flowpin run`, behind --")
    args = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="flowpin-soak-"))
    try:
        samples, code = soak(args, folder)
    finally:
        shutil.rmtree(folder)
    if code != 0 or len(samples) < args.hours:
        sys.exit(f"the run ended with {code} after {len(samples)} hours")
    beyond = growth(samples)
    if beyond > 0:
        sys.exit(f"memory grows: {int(beyond) >> 20} MiB more than is allowed")
    print(f"memory is flat: {min(samples) >> 20} to {max(samples) >> 20} MiB")


if __name__ == "__main__":
    os.environ.setdefault("NO_COLOR", "1")
    main()
