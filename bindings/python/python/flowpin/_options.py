"""From keyword arguments to the words of the command line."""

from __future__ import annotations

import difflib
import glob
import os
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from typing import Any

from . import _native
from ._errors import OptionError


def options() -> list[str]:
    """The names of all options that :func:`flowpin.read` takes as keyword arguments.

    They are those of ``flowpin run``, with underscores for dashes; the documentation's page on
    options says what each means.
    """
    return sorted(_native.options_known())


#: To tasks in other processes.
NO_GRAMMAR = "grammar: a compiled Grammar stays in its process; name a file that all workers have"

Given = tuple[list[tuple[str, list[str]]], list[_native.Grammar]]


def words(given: Mapping[str, Any]) -> Given:
    """Each option's values as text; and grammars that were compiled before."""
    texts, grammars = [], []
    for name, value in given.items():
        if value is None:
            continue
        if name == "grammar":
            all = list(value) if isinstance(value, (list, tuple)) else [value]
            grammars += [one for one in all if isinstance(one, _native.Grammar)]
            value = [one for one in all if not isinstance(one, _native.Grammar)]
            if not value:
                continue
        texts.append((name, _of(name, value)))
    return texts, grammars


def placed(given: Mapping[str, Any]) -> dict[str, Any]:
    """The options, for processes elsewhere: files that are here are named from the root."""
    of_files = {"config", *_native.options_of_files()}

    def place(one: Any) -> Any:
        if isinstance(one, (list, tuple)):
            return [place(each) for each in one]
        is_here = isinstance(one, (str, os.PathLike)) and glob.glob(os.fspath(one))
        return os.path.abspath(one) if is_here else one

    return {name: place(one) if name in of_files else one for name, one in given.items()}


def explained(error: OptionError, given: Mapping[str, Any]) -> OptionError:
    """The error, with the option that was probably meant."""
    name = error.place
    if name is None or name not in given or not str(error).startswith("there is no option"):
        return error
    near = difflib.get_close_matches(name, options(), n=1)
    if not near:
        return error
    return OptionError(f"there is no option `{name}`; did you mean `{near[0]}`?", name)


def _of(name: str, value: Any) -> list[str]:
    if isinstance(value, Mapping):
        return [f"{key}={_word(name, one)}" for key, one in value.items()]
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_word(name, one) for one in value]
    return [_word(name, value)]


def _word(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, (str, int)):
        return str(value)
    if isinstance(value, os.PathLike):
        return os.fsdecode(value)
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise OptionError(f"{name}: the time has no zone; give one, such as timezone.utc", name)
        return value.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")
    if isinstance(value, timedelta):
        return f"{value // timedelta(microseconds=1)} us"
    kind = type(value).__name__
    raise OptionError(f"{name}: no option takes {kind}; give text, a number or a switch", name)
