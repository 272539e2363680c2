"""What an answer leaves aside: series without a figure, and series that are too noisy to place."""

from backend.analysis.compare.gathering import Gathered
from backend.analysis.compare.ranking import Ranking
from backend.analysis.grouping.sweep import join_series


def aside_of(gathered: Gathered, ranking: Ranking) -> str | None:
    """`Not compared: nginx 1.27. Throughput is unknown.` None if nothing is left aside.

    In order: series that are certainly behind, but noise hides by how much; series whose figure may
    not be compared; series of which no output could be read.
    """
    sentences = (_noisy(ranking), _uncompared(ranking), _unread(gathered))
    return " ".join(filter(None, sentences)) or None


def _noisy(ranking: Ranking) -> str | None:
    """Of the rows behind the runner-up, if the leader is the server to take."""
    if not ranking.is_led_beyond_doubt:
        return None
    labels = [each.other.entrant.label for each in ranking.contests[1:] if each.is_size_open]
    if not labels:
        return None
    verb = "is" if len(labels) == 1 else "are"
    return f"{join_series(labels, ', ')} {verb} also behind, but too noisy to say by how much."


def _uncompared(ranking: Ranking) -> str | None:
    rows = [row for row in ranking.rows if row.unranked is not None]
    if not rows or not ranking.ranked:
        return None
    labels, reasons = [row.entrant.label for row in rows], {row.unranked for row in rows}
    reason = reasons.pop() if len(reasons) == 1 else "The ranking gives each reason."
    return f"Not compared: {join_series(labels, ', ')}. {reason}"


def _unread(gathered: Gathered) -> str | None:
    labels = list(dict.fromkeys(row.label for row in gathered.missing))
    if not labels:
        return None
    return f"Not read: {join_series(labels, ', ')}. No output could be read."
