"""Many rows in portions, so that few are in memory at a time, however large each of them is."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

Item = TypeVar("Item")


def portions(
    sized: Iterable[tuple[Item, Sequence[int]]], limits: Sequence[int]
) -> Iterator[list[Item]]:
    """The items, in order, in lists of which no size is together above its limit.

    `sized`: each item with its sizes, one for each limit. An item above a limit is alone.
    """
    some: list[Item] = []
    totals = [0] * len(limits)
    for item, sizes in sized:
        totals = [total + size for total, size in zip(totals, sizes, strict=True)]
        if some and any(total > limit for total, limit in zip(totals, limits, strict=True)):
            yield some
            some, totals = [], list(sizes)
        some.append(item)
    if some:
        yield some
