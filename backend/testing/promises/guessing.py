"""A million guessed links, looked up without any limit: runs inside a site (C3)."""

import json
import random
import sys
import uuid
from collections.abc import Iterator

from backend.sharing.models import ResultSet, SharedRun, Visibility
from backend.testing.scenes import make_result_set, make_shared_run
from backend.testing.uploads import make_tenant

# Shared results, and shared runs.
SHARED = 1000, 20
# The bits of a random UUID that are not random: its version and its variant.
FIXED = frozenset({62, 63, 76, 77, 78, 79})
BATCH = 1000


def main(guesses: int) -> None:
    """Write what the guesses found, as JSON, on standard output."""
    links = _share()
    report: dict[str, int] = {"links": len(links)}
    guessed = _guesses(links, guesses)
    report["found"] = sum(_count_found(batch) for batch in _batches(guessed))
    # What would be found, if it were guessed.
    report["control"] = _count_found([*links, *guessed[:BATCH]])
    report["close"] = len(links) * (128 - len(FIXED))
    sys.stdout.write(json.dumps(report) + "\n")


def _share() -> list[uuid.UUID]:
    workspace = make_tenant("guessed").workspace
    sets, runs = SHARED
    return [
        *(make_result_set(workspace, Visibility.UNLISTED).link for _ in range(sets)),
        *(make_shared_run(workspace).link for _ in range(runs)),
    ]


def _guesses(links: list[uuid.UUID], count: int) -> list[uuid.UUID]:
    """Each link with one bit changed, and random ones, in any order."""
    dice = random.Random(7)  # noqa: S311  no secret
    close = [
        uuid.UUID(int=link.int ^ (1 << bit))
        for link in links
        for bit in range(128)
        if bit not in FIXED
    ]
    others = (uuid.UUID(int=dice.getrandbits(128), version=4) for _ in range(count - len(close)))
    guessed = [*close, *others][:count]
    dice.shuffle(guessed)
    return guessed


def _batches(guessed: list[uuid.UUID]) -> Iterator[list[uuid.UUID]]:
    for at in range(0, len(guessed), BATCH):
        yield guessed[at : at + BATCH]


def _count_found(links: list[uuid.UUID]) -> int:
    """What stands behind these links."""
    sets = ResultSet.objects.readable([]).filter(link__in=links).count()
    return sets + SharedRun.objects.filter(link__in=links).count()
