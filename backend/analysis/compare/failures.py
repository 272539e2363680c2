"""What an answer says of failed requests, and of series whose output does not count them."""

from collections.abc import Sequence

from backend.analysis.compare.ranking import Ranking, Row

MOST_NAMED = 3


def failures_text(ranking: Ranking, place: str) -> str:
    """The sentence of a ranking by failed requests. A series without a known figure is named: no
    figure does not mean that no request failed."""
    known = [row for row in ranking.rows if row.measure.value is not None]
    if not known:
        return f"No load tool here reports failed requests {place}"
    unknown = [row for row in ranking.rows if row.measure.value is None]
    worst, kind = known[-1], _kind_text(ranking.metric)
    if worst.measure.value:
        share = f"{worst.measure.value * 100:.3g} %"
        sentence = f"{worst.entrant.label} failed most{kind} {place}: {share} of its requests"
    else:
        whose = f" of {_names(known)}" if unknown else ""
        sentence = f"No request{whose} failed{kind} {place}"
    return f"{sentence}. {_unknown_text(unknown, kind)}" if unknown else sentence


def unknown_failures_text(row: Row) -> str:
    """`, with an unknown number of failed requests`; empty where the error rate is known."""
    return "" if _has_rate(row) else ", with an unknown number of failed requests"


def unknown_lead_text(ranking: Ranking) -> str | None:
    """That the failed requests of the first series are unknown, where those of another are known;
    None if not."""
    first, *others = ranking.ranked or (None,)
    if first is None or _has_rate(first) or not any(map(_has_rate, others)):
        return None
    return _unknown_text([first])


def _has_rate(row: Row) -> bool:
    return row.entrant.measure("error_rate").value is not None


def _unknown_text(rows: Sequence[Row], kind: str = "") -> str:
    return f"How many requests of {_names(rows)} failed{kind} is unknown"


def _kind_text(metric: str) -> str:
    class_ = metric.removeprefix("error_")
    return "" if class_ == "rate" else f" by {class_} errors"


def _names(rows: Sequence[Row]) -> str:
    """`a, b, c and 2 more`."""
    names = [row.entrant.label for row in rows[:MOST_NAMED]]
    names += [f"{len(rows) - MOST_NAMED} more"] if len(rows) > MOST_NAMED else []
    *head, last = names
    return f"{', '.join(head)} and {last}" if head else last
