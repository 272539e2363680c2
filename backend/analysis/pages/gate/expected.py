"""Series that a build must be judged by: what its baseline lost too, nobody would miss."""

from collections.abc import Collection, Sequence

from backend.analysis.grouping.sweep import join_series
from backend.analysis.query.compare_query import QueryError

FIELD = "expect"
MOST_EXPECTED = 100
MAX_TEXT = 450
SEPARATOR = ":"

# The names of a server and of a workload.
Names = tuple[str, str]


def read_expected(texts: Sequence[str]) -> tuple[str, ...]:
    """The series as `SERVER:WORKLOAD`, each once. Raises QueryError.

    They are not split: names may have colons.
    """
    expected = tuple(dict.fromkeys(text.strip() for text in texts if text.strip()))
    if len(expected) > MOST_EXPECTED:
        raise QueryError(FIELD, f"{len(expected)} series", f"at most {MOST_EXPECTED}")
    for text in expected:
        if SEPARATOR not in text or len(text) > MAX_TEXT or "\0" in text:
            form = f"SERVER{SEPARATOR}WORKLOAD, text of at most {MAX_TEXT} characters without NUL"
            raise QueryError(FIELD, text, form)
    return expected


def lack_of_expected(
    expected: Sequence[str], measured: Collection[Names], judged: Collection[Names]
) -> str | None:
    """Which of the expected series the build did not measure, or was not judged by; None if it was
    judged by all."""
    if absent := _without(expected, measured):
        return f"the candidate lacks what {FIELD}= names: {absent}. Measure it, or leave it out."
    if unjudged := _without(expected, judged):
        return (
            f"nothing was judged of what {FIELD}= names: {unjudged}. Measure it in the baseline "
            "too, or choose it by server=."
        )
    return None


def _without(expected: Sequence[str], names: Collection[Names]) -> str:
    """Those of the expected series that are not among these."""
    having = set(map(SEPARATOR.join, names))
    return join_series([text for text in expected if text not in having], ", ")
