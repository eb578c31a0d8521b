"""What can go wrong, as exceptions: one line each that says what, where, and what to do."""

from __future__ import annotations

import warnings


class FlowpinError(Exception):
    """Something went wrong. Its text is one line: what, where, what to do.

    ``place`` is what it is about: a file, or an option; ``remedy`` is the part of the line that says
    what to do, if there is such a part.
    """

    place: str | None
    remedy: str | None

    def __init__(self, message: str, place: str | None = None) -> None:
        super().__init__(message)
        self.place = place
        before, _, after = message.rpartition("; ")
        self.remedy = after if before else None

    def __str__(self) -> str:
        return str(self.args[0])


class OptionError(FlowpinError, ValueError):
    """An option, a filter, or the name of a kind of records is wrong."""


class GrammarError(FlowpinError, ValueError):
    """A grammar is refused. ``detail`` has its line with a caret, as the command shows it."""

    detail: str = ""


class InputError(FlowpinError, OSError):
    """A capture cannot be read."""


class ConsumedError(FlowpinError):
    """A stream was read before: it can be read once."""


class DamagedCaptureWarning(UserWarning):
    """A capture is cut off or damaged; what came before is analysed."""


class CapWarning(UserWarning):
    """A limit was reached that all connections share: where a run is divided, others may have
    been affected."""


class RuleWarning(UserWarning):
    """A rule is refused, or a variable is in none; the others are compared."""


class GrammarWarning(UserWarning):
    """A grammar may not do what is meant."""


def warn_of_settings(found: list[tuple[str, str]]) -> None:
    """Warns of rules and grammars. Called by the native module before a run."""
    classes = {"RuleWarning": RuleWarning, "GrammarWarning": GrammarWarning}
    for name, line in found:
        warnings.warn(line, classes[name], stacklevel=4)


def warn_of_damage(damage: list[tuple[str, str]]) -> None:
    """Warns of each damaged capture. Called by the native module at the end of a run."""
    for place, what in damage:
        warnings.warn(
            f"{place}: {what}; everything before it is analysed",
            DamagedCaptureWarning,
            stacklevel=3,
        )
