"""Network captures to tables of connections and messages, on every core.

>>> import flowpin
>>> frame = flowpin.read("capture.pcapng", "conn").to_pandas()

:func:`read` gives the records of ``flowpin run`` as Arrow streams.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, TypeVar, overload

from . import _native
from ._errors import (
    CapWarning,
    ConsumedError,
    DamagedCaptureWarning,
    FlowpinError,
    GrammarError,
    GrammarWarning,
    InputError,
    OptionError,
    RuleWarning,
)
from ._native import (
    CapturePacket,
    Grammar,
    Packets,
    Report,
    StreamPart,
    Streams,
    Verdict,
    Verdicts,
    __version__,
)
from ._options import explained, options, words
from ._progress import ProgressCallback
from ._reader import Reader, Records
from ._source import LINKTYPE_ETHERNET, Capture, Packet, Source, resolve

__all__ = [
    "CapWarning",
    "Capture",
    "CapturePacket",
    "ConsumedError",
    "DamagedCaptureWarning",
    "FlowpinError",
    "Grammar",
    "GrammarError",
    "GrammarWarning",
    "InputError",
    "OptionError",
    "Packet",
    "Packets",
    "Reader",
    "Records",
    "Report",
    "RuleWarning",
    "Source",
    "StreamPart",
    "Streams",
    "Verdict",
    "Verdicts",
    "__version__",
    "explain",
    "identify",
    "options",
    "packets",
    "read",
    "record_kinds",
    "streams",
]

_T = TypeVar("_T")


@overload
def read(
    source: Source,
    records: str,
    *,
    filter: str | None = None,
    config: str | os.PathLike[str] | None = None,
    link_type: int = LINKTYPE_ETHERNET,
    progress: bool | ProgressCallback = False,
    **options: Any,
) -> Reader: ...


@overload
def read(
    source: Source,
    records: Sequence[str] | None = None,
    *,
    filter: str | None = None,
    config: str | os.PathLike[str] | None = None,
    link_type: int = LINKTYPE_ETHERNET,
    progress: bool | ProgressCallback = False,
    **options: Any,
) -> Records: ...


def read(
    source: Source,
    records: str | Sequence[str] | None = None,
    *,
    filter: str | None = None,
    config: str | os.PathLike[str] | None = None,
    link_type: int = LINKTYPE_ETHERNET,
    progress: bool | ProgressCallback = False,
    **options: Any,
) -> Reader | Records:
    """Analyses captures and gives their records as Arrow streams.

    :param source: a path of a capture or of a folder, a pattern for paths (``"day/*.pcap.gz"``),
        bytes of a capture, an open binary file, packets as ``(time, bytes)``, or a list of several
        of these. ``None`` with ``interface="eth0"``: what comes there, until ``close()`` or Ctrl-C.
    :param records: the kind of records (then there is one :class:`Reader`), or several kinds, or
        ``None`` for all kinds (then there are :class:`Records`, a reader for each).
    :param filter: only packets that match this pcap-filter(7) expression.
    :param config: a configuration file, as ``flowpin run -c`` takes it.
    :param link_type: the link type of packets that are given as ``(time, bytes)``.
    :param progress: ``True`` for a bar in the methods that read to the end, or what to call with
        bytes read, bytes to read and packets.
    :param options: any option of ``flowpin run``, with underscores for dashes
        (``timeouts="suricata"``, ``id_seed=7``, ``rules="mine.rules"``); :func:`options` lists
        them. ``grammar`` takes files and :class:`Grammar`.
    :raises InputError: a capture cannot be read.
    :raises OptionError: an option, the filter or the name of a kind of records is wrong.

    The run starts at once and waits for its readers: memory stays bounded.
    """
    kinds = [records] if isinstance(records, str) else records
    wanted = None if kinds is None else list(kinds)

    def start(source: Any, place: str | None, given: Any) -> list[_native.Stream]:
        return _native.read(source, wanted, place, given)

    streams = _started(start, source, link_type, filter, config, options)
    if isinstance(records, str):
        return Reader(streams[0], progress)
    return Records(streams, progress)


def packets(
    source: Source,
    *,
    filter: str | None = None,
    config: str | os.PathLike[str] | None = None,
    link_type: int = LINKTYPE_ETHERNET,
    **options: Any,
) -> Packets:
    """The packets of captures as they were captured, one by one, in the order of their numbers.

    They can be given to :func:`read` again: ``read((one for one in packets(path) if …), "conn")``.
    """
    return _started(_native.packets, source, link_type, filter, config, options)


def streams(
    source: Source,
    connection: str | None = None,
    *,
    filter: str | None = None,
    config: str | os.PathLike[str] | None = None,
    link_type: int = LINKTYPE_ETHERNET,
    **options: Any,
) -> Streams:
    """The bytes of TCP and UDP conversations, reassembled, in the order of their packets.

    :param connection: only the conversation with this uid, ``flow_id`` or Community ID.
    """

    def start(source: Any, place: str | None, given: Any) -> Streams:
        return _native.streams(source, connection, place, given)

    return _started(start, source, link_type, filter, config, options)


def identify(
    source: Source,
    *,
    filter: str | None = None,
    config: str | os.PathLike[str] | None = None,
    link_type: int = LINKTYPE_ETHERNET,
    **options: Any,
) -> Verdicts:
    """Which protocol each connection speaks, by its first bytes, in the order of its records."""
    return _started(_native.identify, source, link_type, filter, config, options)


@overload
def explain(
    source: Source,
    packet: int | None = None,
    connection: str | None = None,
    record: str | dict[str, Any] | None = None,
    *,
    text: Literal[False] = False,
    filter: str | None = None,
    config: str | os.PathLike[str] | None = None,
    **options: Any,
) -> Iterator[dict[str, Any]]: ...


@overload
def explain(
    source: Source,
    packet: int | None = None,
    connection: str | None = None,
    record: str | dict[str, Any] | None = None,
    *,
    text: Literal[True],
    filter: str | None = None,
    config: str | os.PathLike[str] | None = None,
    **options: Any,
) -> Iterator[str]: ...


def explain(
    source: Source,
    packet: int | None = None,
    connection: str | None = None,
    record: str | dict[str, Any] | None = None,
    *,
    text: bool = False,
    filter: str | None = None,
    config: str | os.PathLike[str] | None = None,
    **options: Any,
) -> Iterator[dict[str, Any]] | Iterator[str]:
    """What each stage saw of a packet, or of each packet of a connection, and decided.

    One of ``packet``, ``connection`` and ``record`` says what is asked for.

    :param source: paths of captures, which are read twice.
    :param packet: a packet's number (``pcap_cnt`` in EVE, ``packet_number`` elsewhere).
    :param connection: a connection's uid, ``flow_id`` or Community ID.
    :param record: a record of EVE, of a Zeek log or of CSV: its line, or the object of JSON.
    :param text: lines for people, with the styles of a terminal, instead of objects as
        ``flowpin explain --json`` writes them.
    :param options: those of the run that wrote the record.
    :raises OptionError: there is no such packet or connection.
    """
    line = json.dumps(record) if isinstance(record, dict) else record

    def start(source: Any, place: str | None, given: Any) -> _native.Explanations:
        if source[2]:
            raise InputError(
                "cannot explain what has no path, since it is read twice; save it to a file first"
            )
        return _native.explain(source, (packet, connection, line), text, place, given)

    accounts = _started(start, source, LINKTYPE_ETHERNET, filter, config, options)
    if text:
        return accounts
    return (json.loads(line) for account in accounts for line in account.splitlines())


def _started(
    start: Callable[[Any, str | None, Any], _T],
    source: Source,
    link_type: int,
    filter: str | None,
    config: str | os.PathLike[str] | None,
    options: dict[str, Any],
) -> _T:
    """Starts a run over a source."""
    if filter is not None:
        options["filter"] = filter
    given = words(options)
    place = None if config is None else os.fspath(config)
    is_live = source is None and "interface" in options
    paths, names, feeders = ([], [], []) if is_live else resolve(source, link_type)
    for feeder in feeders:
        feeder.start()
    try:
        return start((paths, names, feeders), place, given)
    except OptionError as error:
        raise explained(error, options) from None
    except InputError as error:
        if is_live and error.place is None:
            error.place = "interface"
        raise
    finally:
        for feeder in feeders:
            feeder.opened()


def record_kinds(*, config: str | os.PathLike[str] | None = None, **options: Any) -> list[str]:
    """The kinds of records that :func:`read` may give with these options."""
    place = None if config is None else os.fspath(config)
    return _native.records_known(place, words(options))
