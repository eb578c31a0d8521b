"""Slices of time: an archive is analysed one stretch of stream time after the other."""

from __future__ import annotations

import struct
import tempfile
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from types import TracebackType

from . import _native
from ._splits import Settled, Span

_LEN = struct.Struct("=Q")


def spans(splits: Sequence[Settled], slice_ns: int | None) -> list[Span]:
    """The slices of the input; those in which there is nothing belong to the one before."""
    borders: list[int] = []
    if slice_ns is not None and splits:
        ends = [split.end for split in splits]
        border = _native.slice_border(splits[0].begin + slice_ns)
        while border <= ends[-1]:
            # Over a pause at once.
            following = splits[bisect_left(ends, border)]
            border = max(border, _native.slice_border(following.begin))
            borders.append(border)
            border = _native.slice_border(border + slice_ns)
    untils: list[int | None] = [*borders, None]
    return list(zip([0, *borders], untils))


class Spool:
    """Passes shares on, and keeps them in a file to be read again."""

    def __init__(self, source: Iterator[bytes]) -> None:
        self.source = source
        # It has no name, and goes with the process.
        self._file = tempfile.TemporaryFile()

    def __enter__(self) -> Spool:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def __iter__(self) -> Spool:
        return self

    def __next__(self) -> bytes:
        share = next(self.source)
        self._file.write(_LEN.pack(len(share)))
        self._file.write(share)
        return share

    def again(self) -> Iterator[bytes]:
        """All that was passed on."""
        self._file.seek(0)
        while size := self._file.read(_LEN.size):
            yield self._file.read(_LEN.unpack(size)[0])
