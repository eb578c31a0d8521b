"""The captures that the repository has, the command, and packets made to measure."""

from __future__ import annotations

import os
import pathlib
import struct
import subprocess
from collections.abc import Iterator

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
CAPTURES = ROOT / "testkit" / "captures"


@pytest.fixture(scope="session")
def command() -> str:
    """The command to compare with."""
    found = os.environ.get("FLOWPIN_BIN")
    if not found:
        pytest.skip("FLOWPIN_BIN names no command to compare with")
    return found


@pytest.fixture
def run(command: str, tmp_path: pathlib.Path):
    """Runs the command, and returns the folder of its Parquet files."""

    def run(*words: object) -> pathlib.Path:
        folder = tmp_path / "run"
        fixed = [command, "run", "-q", "-l", folder, "--format", "parquet", "--force"]
        subprocess.run([str(word) for word in [*fixed, *words]], check=True)
        return folder

    return run


def sorted_rows(table) -> list[str]:
    """In the order of values: that of tasks is Spark's."""
    names = sorted(table.column_names)
    return sorted(str([row[name] for name in names]) for row in table.to_pylist())


def dns_queries(count: int, seconds_between: float = 1.0) -> Iterator[tuple[int, bytes]]:
    """Queries on connections of their own: each is a `conn` and a `dns` record. So far apart that
    few are open at a time."""
    name = bytes([7]) + b"example" + bytes([3]) + b"com" + bytes([0])
    for number in range(count):
        query = struct.pack("!HHHHHH", number % 65536, 0x0100, 1, 0, 0, 0) + name
        query += struct.pack("!HH", 1, 1)
        udp = struct.pack("!HHHH", 1024 + number % 60000, 53, 8 + len(query), 0) + query
        source = struct.pack("!I", 0x0A000000 + number // 60000)
        ip = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0)
        ip += source + bytes([10, 255, 0, 1])
        time = 1_700_000_000_000_000_000 + int(number * seconds_between * 1e9)
        yield time, bytes(12) + b"\x08\x00" + ip + udp


#: Without checksums, which the packets above lack.
UNCHECKED = {"checksums": "none", "scans": False}
