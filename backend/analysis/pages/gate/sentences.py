"""The answer of the gate in sentences."""

from collections.abc import Sequence
from math import inf

from backend.analysis.compare.advice import as_sentence, found_text
from backend.analysis.compare.ratio_texts import ratio_text
from backend.analysis.grouping.measure_texts import measure_text
from backend.analysis.judge.cases import CaseVerdict, Judged, TrialCounts
from backend.analysis.pages.pair.judging import figure_of_level
from backend.analysis.query.units import interval_text, place_text
from backend.stats.sample_size import MOST_ADVISED, Advice
from backend.stats.thresholds import LEAST_TRIALS, percent

GRAVITY: tuple[CaseVerdict, ...] = (
    "regressed",
    "not_comparable",
    "too_noisy",
    "improved",
    "unchanged",
)
MOST_NAMED = 2
_WORDS: dict[CaseVerdict, str] = {
    "regressed": "Regressed",
    "not_comparable": "Not comparable",
    "too_noisy": "Too noisy to call",
    "improved": "Improved",
    "unchanged": "Unchanged",
}
_TOO_FEW = "Too few trials to call"


def verdict_text(verdict: CaseVerdict, rows: Sequence[Judged]) -> str:
    """The verdict of `rows` in words; too few trials where no noisy row has an interval."""
    noisy = [row for row in rows if row.verdict == "too_noisy"]
    is_without_interval = verdict == "too_noisy" and all(row.too_few is not None for row in noisy)
    return _TOO_FEW if is_without_interval else _WORDS[verdict]


def row_text(judged: Judged, axis: str, *, is_history: bool) -> str:
    """The verdict, the figures, what was accepted, and what would settle it.

    `is_history`: whether only runs from before the candidate are its baseline.
    """
    case = judged.case
    metric = case.requirement.metric
    place = place_text(case.point.x, axis)
    subject = f"{metric.label} of {case.sweep.group.label} {place}".rstrip()
    figures = change_text(judged)
    accepted = f", {figures}; accepted: {case.requirement.accepted_text}" if figures else ""
    verdict = verdict_text(judged.verdict, [judged])
    sentences = [f"{subject}: {verdict.lower()}{accepted}."]
    if judged.verdict == "too_noisy" and judged.tells_from is not None:
        sentences.append(_noise_text(judged))
    if judged.too_few is not None:
        sentences.append(_counts_text(judged.too_few))
        sentences.append(_measure_text([judged.too_few], is_history=is_history))
    if judged.why:
        sentences.append(judged.why)
    if judged.advice is not None:
        sentences.append(f"{advice_text(judged.advice)}.")
    return " ".join(sentences)


def change_text(judged: Judged) -> str | None:
    """`1.31× [1.2, 1.42], 4.2 ms → 5.5 ms`; of a limit, the figure with the interval that is held
    against it. None where unknown."""
    unit = judged.case.requirement.metric.unit
    after = measure_text(judged.case.measure, unit)
    if after is None:
        return None
    if judged.case.requirement.share is None:
        return after if judged.bounds is None else interval_text(after, *judged.bounds, unit)
    level = judged.case.level
    if judged.ratio is None or level is None:
        return None
    before = measure_text(figure_of_level(level), unit)
    return f"{ratio_text(judged.ratio)}, {before} → {after}"


def _noise_text(judged: Judged) -> str:
    """Which change would have been found, as in a comparison, and that less was asked for."""
    if judged.ratio is None or judged.ratio.finds_from is None:
        return "The change is beyond noise, and the interval includes the accepted change."
    share = abs(judged.case.requirement.share or 0.0)
    found = as_sentence(found_text(judged.ratio.finds_from)).removesuffix(".")
    if judged.ratio.finds_from > share:
        return f"{found}, but the requirement is {percent(share)}: the noise hides it."
    return f"{found}; the interval includes the accepted change."


def _counts_text(counts: TrialCounts) -> str:
    """Which side has how many trials, and how many an interval needs."""
    candidate, baseline = counts.candidate, counts.baseline
    if baseline is None or baseline >= LEAST_TRIALS:
        return f"The candidate has {_trials_text(candidate)}; an interval needs {LEAST_TRIALS}."
    if candidate >= LEAST_TRIALS:
        return f"The baseline has {_trials_text(baseline)}; an interval needs {LEAST_TRIALS}."
    return (
        f"The candidate has {_trials_text(candidate)} and the baseline {baseline}; "
        f"an interval needs {LEAST_TRIALS} of each."
    )


def _trials_text(count: int, more: str = "") -> str:
    return f"{count} {more}trial{'' if count == 1 else 's'}"


