"""Which stored bytes no row names."""

from collections.abc import Callable, Sequence

from backend.ingest.models import Artefact

# Which of some artefacts a package above names. It adds its own function.
NAMED_ELSEWHERE: list[Callable[[Sequence[str]], set[str]]] = []


def without_row(sha256s: Sequence[str]) -> list[str]:
    """Those of the artefacts that nothing names."""
    # An artefact whose bytes were removed for their age names none (retention.py).
    rows = Artefact.objects.filter(sha256__in=sha256s, upload__raw_removed_at=None)
    named = set(rows.values_list("sha256", flat=True).distinct())
    for named_elsewhere in NAMED_ELSEWHERE:
        named |= named_elsewhere(sha256s)
    return [sha256 for sha256 in sha256s if sha256 not in named]
