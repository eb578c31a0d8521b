"""The splits of captures: what each of several machines reads, and what it has to know of the rest.

The first pass finds where records begin, how many packets there are, and what their times do to
the clock; the driver adds it up. A border that is a guess counts once the split before has come to
it: so nothing is lost or doubled.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import IO, Any

from pyspark.sql import SparkSession

from . import _native
from ._options import Given
from ._source import resolve

#: Behind a split's end: enough to see when the next packet came. A short one is whole there, so
#: that who looks has to know how many packets are the split's.
_PEEK = 64

#: The clock of the split before, the time of the first packet behind the split if its bytes do not
#: tell, and how many packets it has if these go on behind them.
Started = tuple[list[int], "int | None", "int | None"]


@dataclass(frozen=True)
class Split:
    """What one task reads: whole captures, merged by time, or some bytes of one."""

    paths: tuple[str, ...]
    #: The bytes before the first record, of captures that are cut.
    head: bytes = b""
    #: Where the task looks for its first record, or where that is.
    start: int = 0
    is_border: bool = True
    #: It ends with the record that begins before this place.
    until: int | None = None
    size: int = 0


@dataclass(frozen=True)
class Surveyed:
    """What is known about a split."""

    split: Split
    packets: int
    first: int | None
    times: Any
    is_silent: bool
    clock: list[int] | None = None
    damage: tuple[tuple[str, str], ...] = ()
    #: Where the next split's first record is.
    end: int | None = None

    def started(self, clock: list[int], following: int | None) -> Started:
        return clock, following, None if self.split.until is None else self.packets


@dataclass(frozen=True)
class Settled:
    """A split, and where in the whole input it is."""

    split: Split
    packets_before: int
    started: Started
    #: Stream time: at the first packet or before it, and at the end.
    begin: int
    end: int

    def is_in(self, span: Span) -> bool:
        """Whether it may have packets of a slice."""
        begin, end = span
        return self.end >= begin and (end is None or self.begin < end)


#: From when to when a slice goes; the last one has no end.
Span = tuple[int, "int | None"]


@dataclass
class Job:
    """What all tasks know."""

    given: Given
    config: str | None
    opened: Callable[[str], str | IO[bytes]]
    parts: int
    hosts: list[tuple[str, str]] = field(default_factory=list)
    whole: tuple[int, int] = (0, 0)
    #: The capture, if there is one alone.
    single: str | None = None

    @property
    def division(self) -> tuple[int, list[tuple[str, str]]]:
        return self.parts, self.hosts

    def source(self, split: Split, peeks: bool) -> tuple[Any, tuple[str, bytes] | None]:
        """The captures of a split, as the engine takes them: a source, or bytes. It ``peeks`` at
        what comes behind."""
        if split.until is None:
            return resolve([self.opened(path) for path in split.paths], 1), None
        [path] = split.paths
        end = min(split.size, split.until + _PEEK) if peeks else split.until
        return ([], [], []), (path, split.head + self.read(path, split.start, end))

    def read(self, path: str, start: int, end: int) -> bytes:
        with self.binary(path) as file:
            file.seek(start)
            return file.read(end - start)

    def binary(self, path: str) -> IO[bytes]:
        opened = self.opened(path)
        return open(opened, "rb") if isinstance(opened, str) else opened

    def started(self, split: Split, peeks: bool, start: Callable[[Any, Any], Any]) -> Any:
        (paths, names, feeders), data = self.source(split, peeks)
        for feeder in feeders:
            feeder.start()
        try:
            return start((paths, names, feeders), data)
        finally:
            for feeder in feeders:
                feeder.opened()


class Driver:
    """Finds the splits, and what each begins with."""

    def __init__(self, spark: SparkSession, job: Job, split_bytes: int) -> None:
        self._context = spark.sparkContext
        self._job = job
        self._split_bytes = max(4, split_bytes // 4 * 4)

    def settle(
        self, paths: Sequence[str]
    ) -> tuple[list[Settled], list[tuple[str, str]], tuple[int, int]]:
        """The splits in order, damage, and where the input ends."""
        captures = [self._cut(path) for path in paths]
        found = iter(self._survey([split for capture in captures for split in capture]))
        runs = [self._chained(capture, [next(found) for _ in capture]) for capture in captures]
        damage = [each for run in runs for one in run for each in one.damage]
        ordered = self._in_order(runs)
        clock = _native.clock(self._job.config, self._job.given, None)
        assert clock is not None
        settled: list[Settled] = []
        packets = 0
        for place, one in enumerate(ordered):
            following = _first_behind(ordered, place)
            before, times = clock, one.times[0]
            begin = max(clock[1], times[0] if times else 0)
            over = None
            if not one.is_silent:
                over = _native.clock(self._job.config, self._job.given, (clock, one.times))
            if over is None:
                # Its times are such that they have to be taken one by one.
                [again] = self._survey([one.split], one.started(clock, following))
                assert again is not None and again.clock is not None
                over, begin = again.clock, clock[1]
            clock = over
            started = one.started(before, following)
            settled.append(Settled(one.split, packets, started, begin, clock[1]))
            packets += one.packets
        return settled, damage, (packets, clock[1])

    def _cut(self, path: str) -> list[Split]:
        """The splits of a capture, where they seem to begin."""
        with self._job.binary(path) as file:
            if not file.seekable():
                return [Split((path,))]
            head = file.read(_native.Splitter.HEAD_LEN)
            size = file.seek(0, os.SEEK_END)
        splitter = _native.Splitter.of(head)
        if splitter is None or size <= self._split_bytes:
            return [Split((path,))]
        begin = len(splitter.head)
        cuts = [at for at in range(self._split_bytes, size, self._split_bytes) if at > begin]
        starts, ends = [begin, *cuts], [*cuts, size]
        return [
            Split((path,), splitter.head, start, start == begin, until, size)
            for start, until in zip(starts, ends)
        ]

    def _survey(
        self, splits: Sequence[Split], started: Started | None = None
    ) -> list[Surveyed | None]:
        if not splits:
            return []
        job = self._job
        tasks = self._context.parallelize(splits, len(splits))
        found: list[Surveyed | None] = tasks.map(lambda one: _surveyed(job, one, started)).collect()
        return found

    def _chained(self, capture: list[Split], found: list[Surveyed | None]) -> list[Surveyed]:
        """The splits of one capture, each from where the one before has ended."""
        if capture[0].until is None:
            return [one for one in found if one is not None]
        chained: list[Surveyed] = []
        border: int | None = capture[0].start
        for split, one in zip(capture, found):
            if one is None or one.split.start != border:
                # It seemed to begin elsewhere: a packet carries what looks like records.
                assert border is not None
                [one] = self._survey([replace(split, start=border, is_border=True)])
            if one is None:
                break
            border = one.end
            if one.packets:
                chained.append(one)
        else:
            if chained:
                return chained
        # It is not what it seemed: one task reads it from its beginning.
        return self._whole(capture[0].paths)

    def _whole(self, paths: tuple[str, ...]) -> list[Surveyed]:
        return [one for one in self._survey([Split(paths)]) if one is not None]

    def _in_order(self, runs: list[list[Surveyed]]) -> list[Surveyed]:
        """The splits by time; captures that overlap are merged by one task."""
        spans = [self._span(run) for run in runs]
        begun = [(first, nth) for nth, (first, _) in enumerate(spans) if first is not None]
        groups: list[list[int]] = []
        latest = -1
        for first, nth in sorted(begun):
            # At the same time, the capture that was named first comes first.
            is_behind = not groups or first > latest or first == latest and nth > max(groups[-1])
            if is_behind:
                groups.append([])
            groups[-1].append(nth)
            latest = max(latest, spans[nth][1])
        ordered: list[Surveyed] = []
        for group in groups:
            if len(group) == 1:
                ordered.extend(runs[group[0]])
            else:
                paths = [path for nth in sorted(group) for path in runs[nth][0].split.paths]
                ordered.extend(self._whole(tuple(paths)))
        return ordered

    def _span(self, run: list[Surveyed]) -> tuple[int | None, int]:
        """The times of the first packet and of the latest, whatever the filter leaves out."""
        texts, grammars = self._job.given
        plain = [one for one in texts if one[0] not in ("filter", "since", "until")]
        seen: list[Surveyed | None] = list(run)
        if len(plain) < len(texts):
            job = replace(self._job, given=(plain, grammars))
            tasks = self._context.parallelize([one.split for one in run], len(run))
            seen = tasks.map(lambda split: _surveyed(job, split, None)).collect()
        spans = [one.times[0] for one in seen if one is not None and one.times[0] is not None]
        return run[0].first, max((greatest for _, _, greatest in spans), default=0)


def _surveyed(job: Job, split: Split, started: Started | None) -> Surveyed | None:
    """Surveys a split; none if it cannot be one."""
    end = None
    if split.until is not None and started is None:
        splitter = _native.Splitter.of(split.head + bytes(8))
        if splitter is None:
            return None
        [path] = split.paths
        stop = min(split.size, split.until + _native.Splitter.RECORD_LEN_MAX)
        data = job.read(path, split.start, max(stop, split.start))
        until = split.until - split.start
        # Without a guess, a record of the split before seems to reach over all of this one.
        start = 0 if split.is_border else splitter.guess(data, 0)
        start = max(0, until) if start is None else start
        walked = (start, 0) if start >= until else splitter.walk(data, start, until)
        if walked is None:
            return None
        end = split.start + walked[0]
        split = replace(split, start=split.start + start, is_border=True, until=end)
        if walked[1] == 0:
            return Surveyed(split, 0, None, (None, 0, 0), False, end=end)

    def start_survey(source: Any, data: Any) -> Any:
        return _native.survey(source, job.config, job.given, data, started)

    peeks = started is not None
    packets, first, times, behind, is_silent, damage = job.started(split, peeks, start_survey)
    return Surveyed(split, packets, first, times, is_silent, behind, tuple(damage), end)


def _first_behind(ordered: Sequence[Surveyed], place: int) -> int | None:
    """The time of the first packet of the captures behind a split."""
    here = ordered[place].split.paths
    for one in ordered[place + 1 :]:
        if one.split.paths != here and one.first is not None:
            return one.first
    return None
