"""How far a run is: a bar, or a line."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Union

#: Called now and then with the bytes read, the bytes to read (``None`` if that is not known), and
#: the packets read.
ProgressCallback = Callable[[int, Union[int, None], int], object]


class Bar:
    """A line on standard error, or tqdm's bar (in notebooks, too) where tqdm is installed."""

    def __init__(self) -> None:
        self._bar: Any = None
        self._is_drawn = False

    def __call__(self, bytes_read: int, bytes_total: int | None, packets: int) -> None:
        tqdm = self._tqdm()
        if tqdm is not None:
            if self._bar is None:
                self._bar = tqdm(total=bytes_total, unit="B", unit_scale=True, desc="flowpin")
            self._bar.set_postfix(packets=packets, refresh=False)
            self._bar.update(bytes_read - self._bar.n)
            return
        share = f"{100 * bytes_read / bytes_total:3.0f} %, " if bytes_total else ""
        print(f"\rflowpin: {share}{packets:,} packets", end="", file=sys.stderr, flush=True)
        self._is_drawn = True

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
        if self._is_drawn:
            print(file=sys.stderr)

    @staticmethod
    def _tqdm() -> Any:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return None
        return tqdm


def bar(progress: bool | ProgressCallback) -> ProgressCallback | None:
    """What is to be called, if anything is."""
    if progress is True:
        return Bar()
    return progress or None


def close(callback: ProgressCallback | None) -> None:
    """The run has ended."""
    if isinstance(callback, Bar):
        callback.close()
