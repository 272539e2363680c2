"""What today's run of a study says in a few sentences, made from its figures. Pure: no Django."""

from collections.abc import Iterable, Iterator, Sequence

from backend.library.order import Sentence, highest_sentences, order_sentences
from backend.library.study import Study
from backend.library.today import Figure, Row, Today, read_today, rows_of
from backend.runs.checks.machines import MANY_OTHERS_SHARE
from backend.stats.thresholds import percent

# Where a run does not say what other programs used: with more runnable processes than this share of
# the processors, a machine counts as busy.
BUSY_SHARE = 0.5
# The times of the cores are too coarse to tell smaller shares of the processors.
LEAST_PRINTED_SHARE = 0.05


def today_texts(study: Study) -> list[str]:
    """The texts of `today_sentences`."""
    return [sentence.text for sentence in today_sentences(study)]


def today_sentences(study: Study) -> list[Sentence]:
    """Who is the fastest today, and which versions differ: a sentence for each.

    No order is told where other programs kept the machine busy. Empty for a study that was not
    measured again.
    """
    today = read_today(study)
    if today is None or not today.rows:
        return []
    noise = _noise_text(today)
    figures = highest_sentences(today.rows) if noise else order_sentences(today.rows)
    missing = map(Sentence, _not_measured(today.rows))
    method = [
        Sentence(text, is_method=True) for text in (_machine_text(today), _trials_text(today))
    ]
    sentences = [Sentence(noise), *figures, *missing, *method]
    told = [sentence for sentence in sentences if sentence.text]
    return sorted(told, key=lambda sentence: sentence.is_method)


def versions_texts(study: Study) -> list[str]:
    """Which versions today's run measured of each server, those of servers with both first.

    Such as "Old and current: Tornado 0.2 and 6.6.1." and "Current alone: nginx 1.22.1."
    """
    groups: dict[str, list[str]] = {"Old and current": [], "Old alone": [], "Current alone": []}
    for name, (old, current) in _versions_by_server(rows_of(study)):
        group = "Current alone" if not old else "Old and current" if current else "Old alone"
        groups[group].append(f"{name} {' and '.join(filter(None, (old, current)))}")
    return [f"{group}: {', '.join(texts)}." for group, texts in groups.items() if texts]


def _versions_by_server(rows: Sequence[Row]) -> Iterator[tuple[str, tuple[str, str]]]:
    """By name, the servers measured today with their old and their current version.

    Empty for a half that has no figure. "23.0.0 or 27.0.1": settings of one server need not share a
    version.
    """
    for name in sorted({row.server_name for row in rows}, key=str.lower):
        own = [row for row in rows if row.server_name == name]
        old, current = _versions(row.old for row in own), _versions(row.current for row in own)
        if old or current:
            yield name, (old, current)


def _versions(figures: Iterable[Figure | None]) -> str:
    names = {figure.version or "of unknown version" for figure in figures if figure}
    return " or ".join(sorted(names))


def noise_text(study: Study) -> str:
    """Why no order can be taken from today's run of the study; empty if its machine was idle."""
    today = read_today(study)
    return _noise_text(today) if today else ""


def _not_measured(rows: Sequence[Row]) -> Iterator[str]:
    """The servers with a published figure that have none of today, under any setting."""
    then = {row.server_name for row in rows if row.then is not None}
    today = {row.server_name for row in rows if row.old or row.current}
    if missing := sorted(then - today, key=str.lower):
        yield f"Not measured today: {', '.join(missing)}."


def _noise_text(today: Today) -> str:
    cause = _cause_of_noise(today)
    return cause and (
        f"No order can be told: other programs {cause}, so the figures are low and uneven."
    )


def _cause_of_noise(today: Today) -> str:
    """What other programs did. The load average also counts what ran just before the run."""
    if today.others is not None:
        is_busy = today.others > MANY_OTHERS_SHARE
        return f"used {_share_text(today.others)} of the processors" if is_busy else ""
    if today.load is None or not today.cores or today.load <= BUSY_SHARE * today.cores:
        return ""
    return f"kept the machine busy (load {today.load:g})"


def _machine_text(today: Today) -> str:
    text = f"Measured on {today.date} on a virtual machine with {today.cores} processors"
    if today.others is None or today.others > MANY_OTHERS_SHARE:
        return f"{text}."
    return f"{text}, of which other programs used {_share_text(today.others)}."


def _trials_text(today: Today) -> str:
    """What about its trials may mislead: how short they were, without a warm-up, on one machine."""
    if today.lasted_s is None:
        return ""
    lasted = "Trials took {:.3g} to {:.3g} s".format(*today.lasted_s)
    cold = "" if today.is_warm else ", without a warm-up before them"
    shared = " The load tool ran on the machine of the servers." if today.same_host else ""
    return f"{lasted}{cold}.{shared}"


def _share_text(share: float) -> str:
    is_printed = share >= LEAST_PRINTED_SHARE
    return f"{share * 100:.0f} %" if is_printed else f"less than {percent(LEAST_PRINTED_SHARE)}"
