"""What a page shows of where figures come from."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from backend.ingest.models import Artefact


@dataclass(frozen=True, slots=True)
class Read:
    """A number in the text of an artefact and the figures that were read with it. A number without
    figures is only checked: if it contradicts others, the reading is refused.
    """

    start: int
    end: int
    line: int
    figures: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RawText:
    """An artefact as text, with the numbers that were read in it, in their order."""

    artefact: Artefact
    text: str
    truncated: bool
    reads: tuple[Read, ...]


@dataclass(frozen=True, slots=True)
class Provenance:
    """The raw texts of a trial; `figures` are what is read of them now, by their paths.

    Where nothing could be traced `figures` is empty and `why_not` says why, as a sentence.
    """

    texts: tuple[RawText, ...]
    figures: Mapping[str, Any]
    why_not: str
