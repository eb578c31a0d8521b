"""Where packets come from: paths as they are, everything else through a pipe that the engine reads.

A pipe is fed by a thread of Python's: it reads the file-like object or asks the iterator for
packets. What these raise is raised again by who reads the records.
"""

from __future__ import annotations

import glob
import io
import os
import struct
import threading
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from time import monotonic
from typing import Any, Protocol, Union, runtime_checkable

from ._errors import InputError, OptionError
from ._native import CapturePacket


@runtime_checkable
class ReadableFile(Protocol):
    """An open binary file, or what behaves like one (fsspec, S3, a socket's ``makefile("rb")``)."""

    def read(self, size: int = ..., /) -> bytes: ...


#: A packet: one of :func:`flowpin.packets`, or its time (nanoseconds since 1970 as ``int``, seconds as ``float``, or a ``datetime``)
#: and its bytes, from the link layer on; with a third member, its length on the wire.
Packet = Union[
    CapturePacket,
    "tuple[int | float | datetime, bytes]",
    "tuple[int | float | datetime, bytes, int]",
]

Path = Union[str, "os.PathLike[str]"]

#: A capture: a path, a pattern for paths, bytes, an open file, or packets.
Capture = Union[Path, bytes, bytearray, memoryview, ReadableFile, Iterable[Packet]]

#: Captures: one, or several as a list; none where there is an interface.
Source = Union[Capture, "list[Capture]", None]

#: The link type of Ethernet frames, by https://www.tcpdump.org/linktypes.html.
LINKTYPE_ETHERNET = 1


class Feeder:
    """A pipe, and the thread that writes a capture to it."""

    def __init__(self, chunks: Callable[[], Iterator[bytes]]) -> None:
        self._error: BaseException | None = None
        self._chunks = chunks
        self._read_end, self._write_end = os.pipe()
        self.path = f"/dev/fd/{self._read_end}"
        self._thread = threading.Thread(target=self._feed, name="flowpin-feeder", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def opened(self) -> None:
        """The engine has opened the pipe, or never will: our end of it is not needed any more."""
        os.close(self._read_end)

    def check(self) -> None:
        """Raises what reading the capture has raised. Called by the native module."""
        if self._error is not None:
            raise self._error

    def _feed(self) -> None:
        try:
            for chunk in self._chunks():
                view = memoryview(chunk)
                while len(view):
                    view = view[os.write(self._write_end, view) :]
        except BrokenPipeError:
            pass  # The run has ended before its input.
        except BaseException as error:  # It is raised again, by check().
            self._error = error
        finally:
            os.close(self._write_end)


def resolve(
    source: Any, link_type: int
) -> tuple[list[str], list[tuple[str, str]], list[Feeder]]:
    """The paths for the engine, what they are called in messages, and the feeders of pipes."""
    captures = source if isinstance(source, list) and not _are_packets(source) else [source]
    if not captures or source is None:
        raise InputError("no capture is named; give a path, bytes, an open file or packets")
    paths: list[str] = []
    names: list[tuple[str, str]] = []
    feeders: list[Feeder] = []
    for capture in captures:
        if isinstance(capture, (str, os.PathLike)):
            for path in _paths(os.fspath(capture)):
                paths.append(path)
                names.append((path, path))
            continue
        feeder, name = _feeder(capture, link_type)
        feeders.append(feeder)
        paths.append(feeder.path)
        names.append((feeder.path, name))
    return paths, names, feeders


def _are_packets(captures: list[Any]) -> bool:
    return bool(captures) and isinstance(captures[0], (tuple, CapturePacket))


def _paths(path: str) -> list[str]:
    """The path itself if there is something, else what it matches as a pattern."""
    if path == "-":
        raise InputError("`-` is the command's word for standard input; give sys.stdin.buffer")
    if os.path.lexists(path) or not glob.has_magic(path):
        return [path]
    found = sorted(glob.glob(path, recursive=True))
    if not found:
        raise InputError(f"no file matches {path}; check the pattern and the folder", path)
    return found


def _feeder(capture: Any, link_type: int) -> tuple[Feeder, str]:
    if isinstance(capture, (bytes, bytearray, memoryview)):
        file = io.BytesIO(capture)
        return Feeder(lambda: _read(file)), f"<{len(capture)} bytes>"
    if callable(getattr(capture, "read", None)):
        name = getattr(capture, "name", None) or getattr(capture, "path", None)
        return Feeder(lambda: _read(capture)), f"<{name or type(capture).__name__}>"
    if isinstance(capture, Iterable):
        packets = iter(capture)
        return Feeder(lambda: _pcap(packets, link_type)), "<packets>"
    kind = type(capture).__name__
    raise OptionError(
        f"cannot read packets from {kind}; give a path, bytes, an open binary file, or packets "
        "as (time, bytes)",
        "source",
    )


def _read(file: Any) -> Iterator[bytes]:
    while True:
        chunk = file.read(_CHUNK)
        if isinstance(chunk, str):
            raise InputError("the file gives text, not bytes; open it with mode 'rb'")
        if not chunk:
            return
        yield chunk


def _pcap(packets: Iterator[Any], link_type: int) -> Iterator[bytes]:
    """The packets as a pcap file with nanoseconds: all of one link type."""
    chunk = bytearray()
    told = monotonic()
    number = 0
    for number, packet in enumerate(packets, 1):
        try:
            nanos, data, length, link = _parts(packet, link_type)
            if number == 1:
                chunk += _head(link)
                link_type = link
            elif link != link_type:
                raise ValueError(f"its link type is {link}, not {link_type} as before")
            chunk += _RECORD.pack(*divmod(nanos, 1_000_000_000), len(data), length)
            chunk += data
        except (TypeError, ValueError, struct.error) as error:
            raise OptionError(
                f"packet {number} is no (time, bytes) or (time, bytes, length): {error}",
                "source",
            ) from error
        # Packets that come slowly do not wait for others.
        if len(chunk) >= _CHUNK_OF_PACKETS or monotonic() - told > _PATIENCE_S:
            yield bytes(chunk)
            chunk.clear()
            told = monotonic()
    yield bytes(chunk) if number else _head(link_type)


def _head(link_type: int) -> bytes:
    return struct.pack("=IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, _SNAP_LEN, link_type)


def _parts(packet: Any, link_type: int) -> tuple[int, bytes, int, int]:
    """Time in nanoseconds, bytes, length on the wire, link type."""
    if isinstance(packet, CapturePacket):
        link = link_type if packet.link_type is None else packet.link_type
        return packet.time_ns, packet.data, packet.wire_len, link
    time, data, *rest = packet
    return _nanos(time), data, int(rest[0]) if rest else len(data), link_type


def _nanos(time: int | float | datetime) -> int:
    if isinstance(time, int):
        return time
    if isinstance(time, datetime):
        seconds = int(time.replace(microsecond=0).timestamp())
        return seconds * 1_000_000_000 + time.microsecond * 1000
    return round(time * 1e9)


_RECORD = struct.Struct("=IIII")
_SNAP_LEN = 262_144
_CHUNK = 256 * 1024
_CHUNK_OF_PACKETS = 32 * 1024
_PATIENCE_S = 0.05