def _measure_text(counts: Sequence[TrialCounts], *, is_history: bool) -> str:
    """Which trials give every one of these rows an interval."""
    candidate = max(LEAST_TRIALS - each.candidate for each in counts)
    baselines = [each.baseline for each in counts if each.baseline is not None]
    baseline = max((LEAST_TRIALS - count for count in baselines), default=0)
    if baseline <= 0:
        return f"Measure at least {_trials_text(candidate, 'more ')} of the candidate."
    of_baseline = f"{_trials_text(baseline, 'more ')} of the baseline"
    if is_history:
        return (
            f"Measure at least {of_baseline}, then {LEAST_TRIALS} trials of the candidate in a "
            "new run, and check that run by its id: only runs from before the candidate count."
        )
    if candidate <= 0:
        return f"Measure at least {of_baseline}."
    of_candidate = f"{_trials_text(candidate, 'more ')} of the candidate"
    return f"Measure at least {of_candidate} and {of_baseline}."


def advice_text(advice: Advice) -> str:
    """What to measure; a sentence without its full stop."""
    if advice.more is None:
        remedy = "measure more runs of the baseline, or " if advice.unit == "run" else ""
        return (
            f"{MOST_ADVISED} more {advice.unit}s of the candidate would not be enough for a "
            f"verdict: {remedy}reduce the noise of the host"
        )
    plural = "" if advice.more == 1 else "s"
    return (
        f"About {advice.more} more {advice.unit}{plural} of the candidate would give a verdict in "
        f"{round(advice.odds * 100)} % of cases"
    )


def gravest(verdicts: Sequence[CaseVerdict]) -> CaseVerdict:
    """The verdict of the build, of those of its rows; not comparable where there is no row."""
    return min(verdicts, key=GRAVITY.index, default="not_comparable")


def finding_text(verdict: CaseVerdict, rows: Sequence[Judged], axis: str, reason: str) -> str:
    """The answer in one sentence; `reason`: why nothing could be judged."""
    alike = [row for row in rows if row.verdict == verdict]
    words = verdict_text(verdict, alike)
    if not alike:
        return f"{_WORDS[verdict]}: {reason}"
    if verdict == "unchanged":
        kept = "1 requirement is" if len(rows) == 1 else f"all {len(rows)} requirements are"
        return f"Unchanged: {kept} kept."
    named = "; ".join(_name(row, axis) for row in alike[:MOST_NAMED])
    more = f"; and {len(alike) - MOST_NAMED} more" if len(alike) > MOST_NAMED else ""
    return f"{words}: {named}{more} ({len(alike)} of {_counted(len(rows))})."


def _name(row: Judged, axis: str) -> str:
    """`p99 of nginx 1.27 at 64 connections, 1.31× [1.2, 1.42]`"""
    case = row.case
    place = place_text(case.point.x, axis)
    ratio = "" if row.ratio is None else f", {ratio_text(row.ratio)}"
    return f"{case.requirement.metric.id} of {case.sweep.group.label} {place}{ratio}"


def _counted(count: int) -> str:
    return "1 requirement" if count == 1 else f"{count} requirements"


def settle_text(rows: Sequence[Judged], axis: str, *, is_history: bool) -> str | None:
    """What settles every row that is too noisy; None if none is, or no number is known."""
    texts = (_settle_few(rows, axis, is_history=is_history), _settle_noisy(rows))
    return " ".join(filter(None, texts)) or None


def _settle_few(rows: Sequence[Judged], axis: str, *, is_history: bool) -> str:
    """Which trials give an interval, and for which series at which loads."""
    few = [(row, row.too_few) for row in rows if row.too_few is not None]
    if not few:
        return ""
    series = {
        f"{row.case.sweep.group.label} {place_text(row.case.point.x, axis)}".rstrip()
        for row, _ in few
    }
    more = f"; and {len(series) - MOST_NAMED} more" if len(series) > MOST_NAMED else ""
    named = "; ".join(sorted(series)[:MOST_NAMED])
    measure = _measure_text([counts for _, counts in few], is_history=is_history)
    return f"{measure} Needed for {named}{more}."


def _settle_noisy(rows: Sequence[Judged]) -> str:
    noisy = [row for row in rows if row.verdict == "too_noisy"]
    advices = [row.advice for row in noisy if row.advice is not None]
    if not advices:
        return next((row.why for row in noisy if row.why), "")
    return f"{advice_text(max(advices, key=_more))}."


def _more(advice: Advice) -> float:
    """How many are advised; infinite where none are enough."""
    return inf if advice.more is None else advice.more
