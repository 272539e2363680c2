"""Files that a plan is read from, and laying one table of a plan over another."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from loadsheet_agent.errors import PlanError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

# Keys of which a table holds only one.
OTHER_LENGTH = {"duration_s": "requests", "requests": "duration_s"}


def read_source(path: Path) -> str:
    """The text of a plan or a file it uses. Raises PlanError."""
    try:
        return path.read_bytes().decode("utf-8")
    except OSError as error:
        raise PlanError(f"{path} cannot be read ({error.strerror}); give a plan file.") from error
    except UnicodeDecodeError as error:
        raise PlanError(f"{path} is not UTF-8 text; a plan is a TOML file.") from error


def read_toml(text: str, name: str) -> dict[str, Any]:
    """`name` stands in the error. Raises PlanError."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise PlanError(f"{name} is not valid TOML: {error}.") from error


def merge(
    below: dict[str, Any], above: dict[str, Any], *, added: tuple[str, ...] = ()
) -> dict[str, Any]:
    """`above` replaces what `below` has; tables are merged, and the lists named `added` grow.

    A number of requests replaces a duration, and the other way round.
    """
    merged = _without_other_length(below, above)
    for name, value in above.items():
        before = merged.get(name)
        if isinstance(before, dict) and isinstance(value, dict):
            merged[name] = merge(before, value)
        elif name in added and isinstance(before, list) and isinstance(value, list):
            merged[name] = [*before, *value]
        else:
            merged[name] = value
    return merged


def _without_other_length(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    replaced = {other for name, other in OTHER_LENGTH.items() if name in above}
    return {name: value for name, value in below.items() if name not in replaced}
