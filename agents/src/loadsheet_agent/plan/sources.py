"""Files that a plan is read from."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from loadsheet_agent.errors import PlanError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


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
