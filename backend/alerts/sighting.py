"""What a rule sees of one subject in one run, before anything is concluded from it."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Sighting:
    """One subject of a rule.

    `is_bad`: None if the figures do not tell, which neither raises nor ends an alert. `text`: a
    sentence about a bad one. `place`: the load points of a bad one; empty if it has none.
    """

    subject: str
    is_bad: bool | None
    text: str = ""
    data: dict[str, Any] = field(default_factory=dict)
    places: frozenset[str] = frozenset()
