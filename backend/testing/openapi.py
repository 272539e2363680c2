"""The committed OpenAPI document, for tests; `scripts/check` holds it against the code."""

from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

DOCUMENT = Path(__file__).parents[2] / "docs/openapi.yaml"
METHODS = ("get", "post", "put", "patch", "delete")
# Operations whose bodies may have other members: agents may be newer than the service, and secret
# scanners decide the form of their reports.
OPEN_BODIES = {"heartbeat", "session_meet", "observation_create", "leaked_token_report"}


@lru_cache(maxsize=1)
def read_document() -> dict[str, Any]:
    """The whole document."""
    document: dict[str, Any] = yaml.load(DOCUMENT.read_text(), Loader=yaml.CSafeLoader)
    return document


def list_operations() -> list[tuple[str, str, dict[str, Any]]]:
    """The method, the path and the description of each operation."""
    return [
        (method, path, described)
        for path, methods in read_document()["paths"].items()
        for method, described in methods.items()
        if method in METHODS
    ]
