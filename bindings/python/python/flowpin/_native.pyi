"""The native module: what the rest of the package is made on. Use the package instead."""

from collections.abc import Callable, Iterator, Sequence
from os import PathLike

__version__: str

_Source = tuple[list[str], list[tuple[str, str]], Sequence[object]]
_Progress = Callable[[int, int | None, int], object]

class Grammar:
    """A grammar of a text protocol, compiled: :func:`flowpin.read` takes it as ``grammar``.

    :raises flowpin.GrammarError: the text is refused.
    """

    name: str
    protocol: str
    messages: list[tuple[str, list[str]]]
    warnings: list[str]
    def __init__(self, text: str, name: str = "grammar") -> None: ...
    @staticmethod
    def from_file(path: str | PathLike[str]) -> Grammar:
        """The grammar in a file."""
    def tokens(
        self, data: bytes, condition: str | None = None
    ) -> list[tuple[str | None, int, int]]:
        """The tokens of some bytes, as ``(name, from, to)``, begun in a start condition."""

_Options = tuple[list[tuple[str, list[str]]], list[Grammar]]

class Report:
    """The sums of a run that has ended."""

    packets: int
    frame_bytes: int | None
    first_ns: int | None
    last_ns: int | None
    seconds: float | None
    pipeline: str | None
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

class CapturePacket:
    """A packet as it was captured."""

    number: int
    time_ns: int
    wire_len: int
    link_type: int | None
    data: bytes

class StreamPart:
    """A part of a stream: bytes, a gap, or the end."""

    uid: str
    protocol: str
    client: tuple[str, int]
    server: tuple[str, int]
    to_server: bool
    offset: int
    time_ns: int
    packet_number: int
    data: bytes | None
    gap: int
    end: str | None

class Verdict:
    """A connection, and which protocol it speaks."""

    uid: str
    start_ns: int
    transport: str
    client: tuple[str, int | None]
    server: tuple[str, int | None]
    protocol: str | None
    original: str | None
    rule: str | None
    confidence: str | None
    port_hint: str | None
    packets: int
    frame_bytes: int

class Packets(Iterator[CapturePacket]):
    """The packets of a capture, one by one."""

    def __next__(self) -> CapturePacket: ...
    def report(self) -> Report: ...
    def close(self) -> None: ...

class Streams(Iterator[StreamPart]):
    """The parts of streams, one by one."""

    def __next__(self) -> StreamPart: ...
    def report(self) -> Report: ...
    def close(self) -> None: ...

class Verdicts(Iterator[Verdict]):
    """The verdicts, one by one."""

    def __next__(self) -> Verdict: ...
    def report(self) -> Report: ...
    def close(self) -> None: ...

class Explanations(Iterator[str]):
    """The accounts of packets and of connections, one by one."""

    def __next__(self) -> str: ...
    def report(self) -> Report: ...
    def close(self) -> None: ...

class Splitter:
    """What cuts a capture into splits, each of which begins with a record."""

    HEAD_LEN: int
    RECORD_LEN_MAX: int
    head: bytes
    @staticmethod
    def of(head: bytes) -> Splitter | None: ...
    def guess(self, data: bytes, start: int) -> int | None: ...
    def walk(self, data: bytes, start: int, until: int) -> tuple[int, int] | None: ...

class Items(Iterator[tuple[str, int, bytes]]):
    """What one step of a divided run hands to the next: of a kind, with a number, and bytes."""

    def __next__(self) -> tuple[str, int, bytes]: ...
    def report(self) -> Report: ...

_Data = tuple[str, bytes] | None
_Times = tuple[tuple[int, int, int] | None, int, int]
_Started = tuple[list[int], int | None, int | None]
_Division = tuple[int, list[tuple[str, str]]]
_Whole = tuple[int, int]
_Slice = tuple[int, int | None, bytes]

def survey(
    source: _Source,
    config: str | None,
    options: _Options,
    data: _Data,
    started: _Started | None,
) -> tuple[int, int | None, _Times, list[int] | None, bool, list[tuple[str, str]]]: ...
def clock(
    config: str | None, options: _Options, behind: tuple[list[int], _Times] | None
) -> list[int] | None: ...
def deal(
    source: _Source,
    config: str | None,
    options: _Options,
    data: _Data,
    split: tuple[int, _Started],
    which: tuple[_Division, tuple[int, int | None]],
) -> Items: ...
def part(
    config: str | None,
    options: _Options,
    shares: Iterator[bytes],
    division: _Division,
    part: tuple[int, _Whole, _Slice],
) -> Items: ...
def carry(
    config: str | None,
    options: _Options,
    shares: Iterator[bytes],
    border: tuple[int, bytes],
) -> Items: ...
def slice_border(time_ns: int) -> int: ...
def losses_shared(in_slices: bool) -> list[str]: ...
def joints(config: str | None, options: _Options) -> list[str]: ...
def join(
    source: _Source,
    config: str | None,
    options: _Options,
    notes: Iterator[tuple[int, int, bytes]],
    joint: tuple[str, int],
    whole: _Whole,
) -> Items: ...
def packets(source: _Source, config: str | None, options: _Options) -> Packets: ...
def streams(
    source: _Source, connection: str | None, config: str | None, options: _Options
) -> Streams: ...
def identify(source: _Source, config: str | None, options: _Options) -> Verdicts: ...
def explain(
    source: _Source,
    asked: tuple[int | None, str | None, str | None],
    is_text: bool,
    config: str | None,
    options: _Options,
) -> Explanations: ...
def read(
    source: _Source,
    records: list[str] | None,
    config: str | None,
    options: _Options,
) -> list[Stream]: ...
def options_known() -> list[str]: ...
def options_of_files() -> list[str]: ...
def records_known(config: str | None, options: _Options) -> list[str]: ...
def drain(streams: Sequence[Stream], progress: _Progress | None = None) -> list[Batches]: ...
def write_parquet(
    streams: Sequence[Stream],
    paths: Sequence[str | PathLike[str]],
    progress: _Progress | None = None,
    are_all_made: bool = True,
) -> list[int]: ...
