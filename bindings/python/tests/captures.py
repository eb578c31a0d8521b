"""Captures for tests and measurements."""

from __future__ import annotations

import pathlib
import struct
import subprocess
from collections.abc import Iterable

import flowpin


def generate(command: object, path: pathlib.Path, *words: object) -> pathlib.Path:
    """What ``flowpin gen`` makes of these words."""
    command = [command, "gen", *words, "-w", path, "--no-truth"]
    subprocess.run([str(word) for word in command], check=True, capture_output=True)
    return path


def joined(path: pathlib.Path, captures: Iterable[pathlib.Path]) -> pathlib.Path:
    """The packets of captures in one, merged by time."""
    packets = flowpin.packets([str(one) for one in captures])
    return write_pcap(path, ((one.time_ns, one.data) for one in packets))


def write_pcap(path: pathlib.Path, packets: Iterable[tuple[int, bytes]]) -> pathlib.Path:
    """Whole frames of Ethernet, with nanoseconds."""
    with open(path, "wb") as out:
        out.write(struct.pack("=IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262_144, 1))
        for time_ns, data in packets:
            seconds, rest = divmod(time_ns, 1_000_000_000)
            out.write(struct.pack("=IIII", seconds, rest, len(data), len(data)) + data)
    return path
