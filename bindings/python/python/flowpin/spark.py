"""Captures as a data source of Apache Spark (4.1 and later).

>>> import flowpin.spark
>>> flowpin.spark.register(spark)
>>> http = spark.read.format("flowpin").option("record", "http").load("/captures/*.pcap.gz")

or, for all kinds of records at once, as a mapping from names to data frames:

>>> records = flowpin.spark.analyse(spark, "/captures")
>>> records["conn"].groupBy("proto").count().show()

By file nothing is shuffled: a file, or with ``group="folder"`` all files of a folder together, is read
whole by one task, and its rows are those of ``flowpin.read`` on the same files. A connection that goes
on in the next file has a record in each. With ``by="connection"`` all captures are one input.
"""

from __future__ import annotations

import glob
import json
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any

import pyarrow
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from . import read
from ._errors import DamagedCaptureWarning, InputError, OptionError
from ._options import NO_GRAMMAR, placed, words
from ._source import Capture

__all__ = ["analyse", "register"]

#: A capture without a packet: what columns there are does not depend on traffic.
_EMPTY = bytes.fromhex("d4c3b2a1020004000000000000000000ffff000001000000")

#: What captures are called, packed or not.
_NAMES = (".pcap", ".pcapng", ".cap", ".dmp")
_PACKED = (".gz", ".zst", ".lz4", ".xz")

#: Options of the data source; all others are those of ``flowpin run``.
_OWN = frozenset({"path", "paths", "record", "group", "damaged"})

#: What is no option of the engine's.
_WITHOUT_WORDS = frozenset({"config", "damaged"})


def register(spark: SparkSession) -> None:
    """Makes ``spark.read.format("flowpin")`` known to a session.

    Options: ``record``, the kind of records (``conn``); ``group``, ``file`` or ``folder``: what one
    task reads (``file``); ``damaged``, ``accept`` or ``fail``: whether a capture that breaks off
    gives the records before that place, or fails its task (``accept``); and every option that
    :func:`flowpin.read` takes. A task has one thread unless ``pipeline`` says otherwise.
    """
    spark.dataSource.register(FlowpinSource)


def analyse(
    spark: SparkSession,
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    records: Sequence[str] | None = None,
    *,
    by: str = "file",
    group: str = "file",
    **options: Any,
) -> Mapping[str, DataFrame]:
    """Data frames with the records of captures, by kind. Each reads the captures when it is used.

    :param paths: paths of captures or of folders, patterns for paths, URLs that fsspec knows.
    :param records: the kinds; all of them if there are none.
    :param by: ``"file"``: each file, or group of files, is analysed by one task.
        ``"connection"``: all captures are one input; packets are shuffled, so that each task has
        all of some connections. The analysis is done at once, and its records are kept by Spark.
    :param group: ``"file"`` or ``"folder"``: by file, what one task reads.
    :param options: as for :func:`flowpin.read`; files that they name have to be where all tasks
        find them. By connection also ``parts``, how many tasks have
        connections (1 to 256; as many as Spark has cores), and ``split_bytes``, how much of a
        capture one task reads (64 MiB).
    :raises OptionError: an option or a kind of records is wrong.
    :raises InputError: there is no capture.
    """
    if by not in ("file", "connection"):
        text = f"there is no analysis by {by!r}; use by='file' or by='connection'"
        raise OptionError(text, "by")
    options = placed(options)
    given = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    names = [os.fspath(path) for path in given]
    if by == "connection":
        return _by_connection(spark, names, records, options)
    register(spark)
    kinds = list(records) if records is not None else _kinds(options)
    found = {}
    for kind in kinds:
        source = spark.read.format("flowpin").option("record", kind).option("group", group)
        for name, texts in _as_options(options):
            source = source.option(name, texts)
        found[kind] = source.option("paths", json.dumps(names)).load()
    return found


def _by_connection(
    spark: SparkSession,
    names: Sequence[str],
    records: Sequence[str] | None,
    options: dict[str, Any],
) -> Mapping[str, DataFrame]:
    from ._connections import OWN, analyse, check

    if not hasattr(spark, "sparkContext"):
        raise OptionError("by='connection' needs a classic session, not Spark Connect", "by")
    check(options)
    engine = {name: value for name, value in options.items() if name not in OWN}
    kinds = list(records) if records is not None else _kinds(engine)
    schemas = {kind: (_own_schema(kind, engine), _schema(kind, engine)) for kind in kinds}
    return analyse(spark, _found(names), _opened, kinds, schemas, options)


def _kinds(options: Mapping[str, Any]) -> list[str]:
    return list(read(_EMPTY, **{name: one for name, one in options.items() if name not in _OWN}))


