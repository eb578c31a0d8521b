"""Captures analysed by connection: ``flowpin.spark.analyse(…, by="connection")``.

::

    splits ─► survey ─► the driver adds up ─► deal ─► shuffle ─► parts ─┬─► records
              (1 pass)   numbers, clocks     (2 pass)  by part          └─► notes ─► join ─► scans

Each step is the engine's own (``engine/src/parts``), so the records are those of one run over all
captures. This module decides who does what, and in which order.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import IO, Any

import pyarrow
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from . import _native
from ._errors import CapWarning, DamagedCaptureWarning, OptionError
from ._options import Given, words
from ._source import resolve

#: Options that have no meaning here, and why.
_REFUSED = {
    "rules": "thresholds of rules count over all connections",
    "host_pairs": "its records are sums over all connections; group the conn records instead",
    "count": "which packets are the first is known only where one machine reads them all",
    "pipeline": "each part has one thread",
    "interface": "live packets are analysed by one machine",
    "extract": "parts would write to folders of their own",
    "output_files": "parts would write to folders of their own",
    "streams": "parts would write to folders of their own",
    "write": "packets are recorded by one run",
    "record_if": "packets are recorded by one run",
    "stats": "there is a file of it for each run",
}

#: Losses that come from a limit which all connections share: one run may have lost others.
_SHARED = ("memory", "evicted", "forgotten", "untracked", "summed", "_connections", "room")

#: Options that are not the engine's.
OWN = ("parts", "split_bytes", "damaged")

_SPLIT_BYTES = 64 << 20
#: Behind a split's end: enough to see when the next packet came.
_PEEK = 64


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


@dataclass(frozen=True)
class Settled:
    """A split, and where in the whole input it is."""

    split: Split
    packets_before: int
    clock: list[int]
    next: int | None


@dataclass
class Job:
    """What all tasks know."""

    given: Given
    config: str | None
    opened: Callable[[str], str | IO[bytes]]
    parts: int
    hosts: list[tuple[str, str]] = field(default_factory=list)
    whole: tuple[int, int] = (0, 0)

    @property
    def division(self) -> tuple[int, list[tuple[str, str]]]:
        return self.parts, self.hosts

    def source(self, split: Split) -> tuple[Any, tuple[str, bytes] | None]:
        """The captures of a split, as the engine takes them: a source, or bytes."""
        if split.until is None:
            return resolve([self.opened(path) for path in split.paths], 1), None
        [path] = split.paths
        end = min(split.size, split.until + _PEEK)
        return ([], [], []), (path, split.head + self.read(path, split.start, end))

    def read(self, path: str, start: int, end: int) -> bytes:
        with self.binary(path) as file:
            file.seek(start)
            return file.read(end - start)

    def binary(self, path: str) -> IO[bytes]:
        opened = self.opened(path)
        return open(opened, "rb") if isinstance(opened, str) else opened

    def started(self, split: Split, start: Callable[[Any, Any], Any]) -> Any:
        (paths, names, feeders), data = self.source(split)
        for feeder in feeders:
            feeder.start()
        try:
            return start((paths, names, feeders), data)
        finally:
            for feeder in feeders:
                feeder.opened()


def analyse(
    spark: SparkSession,
    paths: Sequence[str],
    opened: Callable[[str], str | IO[bytes]],
    kinds: Sequence[str],
    schemas: Mapping[str, tuple[pyarrow.Schema, pyarrow.Schema]],
    options: dict[str, Any],
) -> dict[str, DataFrame]:
    """The records of all captures as one input. ``schemas``: the engine's and Spark's."""
    own = {name: options.pop(name, None) for name in (*OWN, "config")}
    for name in options:
        if name in _REFUSED:
            raise OptionError(f"{name}: not with by='connection', as {_REFUSED[name]}", name)
    config = None if own["config"] is None else os.fspath(own["config"])
    given = words(options)
    if given[1]:
        text = "grammar: a compiled Grammar stays in its process; name its file, which all workers have"
        raise OptionError(text, "grammar")
    context = spark.sparkContext
    parts = min(256, max(1, int(own["parts"] or context.defaultParallelism)))
    job = Job(given, config, opened, parts)
    driver = _Driver(spark, job, int(own["split_bytes"] or _SPLIT_BYTES))
    splits, damage, job.whole = driver.settle(paths)
    _tell_damage(damage, own["damaged"] == "fail")
    records = _run(spark, job, splits)
    # Control connections and what they announce belong together: once more, with them in one part.
    while hosts := _hosts(records) - set(job.hosts):
        records.unpersist()
        job = replace(job, hosts=sorted({*job.hosts, *hosts}))
        records = _run(spark, job, splits)
    joined = _joined(spark, job, records)
    _tell_losses(records, joined)
    return {kind: _of_kind(records, joined, kind, *schemas[kind]) for kind in kinds}


class _Driver:
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
            settled.append(Settled(one.split, packets, clock, following))
            packets += one.packets
            over = None
            if not one.is_silent:
                over = _native.clock(self._job.config, self._job.given, (clock, one.times))
            if over is None:
                # Its times are such that they have to be taken one by one.
                [again] = self._survey([one.split], (clock, following))
                assert again is not None and again.clock is not None
                over = again.clock
            clock = over
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
        self, splits: Sequence[Split], clock: tuple[list[int], int | None] | None = None
    ) -> list[Surveyed | None]:
        if not splits:
            return []
        job = self._job
        tasks = self._context.parallelize(splits, len(splits))
        found: list[Surveyed | None] = tasks.map(lambda one: _surveyed(job, one, clock)).collect()
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


def _surveyed(
    job: Job, split: Split, clock: tuple[list[int], int | None] | None
) -> Surveyed | None:
    """Surveys a split; none if it cannot be one."""
    end = None
    if split.until is not None and clock is None:
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
        return _native.survey(source, job.config, job.given, data, clock)

    packets, first, times, behind, is_silent, damage = job.started(split, start_survey)
    if split.until is not None:
        # What is cut off behind it is the next one's.
        damage.clear()
    return Surveyed(split, packets, first, times, is_silent, behind, tuple(damage), end)


def _first_behind(ordered: Sequence[Surveyed], place: int) -> int | None:
    """The time of the first packet of the captures behind a split."""
    here = ordered[place].split.paths
    for one in ordered[place + 1 :]:
        if one.split.paths != here and one.first is not None:
            return one.first
    return None


def _run(spark: SparkSession, job: Job, splits: Sequence[Settled]) -> DataFrame:
    """Deals out all packets, and analyses the parts: rows of kind, part, number and bytes."""

    def deal(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        for batch in batches:
            for nth in batch.column(0).to_pylist():
                yield from _dealt(job, splits[nth])

    def analyse_part(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        return _analysed(job, batches)

    rows = spark.range(0, len(splits), 1, max(1, len(splits)))
    shares = rows.mapInArrow(deal, "part int, number long, share binary")
    by_part = shares.repartitionById(job.parts + 2, shares["part"]).sortWithinPartitions("number")
    columns = "kind string, part int, number decimal(20, 0), data binary"
    return by_part.mapInArrow(analyse_part, columns).persist()


_SHARES = pyarrow.schema(
    [("part", pyarrow.int32()), ("number", pyarrow.int64()), ("share", pyarrow.binary())]
)
_ROWS = pyarrow.schema(
    [
        ("kind", pyarrow.string()),
        ("part", pyarrow.int32()),
        ("number", pyarrow.decimal128(20, 0)),
        ("data", pyarrow.binary()),
    ]
)


def _dealt(job: Job, settled: Settled) -> Iterator[pyarrow.RecordBatch]:
    known = (settled.packets_before, settled.clock, settled.next)

    def start(source: Any, data: Any) -> Any:
        return _native.deal(source, job.config, job.given, data, known, job.division)

    for part, number, share in job.started(settled.split, start):
        yield pyarrow.RecordBatch.from_pylist(
            [{"part": int(part), "number": number, "share": share}], _SHARES
        )


def _analysed(
    job: Job, batches: Iterable[pyarrow.RecordBatch]
) -> Iterator[pyarrow.RecordBatch]:
    shares = _shares(batches)
    first = next(shares, None)
    if first is None:
        return
    part = first[0]

    def all_shares() -> Iterator[bytes]:
        yield first[1]
        for _, share in shares:
            yield share

    items = _native.part(job.config, job.given, all_shares(), job.division, part, job.whole)
    for kind, number, data in items:
        yield _row(kind, part, number, data)
    for name, count in items.report().losses.items():
        yield _row(f".lost {name}", part, count, b"")


def _row(kind: str, part: int, number: int, data: bytes) -> pyarrow.RecordBatch:
    row = {"kind": kind, "part": part, "number": number, "data": data}
    return pyarrow.RecordBatch.from_pylist([row], _ROWS)


def _shares(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[tuple[int, bytes]]:
    for batch in batches:
        parts, shares = batch.column(0), batch.column(2)
        for nth in range(batch.num_rows):
            yield parts[nth].as_py(), shares[nth].as_py()


def _hosts(records: DataFrame) -> set[tuple[str, str]]:
    rows = records.where("kind = '.hosts'").select("data").distinct().collect()
    pairs = (sorted(bytes(row[0]).decode().split()) for row in rows)
    return {(one, other) for one, other in pairs}


def _joined(spark: SparkSession, job: Job, records: DataFrame) -> DataFrame:
    """What is decided from the notes of all parts, by one task."""

    def decide(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        def notes() -> Iterator[tuple[int, int, bytes]]:
            for batch in batches:
                for row in batch.to_pylist():
                    yield row["part"], int(row["number"]), row["data"]

        items = _native.join(job.config, job.given, notes(), job.parts + 2, job.whole)
        for kind, number, data in items:
            yield _row(kind, -1, number, data)
        for name, count in items.report().losses.items():
            yield _row(f".lost {name}", -1, count, b"")

    notes = records.where("kind = '.scans'").select("part", "number", "data")
    in_order = notes.coalesce(1).sortWithinPartitions("number", "part")
    columns = "kind string, part int, number decimal(20, 0), data binary"
    return in_order.mapInArrow(decide, columns).persist()


def _of_kind(
    records: DataFrame,
    joined: DataFrame,
    kind: str,
    own: pyarrow.Schema,
    schema: pyarrow.Schema,
) -> DataFrame:
    def rows(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        for batch in batches:
            for data in batch.column(0).to_pylist():
                for one in pyarrow.ipc.open_stream(data):
                    yield pyarrow.RecordBatch.from_arrays(one.columns, schema=own).cast(schema)

    all = records.unionByName(joined).where(f"kind = '{kind}'").select("data")
    return all.mapInArrow(rows, from_arrow_schema(schema))


def _tell_damage(damage: Sequence[tuple[str, str]], fails: bool) -> None:
    with warnings.catch_warnings():
        if fails:
            warnings.simplefilter("error", DamagedCaptureWarning)
        for name, what in damage:
            warnings.warn(f"{name}: {what}", DamagedCaptureWarning, stacklevel=4)


def _tell_losses(records: DataFrame, joined: DataFrame) -> None:
    """Where a cap was reached, one run would have reached it elsewhere."""
    rows = records.unionByName(joined).where("kind like '.lost %'").select("kind").distinct().collect()
    lost = sorted({row[0].removeprefix(".lost ") for row in rows})
    shared = [name for name in lost if any(part in name for part in _SHARED)]
    if shared:
        counted = ", ".join(shared)
        text = f"records may differ from those of one run, as limits were reached: {counted}"
        warnings.warn(f"{text}; give more memory", CapWarning, stacklevel=4)
