"""Text for people goes to stderr, results go to stdout."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

from loadsheet_agent.terminal import printable


def say(text: str) -> None:
    """A line for the person at the terminal; never part of a result."""
    sys.stderr.write(printable(text) + "\n")
    sys.stderr.flush()


def put(text: str) -> None:
    _write(printable(text))


def put_json(value: Mapping[str, Any]) -> None:
    _write(json.dumps(value, ensure_ascii=False))


def _write(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
