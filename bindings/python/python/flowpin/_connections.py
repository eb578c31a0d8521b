"""Captures analysed by connection: ``flowpin.spark.analyse(…, by="connection")``.

::

    splits ─► survey ─► the driver adds up ─► deal ─► shuffle ─► parts ─┬─► records
              (1 pass)   numbers, clocks     (2 pass)  by part  ▲       ├─► notes ─► join ─► scans, alerts
                                                                └───────┴─ what the next slice needs

Each step is the engine's own (``engine/src/parts``), so the records are those of one run over all
captures. This module decides who does what, and in which order.
"""

from __future__ import annotations

import os
import pickle
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import reduce
from itertools import chain
from typing import IO, Any

import pyarrow
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from . import _native
from ._errors import CapWarning, DamagedCaptureWarning, OptionError
from ._options import NO_GRAMMAR, words
from ._slices import Spool, spans
from ._splits import Driver, Job, Settled, Span

#: Options of runs that are not divided; what else is refused, the engine says.
_REFUSED = {
    "pipeline": "each part has one thread",
    "stats": "there is a file of it for each run",
}

#: Options that are not the engine's.
OWN = ("parts", "split_bytes", "damaged", "slice")

_SPLIT_BYTES = 64 << 20


def check(options: Mapping[str, Any]) -> None:
    """Refuses what keeps a run from being divided, before anything is done."""
    for name in options:
        if name in _REFUSED:
            raise OptionError(f"{name}: not with by='connection', as {_REFUSED[name]}", name)
    engine = {name: value for name, value in options.items() if name not in (*OWN, "config")}
    given = words(engine)
    if given[1]:
        raise OptionError(NO_GRAMMAR, "grammar")
    place = options.get("config")
    config = None if place is None else os.fspath(place)
    _native.clock(config, given, None)
    # Rules that are refused are told of here.
    _native.joints(config, given)


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
    config = None if own["config"] is None else os.fspath(own["config"])
    given = words(options)
    context = spark.sparkContext
    parts = min(256, max(1, int(own["parts"] or context.defaultParallelism)))
    job = Job(given, config, opened, parts)
    driver = Driver(spark, job, int(own["split_bytes"] or _SPLIT_BYTES))
    splits, damage, job.whole = driver.settle(paths)
    job.single = paths[0] if len(paths) == 1 else None
    _tell_damage(damage, own["damaged"] == "fail")
    slices = spans(splits, _slice_ns(own["slice"]))
    done = _run(spark, job, splits, slices)
    # Control connections and what they announce belong together: once more, with them in one part.
    while hosts := _hosts(_all(done)) - set(job.hosts):
        for records in done:
            records.unpersist()
        job = replace(job, hosts=sorted({*job.hosts, *hosts}))
        done = _run(spark, job, splits, slices)
    records = _all(done)
    joined = _joined(job, records)
    _tell_losses(records, joined, len(slices) > 1)
    return {kind: _of_kind(records, joined, kind, *schemas[kind]) for kind in kinds}


def _slice_ns(given: timedelta | float | None) -> int | None:
    if given is None:
        return None
    seconds = given.total_seconds() if isinstance(given, timedelta) else float(given)
    if seconds < 2:
        raise OptionError(f"slice={given!r}: a slice has two seconds at least", "slice")
    return int(seconds * 1e9)


def _run(
    spark: SparkSession, job: Job, splits: Sequence[Settled], slices: Sequence[Span]
) -> list[DataFrame]:
    """Analyses one slice after the other: rows of kind, part, number and bytes."""
    done: list[DataFrame] = []
    for span in slices:
        own = [split for split in splits if split.is_in(span)]
        records = _slice(spark, job, own, span, done)
        if len(slices) > 1 and spark.sparkContext.getCheckpointDir():
            # What was shuffled for it is not needed any more.
            records = records.checkpoint()
        else:
            records = records.persist()
        if len(slices) > 1:
            # Now, not when the last one needs it: so no more than a slice is moved at a time.
            records.count()
        done.append(records)
    return done


def _all(done: Sequence[DataFrame]) -> DataFrame:
    return reduce(DataFrame.unionByName, done)


