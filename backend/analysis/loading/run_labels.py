"""Labels of runs in a link: `key:value`."""

from collections.abc import Iterable

from django.db.models import Q


def with_any_label(labels: Iterable[str]) -> Q:
    """Runs with any of the texts of a key, and that of every key that is asked for."""
    by_key: dict[str, Q] = {}
    for label in labels:
        key = label.partition(":")[0]
        by_key[key] = by_key.get(key, Q()) | with_label(label)
    wanted = Q()
    for any_of in by_key.values():
        wanted &= any_of
    return wanted


def with_label(label: str) -> Q:
    """Runs with this label. A key may have a colon of its own: `a:b:c` is b:c of a, or c of a:b."""
    parts, condition = label.split(":"), Q()
    for end in range(1, len(parts)):
        condition |= Q(labels__contains={":".join(parts[:end]): ":".join(parts[end:])})
    return condition
