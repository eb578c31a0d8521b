"""The native module: what the rest of the package is made on. Use the package instead."""

from collections.abc import Callable, Sequence
from os import PathLike

__version__: str

_Source = tuple[list[str], list[tuple[str, str]], Sequence[object]]
_Options = list[tuple[str, list[str]]]
_Progress = Callable[[int, int | None, int], object]

class Report:
    """The sums of a run that has ended."""

    packets: int
    frame_bytes: int
    first_ns: int | None
    last_ns: int | None
    seconds: float
    pipeline: str
    damage: list[tuple[str, str]]
    losses: dict[str, int]
    stopped_early: bool

class Batches:
    """Rows that are here."""

    num_rows: int
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...

class Stream:
    """The rows of one table, on their way."""

    name: str
    columns: list[str]
    is_consumed: bool
    spilled_bytes: int
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...
    def next(self) -> Batches | None: ...
    def report(self) -> Report: ...
    def progress(self) -> tuple[int, int | None, int]: ...
    def close(self) -> None: ...

def read(
    source: _Source,
    records: list[str] | None,
    config: str | None,
    options: _Options,
) -> list[Stream]: ...
def options_known() -> list[str]: ...
def records_known(config: str | None, options: _Options) -> list[str]: ...
def drain(streams: Sequence[Stream], progress: _Progress | None = None) -> list[Batches]: ...
def write_parquet(
    streams: Sequence[Stream],
    paths: Sequence[str | PathLike[str]],
    progress: _Progress | None = None,
    are_all_made: bool = True,
) -> list[int]: ...