def _as_options(options: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """As Spark has them: texts. Several values are a list in JSON, as `_engine` reads them."""
    own = {name: value for name, value in options.items() if name not in _WITHOUT_WORDS}
    texts, grammars = words(own)
    if grammars:
        raise OptionError(NO_GRAMMAR, "grammar")
    for name, values in texts:
        yield name, values[0] if len(values) == 1 else json.dumps(values)
    for name in options.keys() & _WITHOUT_WORDS:
        yield name, os.fspath(options[name])


@dataclass
class Group(InputPartition):
    """What one task reads: captures, merged by time."""

    paths: list[str]


class FlowpinSource(DataSource):
    """The data source."""

    @classmethod
    def name(cls) -> str:
        return "flowpin"

    def schema(self) -> StructType:
        return from_arrow_schema(_schema(_record(self.options), _engine(self.options)))

    def reader(self, schema: StructType) -> FlowpinReader:
        return FlowpinReader(dict(self.options))


class FlowpinReader(DataSourceReader):
    """The records of one kind."""

    def __init__(self, options: dict[str, str]) -> None:
        self._options = options

    def partitions(self) -> Sequence[Group]:
        found = _found(_paths(self._options))
        if _choice(self._options, "group", ("file", "folder")) == "file":
            return [Group([path]) for path in found]
        folders: dict[str, list[str]] = {}
        for path in found:
            folders.setdefault(path.rpartition("/")[0], []).append(path)
        return [Group(paths) for paths in folders.values()]

    def read(self, partition: InputPartition) -> Iterator[pyarrow.RecordBatch]:
        assert isinstance(partition, Group)
        schema = _schema(_record(self._options), _engine(self._options))
        fails = _choice(self._options, "damaged", ("accept", "fail")) == "fail"
        with warnings.catch_warnings():
            warnings.simplefilter("error" if fails else "ignore", DamagedCaptureWarning)
            opened: list[Capture] = [_opened(path) for path in partition.paths]
            reader = read(opened, _record(self._options), **_engine(self._options))
            batches = pyarrow.RecordBatchReader.from_stream(reader)
            for batch in batches:
                yield batch.cast(schema)


def _record(options: Mapping[str, str]) -> str:
    return options.get("record", "conn")


def _choice(options: Mapping[str, str], name: str, choices: tuple[str, ...]) -> str:
    word = options.get(name, choices[0])
    if word not in choices:
        raise OptionError(f"{name}={word!r}: use one of {', '.join(choices)}", name)
    return word


def _engine(options: Mapping[str, str]) -> dict[str, Any]:
    own = {name: _values(word) for name, word in options.items() if name not in _OWN}
    return {"pipeline": "1x1", **own}


def _values(word: str) -> str | list[str]:
    if not word.startswith("["):
        return word
    try:
        values = json.loads(word)
    except ValueError:
        return word
    return values if all(isinstance(one, str) for one in values) else word


def _own_schema(record: str, options: Mapping[str, Any]) -> pyarrow.Schema:
    """The columns as the engine has them."""
    its = read(_EMPTY, record, **options).schema
    return pyarrow.schema(list(its))


def _schema(record: str, options: Mapping[str, Any]) -> pyarrow.Schema:
    """The columns, in types that Spark has: it knows no unsigned numbers, and no nanoseconds."""
    its = _own_schema(record, options)
    return pyarrow.schema([pyarrow.field(one.name, _type(one.type)) for one in its])


def _type(its: pyarrow.DataType) -> pyarrow.DataType:
    if pyarrow.types.is_list(its):
        return pyarrow.list_(_type(its.value_type))
    if pyarrow.types.is_uint16(its):
        return pyarrow.int32()
    if pyarrow.types.is_unsigned_integer(its):
        return pyarrow.int64()
    if pyarrow.types.is_timestamp(its):
        return pyarrow.timestamp("us", its.tz)
    return its


def _paths(options: Mapping[str, str]) -> list[str]:
    paths: list[str] = json.loads(options["paths"]) if "paths" in options else []
    if "path" in options:
        paths.append(options["path"])
    if not paths:
        raise OptionError("no capture is named: load(PATH)", "path")
    return paths


def _is_url(path: str) -> bool:
    return "://" in path and not path.startswith("file://")


def _is_capture(path: str) -> bool:
    name = path.lower()
    for packed in _PACKED:
        name = name.removesuffix(packed)
    return name.endswith(_NAMES)


def _found(paths: Sequence[str]) -> list[str]:
    """The captures that paths stand for; those in folders by name."""
    found: list[str] = []
    for path in paths:
        some = _found_by_url(path) if _is_url(path) else _found_here(path.removeprefix("file://"))
        if not some:
            raise InputError(f"{path}: no capture is there; check the path", path)
        found.extend(some)
    return found


def _found_here(path: str) -> list[str]:
    found: list[str] = []
    for one in sorted(glob.glob(path)) or [path]:
        if os.path.isdir(one):
            inside = sorted(os.path.join(top, name) for top, _, names in os.walk(one) for name in names)
            found.extend(name for name in inside if _is_capture(name))
        elif os.path.exists(one):
            found.append(one)
    return [os.path.abspath(one) for one in found]


def _found_by_url(path: str) -> list[str]:
    import fsspec

    system, inside = fsspec.core.url_to_fs(path)
    matched = system.glob(inside) if glob.has_magic(inside) else [inside]
    found: list[str] = []
    for one in matched:
        if system.isdir(one):
            found.extend(name for name in sorted(system.find(one)) if _is_capture(name))
        elif system.exists(one):
            found.append(one)
    return [system.unstrip_protocol(one) for one in found]


def _opened(path: str) -> str | IO[bytes]:
    if not _is_url(path):
        return path
    import fsspec

    opened: IO[bytes] = fsspec.open(path, "rb").open()
    return opened