def _slice(
    spark: SparkSession,
    job: Job,
    splits: Sequence[Settled],
    span: Span,
    before: Sequence[DataFrame],
) -> DataFrame:
    """Deals the packets of a slice out, and analyses the parts."""

    def analyse_part(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        return _analysed(job, span, batches)

    shares = shares_of(spark, job, splits, span)
    for handed in _handed_on(before, span):
        shares = shares.unionByName(handed)
    columns = "kind string, part int, number decimal(20, 0), data binary"
    return by_part(job, shares).mapInArrow(analyse_part, columns)


def shares_of(
    spark: SparkSession, job: Job, splits: Sequence[Settled], span: Span
) -> DataFrame:
    """The packets of a slice, with the part of each."""

    def deal(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        for batch in batches:
            for split in batch.column(0).to_pylist():
                yield from _dealt(job, span, pickle.loads(split))

    # A row for each split, in a task of its own: no task gets more than it needs.
    pickled = [(bytearray(pickle.dumps(split)),) for split in splits]
    tasks = spark.sparkContext.parallelize(pickled, max(1, len(pickled)))
    rows = spark.createDataFrame(tasks, "split binary")
    return rows.mapInArrow(deal, "part int, number long, share binary")


def by_part(job: Job, shares: DataFrame) -> DataFrame:
    """Each part's in a task of their own, in order."""
    moved = shares.repartitionById(job.parts + 2, shares["part"])
    return moved.sortWithinPartitions("number")


def _handed_on(before: Sequence[DataFrame], span: Span) -> Iterator[DataFrame]:
    """What the slices before a slice have for it."""
    wanted = [(records, "'.kept'") for records in before if span[1] is None]
    if before:
        wanted.append((before[-1], "'.open', '.carried'"))
    for records, kinds in wanted:
        rows = records.where(f"kind in ({kinds})")
        yield rows.selectExpr("part", "cast(number as long) number", "data share")


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


def _dealt(job: Job, span: Span, settled: Settled) -> Iterator[pyarrow.RecordBatch]:
    known = (settled.packets_before, settled.started)
    which = (job.division, span)

    def start(source: Any, data: Any) -> Any:
        return _native.deal(source, job.config, job.given, data, known, which)

    for part, number, share in job.started(settled.split, True, start):
        yield pyarrow.RecordBatch.from_pylist(
            [{"part": int(part), "number": number, "share": share}], _SHARES
        )


def _analysed(
    job: Job, span: Span, batches: Iterable[pyarrow.RecordBatch]
) -> Iterator[pyarrow.RecordBatch]:
    shares = _shares(batches)
    first = next(shares, None)
    if first is None:
        return
    part, number, opened = first
    begin, end = span
    has_shards = part < job.parts
    if end is not None and not has_shards:
        # What this part has is decided over everything: in the last slice.
        for _, number, share in chain([first], shares):
            yield _row(".kept", part, number, share)
        return
    if number != _OPEN:
        shares, opened = chain([first], shares), b""
    which = (part, job.whole, (begin if has_shards else 0, end, opened))
    with Spool(share for _, _, share in shares) as spool:
        given = spool if end is not None else spool.source
        items = _native.part(job.config, job.given, given, job.division, which)
        for kind, number, data in items:
            if kind == ".open":
                number, opened = _OPEN, data
            yield _row(kind, part, number, data)
        for name, count in items.report().losses.items():
            yield _row(f".lost {name}", part, count, b"")
        if end is not None:
            again = spool.again()
            for kind, number, data in _native.carry(job.config, job.given, again, (end, opened)):
                yield _row(kind, part, number, data)


#: The number of what is open, before those of all shares.
_OPEN = -1


def _row(kind: str, part: int, number: int, data: bytes) -> pyarrow.RecordBatch:
    row = {"kind": kind, "part": part, "number": number, "data": data}
    return pyarrow.RecordBatch.from_pylist([row], _ROWS)


def _shares(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[tuple[int, int, bytes]]:
    for batch in batches:
        parts, numbers, shares = batch.columns
        for nth in range(batch.num_rows):
            yield parts[nth].as_py(), numbers[nth].as_py(), shares[nth].as_py()


def _hosts(records: DataFrame) -> set[tuple[str, str]]:
    rows = records.where("kind = '.hosts'").select("data").distinct().collect()
    pairs = (sorted(bytes(row[0]).decode().split()) for row in rows)
    return {(one, other) for one, other in pairs}


def _joined(job: Job, records: DataFrame) -> DataFrame:
    """What is decided from the notes of all parts."""
    joints = _native.joints(job.config, job.given)
    decided = [_decided(job, records, one) for one in joints]
    return reduce(DataFrame.unionByName, decided, records.where("false")).persist()


def _decided(job: Job, records: DataFrame, joint: str) -> DataFrame:
    """One of these things, by one task."""

    def decide(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        def notes() -> Iterator[tuple[int, int, bytes]]:
            for batch in batches:
                for row in batch.to_pylist():
                    yield row["part"], int(row["number"]), row["data"]

        which = (joint, job.parts + 2)
        paths = [job.single] if job.single else []
        items = _native.join((paths, [], []), job.config, job.given, notes(), which, job.whole)
        for kind, number, data in items:
            yield _row(kind, -1, number, data)
        for name, count in items.report().losses.items():
            yield _row(f".lost {name}", -1, count, b"")

    notes = records.where(f"kind = '.{joint}'").select("part", "number", "data")
    in_order = notes.coalesce(1).sortWithinPartitions("number", "part")
    columns = "kind string, part int, number decimal(20, 0), data binary"
    return in_order.mapInArrow(decide, columns)


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


def _tell_losses(records: DataFrame, joined: DataFrame, in_slices: bool) -> None:
    """Where a cap was reached, one run would have reached it elsewhere."""
    lines = records.unionByName(joined).where("kind like '.lost %'")
    rows = lines.select("kind").distinct().collect()
    lost = {row[0].removeprefix(".lost ") for row in rows}
    shared = sorted(lost.intersection(_native.losses_shared(in_slices)))
    if shared:
        counted = ", ".join(shared)
        text = f"records may differ from those of one run, as limits were reached: {counted}"
        warnings.warn(f"{text}; give more memory", CapWarning, stacklevel=4)
