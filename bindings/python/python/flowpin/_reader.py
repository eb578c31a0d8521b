"""The records of a run: a reader for each kind, each of which is a stream that is read once."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

from . import _native
from ._progress import ProgressCallback, bar, close

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

DtypeBackend = Literal["numpy", "pyarrow"]


class Reader:
    """The records of one kind, in the order of a run's output.

    It is a stream: rows come while the capture is read, and can be read once. Any program that takes
    Arrow's C stream takes it (``pyarrow.table(reader)``, ``polars.DataFrame(reader)``, a DuckDB
    query that names the variable). Its own methods end at once on Ctrl-C; other programs report
    that as an error of theirs first.
    """

    def __init__(self, stream: _native.Stream, progress: bool | ProgressCallback = False) -> None:
        self._stream = stream
        self._progress = progress

    @property
    def name(self) -> str:
        """The kind of records: ``conn``, ``http``, …."""
        return self._stream.name

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return self._stream.columns

    @property
    def schema(self) -> pyarrow.Schema:
        """The columns as pyarrow describes them; each has its meaning as metadata."""
        import pyarrow

        return pyarrow.schema(self._stream)

    def __arrow_c_schema__(self) -> object:
        return self._stream.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._stream.__arrow_c_stream__(requested_schema)

    def to_arrow(self) -> pyarrow.Table:
        """All records as a pyarrow table."""
        import pyarrow

        return pyarrow.table(self._drained())

    def to_pandas(self, dtype_backend: DtypeBackend = "numpy") -> pandas.DataFrame:
        """All records as a pandas data frame.

        With ``dtype_backend="pyarrow"`` the columns keep Arrow's types: whole numbers that may be
        missing stay whole numbers, and nothing is copied.
        """
        return _to_pandas(self.to_arrow(), dtype_backend)

    def to_polars(self) -> polars.DataFrame:
        """All records as a Polars data frame."""
        import polars

        return polars.DataFrame(self._drained())

    def write_parquet(self, path: str | os.PathLike[str]) -> int:
        """Writes all records to a Parquet file, with bounded memory, and returns their number.

        The file is there when it is whole, and not before. It needs no other package.
        """
        callback = bar(self._progress)
        try:
            return _native.write_parquet([self._stream], [path], callback)[0]
        finally:
            close(callback)

    def __iter__(self) -> Iterator[pyarrow.RecordBatch]:
        """The records in batches, as they come."""
        import pyarrow

        while (batches := self._stream.next()) is not None:
            yield from pyarrow.table(batches).to_batches()

    def report(self) -> _native.Report:
        """The sums of the run; waits for its end, which comes when its records are read."""
        return self._stream.report()

    def close(self) -> None:
        """No more of these records are wanted."""
        self._stream.close()

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        state = ", read" if self._stream.is_consumed else ""
        return f"<flowpin.Reader of {self.name}: {len(self.columns)} columns{state}>"

    def _drained(self) -> _native.Batches:
        callback = bar(self._progress)
        try:
            return _native.drain([self._stream], callback)[0]
        finally:
            close(callback)


class Records(Mapping[str, Reader]):
    """The readers of one run, by kind of records.

    They can be read at the same time, or one after the other: rows that wait for a reader while
    another is read wait in memory, and beyond 64 MiB in a file in the folder for temporary files.
    """

    def __init__(
        self, streams: list[_native.Stream], progress: bool | ProgressCallback = False
    ) -> None:
        self._readers = {stream.name: Reader(stream, progress) for stream in streams}
        self._streams = streams
        self._progress = progress

    def __getitem__(self, name: str) -> Reader:
        try:
            return self._readers[name]
        except KeyError:
            known = ", ".join(self._readers)
            raise KeyError(f"no records `{name}` are read; there are {known}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._readers)

    def __len__(self) -> int:
        return len(self._readers)

    def to_arrow(self) -> dict[str, pyarrow.Table]:
        """All records of all kinds that there are any of, as pyarrow tables."""
        import pyarrow

        return {name: pyarrow.table(batches) for name, batches in self._drained().items()}

    def to_pandas(self, dtype_backend: DtypeBackend = "numpy") -> dict[str, pandas.DataFrame]:
        """All records of all kinds that there are any of, as pandas data frames."""
        tables = self.to_arrow().items()
        return {name: _to_pandas(table, dtype_backend) for name, table in tables}

    def to_polars(self) -> dict[str, polars.DataFrame]:
        """All records of all kinds that there are any of, as Polars data frames."""
        import polars

        return {name: polars.DataFrame(batches) for name, batches in self._drained().items()}

    def write_parquet(self, folder: str | os.PathLike[str]) -> dict[str, int]:
        """Writes ``KIND.parquet`` for each kind that there are records of, with bounded memory.

        Returns how many there are of each.
        """
        os.makedirs(folder, exist_ok=True)
        paths = [os.path.join(folder, f"{name}.parquet") for name in self._readers]
        callback = bar(self._progress)
        try:
            counts = _native.write_parquet(self._streams, paths, callback, False)
        finally:
            close(callback)
        return {name: count for name, count in zip(self._readers, counts) if count}

    def report(self) -> _native.Report:
        """The sums of the run; waits for its end, which comes when its records are read."""
        return self._streams[0].report()

    @property
    def spilled_bytes(self) -> int:
        """Bytes of rows that had to wait in a file so far."""
        return self._streams[0].spilled_bytes

    def close(self) -> None:
        """No more records are wanted: the run ends."""
        for reader in self._readers.values():
            reader.close()

    def __enter__(self) -> Records:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<flowpin.Records: {', '.join(self._readers)}>"

    def _drained(self) -> dict[str, _native.Batches]:
        callback = bar(self._progress)
        try:
            drained = _native.drain(self._streams, callback)
        finally:
            close(callback)
        pairs = zip(self._readers, drained)
        return {name: batches for name, batches in pairs if batches.num_rows}


def _to_pandas(table: Any, dtype_backend: DtypeBackend) -> pandas.DataFrame:
    if dtype_backend == "numpy":
        return table.to_pandas()
    import pandas

    return table.to_pandas(types_mapper=pandas.ArrowDtype)
