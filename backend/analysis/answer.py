"""The part of the figures that a reader sees first: the answer, and whether to trust it."""

from collections.abc import Sequence
from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from backend.analysis.record import Record

TrustLevel = Literal["solid", "care", "noisy", "few_trials", "not_comparable"]


class TrustReason(Record, frozen=True, kw_only=True):
    """Why the answer is not solid, and what to do."""

    text: Annotated[str, Meta(description="A sentence")]
    remedy: Annotated[str, Meta(description="What to do, in sentences; empty if nothing helps")]
    check: Annotated[str | None, Meta(description="The id of the check that says so")] = None


class Trust(Record, frozen=True, kw_only=True):
    """How far the answer holds."""

    level: Annotated[
        TrustLevel,
        Meta(
            description="solid; care: use with care; noisy: too noisy to call; few_trials: no "
            "interval, because there are too few trials; not_comparable"
        ),
    ]
    reasons: Annotated[
        Sequence[TrustReason],
        Meta(description="The most serious first; pages show the first three at once"),
    ]
    more: Annotated[int, Meta(description="How many reasons are not listed")] = 0


class Answer(Record, frozen=True, kw_only=True):
    """What a reader can conclude from a comparison."""

    sentence: str
    margin: Annotated[
        str | None, Meta(description="By how much, with its interval, or why nothing can be said")
    ] = None
    # Left out where there is nothing to say, so that what was frozen keeps its bytes.
    aside: Annotated[
        str | UnsetType,
        Meta(description="Which series the answer leaves aside, and why: sentences"),
    ] = UNSET
    trust: Trust
