"""What every record of the figures is built on."""

from typing import TypeVar

import msgspec
from msgspec import Struct

from backend.stats.thresholds import LEAST_TRIALS

LOW_END = (
    f"Null with fewer than {LEAST_TRIALS} trials, unless they differ tenfold or more: then low and "
    "high are their range, as interval says"
)


# Without the collector of garbage: no record refers to itself, and an answer has thousands.
class Record(Struct, frozen=True, gc=False):
    """A part of the figures."""


R = TypeVar("R", bound=Record)


def record_of(kind: type[R], source: object) -> R:
    """The record with the attributes of `source`; attributes that it lacks are left out."""
    return msgspec.convert(source, kind, from_attributes=True)
