"""Which errors mean that a service of ours is away: the database, or the storage of artefacts."""

from __future__ import annotations

from dataclasses import dataclass

from backend.analysis.loading import viewer_slots
from backend.analysis.loading.viewer_slots import TooManyComparisons
from backend.ingest.faults import is_database_away
from backend.ingest.slots import RETRY_AFTER_S, Busy
from backend.ingest.storage import FULL, StorageAway


@dataclass(frozen=True, slots=True)
class Outage:
    """What to answer while it lasts."""

    status: int
    title: str
    sentence: str
    hint: str
    retry_after_s: int


HINT = "Nothing was half kept. Send the same request again after the time Retry-After gives."
DATABASE = Outage(503, "Database away", "The database does not answer at the moment.", HINT, 5)
STORAGE = Outage(
    503, "Storage away", "The storage of raw files cannot be used at the moment.", HINT, 30
)
FULL_HINT = "Nothing was half kept. Tell who runs this service to make room, then send it again."
BUSY = Outage(
    503, "Busy", "The service works on other large files at the moment.", HINT, RETRY_AFTER_S
)
TOO_MANY = Outage(
    429,
    "Too many comparisons",
    str(TooManyComparisons()),
    "Wait for as long as Retry-After says, then try again.",
    viewer_slots.RETRY_AFTER_S,
)
STORAGE_FULL = Outage(
    507, "Storage full", "There is no room for raw files at the moment.", FULL_HINT, 60
)


def outage_of(error: BaseException | None) -> Outage | None:
    """The outage behind `error`; None when it is none."""
    if is_database_away(error):
        return DATABASE
    if isinstance(error, Busy):
        return BUSY
    if isinstance(error, TooManyComparisons):
        return TOO_MANY
    if isinstance(error, StorageAway):
        return STORAGE_FULL if error.is_full else STORAGE
    # The temporary file of a large request body.
    if isinstance(error, OSError) and error.errno in FULL:
        return STORAGE_FULL
    return None
