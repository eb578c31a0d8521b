"""Network captures to tables of connections and messages, on every core.

>>> import flowpin
>>> frame = flowpin.read("capture.pcapng", "conn").to_pandas()

:func:`read` gives the records of ``flowpin run`` as Arrow streams.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, overload

from . import _native
from ._errors import (
    ConsumedError,
    DamagedCaptureWarning,
    FlowpinError,
    InputError,
    OptionError,
)
from ._native import Report, __version__
from ._options import explained, options, words
from ._progress import ProgressCallback
from ._reader import Reader, Records
from ._source import LINKTYPE_ETHERNET, Capture, Packet, Source, resolve

__all__ = [
    "Capture",
    "ConsumedError",
    "DamagedCaptureWarning",
    "FlowpinError",
    "InputError",
    "OptionError",
    "Packet",
    "Reader",
    "Records",
    "Report",
    "Source",
    "__version__",
    "options",
    "read",
    "record_kinds",
]


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
        of these.
    :param records: the kind of records (then there is one :class:`Reader`), or several kinds, or
        ``None`` for all kinds (then there are :class:`Records`, a reader for each).
    :param filter: only packets that match this pcap-filter(7) expression.
    :param config: a configuration file, as ``flowpin run -c`` takes it.
    :param link_type: the link type of packets that are given as ``(time, bytes)``.
    :param progress: ``True`` for a bar in the methods that read to the end, or what to call with
        bytes read, bytes to read and packets.
    :param options: any option of ``flowpin run``, with underscores for dashes
        (``timeouts="suricata"``, ``id_seed=7``); :func:`options` lists them.
    :raises InputError: a capture cannot be read.
    :raises OptionError: an option, the filter or the name of a kind of records is wrong.

    The run starts at once and waits while nobody reads: memory stays bounded.
    """
    if filter is not None:
        options["filter"] = filter
    kinds = [records] if isinstance(records, str) else records
    given = words(options)
    place = None if config is None else os.fspath(config)
    paths, names, feeders = resolve(source, link_type)
    for feeder in feeders:
        feeder.start()
    try:
        wanted = None if kinds is None else list(kinds)
        streams = _native.read((paths, names, feeders), wanted, place, given)
    except OptionError as error:
        raise explained(error, options) from None
    finally:
        for feeder in feeders:
            feeder.opened()
    if isinstance(records, str):
        return Reader(streams[0], progress)
    return Records(streams, progress)


def record_kinds(*, config: str | os.PathLike[str] | None = None, **options: Any) -> list[str]:
    """The kinds of records that :func:`read` may give with these options."""
    place = None if config is None else os.fspath(config)
    return _native.records_known(place, words(options))
