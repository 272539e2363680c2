"""The table of counters in docs/operations.md: who fills each, and who is refused while it is full.

Counters by time are those of `backend.accounts.limiters`; counters of what goes on at the same time
are in each web process.
"""

from dataclasses import dataclass

from backend.accounts.limiters import LIMITERS, Limiter
from backend.analysis.loading import viewer_slots
from backend.ingest.limits import LARGE_BODIES, LARGE_BODIES_TOGETHER
from backend.ingest.preview_slots import PREVIEWS, STRANGERS
from backend.ingest.slots import LONG_WORK, SHORT_WORK
from backend.sharing.drawing import DRAWINGS

HEAD = "| counter | at most | filled by | refused while it is full | without the cache |"
_VIEWER = "one user with all tokens, or one address (one /48 of IPv6) without an account"
_SAME_VIEWER = "the same viewer (429)"


@dataclass(frozen=True, slots=True)
class AtOnce:
    """Places of a web process for slow work."""

    name: str
    most: str
    payer: str
    refused: str


def _places(of_owner: int | None, places: int) -> str:
    return f"{of_owner} of {places} places"


AT_ONCE = (
    AtOnce("requests above 64 KiB", f"{LARGE_BODIES}", "one token or user", "the same (429)"),
    AtOnce(
        "requests above 64 KiB of all tokens",
        f"{LARGE_BODIES_TOGETHER}",
        "one workspace",
        "the same workspace (429)",
    ),
    AtOnce(
        "bytes of requests above 64 KiB",
        "`BODIES_MAX_BYTES`",
        "all workspaces and users",
        "the workspace or user that has most of them (429)",
    ),
    AtOnce(
        "previews",
        _places(PREVIEWS.of_owner, PREVIEWS.places),
        _VIEWER,
        f"{_SAME_VIEWER}; who runs one leaves the place to wait to who runs none (503)",
    ),
    AtOnce(
        "previews without an account",
        f"{STRANGERS.places} places, of which {STRANGERS.running} is read",
        "all visitors without an account",
        "visitors without an account (503); members never",
    ),
    AtOnce(
        "large answers",
        _places(viewer_slots.RUNNING + viewer_slots.WAITING, viewer_slots.PLACES),
        _VIEWER,
        f"{_SAME_VIEWER}; others where all places are taken (503)",
    ),
    AtOnce(
        "large answers without an account",
        _places(viewer_slots.VISITORS_PLACES, viewer_slots.PLACES),
        "all visitors without an account",
        "visitors without an account (503); members never",
    ),
    AtOnce(
        "images",
        _places(DRAWINGS.of_owner, DRAWINGS.places),
        _VIEWER,
        f"{_SAME_VIEWER}; who has one drawn leaves the place to wait to who has none (503)",
    ),
    AtOnce(
        "archives and large files",
        _places(LONG_WORK.of_owner, LONG_WORK.places),
        "one workspace",
        "the same workspace (429); who runs one leaves the place to wait to who runs none (503)",
    ),
    AtOnce(
        "plain files and envelopes",
        _places(SHORT_WORK.of_owner, SHORT_WORK.places),
        "one workspace",
        "the same workspace (429); others where all places are taken (503)",
    ),
)


def as_markdown() -> str:
    """The table."""
    by_time = [
        f"| `{limiter.id}` | {_most(limiter)} {limiter.unit} | {limiter.payer} | "
        f"{limiter.refused} | {_without_cache(limiter)} |"
        for limiter in LIMITERS
    ]
    at_once = [
        f"| {row.name} at the same time | {row.most} of a web process | {row.payer} | "
        f"{row.refused} | the same |"
        for row in AT_ONCE
    ]
    return "\n".join([HEAD, "|---|---|---|---|---|", *by_time, *at_once])


def _most(limiter: Limiter) -> str:
    return f"`{limiter.setting}`" if limiter.setting else f"{limiter.most():,}"


def _without_cache(limiter: Limiter) -> str:
    return "counted in each web process" if limiter.is_kept_while_away else "not counted"
