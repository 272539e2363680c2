"""The sentence about a pair: what changed from one side to the other, or why that is unknown."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from backend.analysis.compare.advice import found_text
from backend.analysis.compare.comparability import Comparability
from backend.analysis.compare.decision import Decision, doubts_of
from backend.analysis.compare.design import NamedRatio
from backend.analysis.compare.headline import Headline, write_difference
from backend.analysis.compare.ratio_texts import ratio_text
from backend.analysis.pages.pair.judging import JudgedPair
from backend.analysis.query.field import Value, text_of
from backend.analysis.query.units import at_place, place_text
from backend.stats import Verdict

METRIC = "throughput"
MAX_NAMED = 3
_COUNTED: dict[Verdict, str] = {
    "improved": "faster",
    "regressed": "slower",
    "size_uncertain": "different by an uncertain size",
    "unchanged": "level",
    "inconclusive": "too noisy to call",
}
_WITHOUT_INTERVAL = "with too few trials for an interval"


def write_finding(
    pairs: Sequence[JudgedPair],
    comparability: Comparability,
    names: tuple[str, str],
    *,
    axis: str,
    relevant: float,
) -> Headline:
    """The answer about all pairs. `names`: of a and b, where their series have one name."""
    if not comparability.allows_ranking:
        return _capitalised(_no_comparison(comparability))
    if len(pairs) > 1:
        return _capitalised(_counted(pairs, names))
    labels = (pairs[0].a.group.label, pairs[0].b.group.label)
    if labels[0] != labels[1]:
        return _capitalised(write_pair_finding(pairs[0], labels, axis=axis, relevant=relevant))
    told = write_pair_finding(pairs[0], names, axis=axis, relevant=relevant)
    # Of one name: it is a condition that the two differ in, if in anything.
    return _capitalised(told.prefixed(comparability.intent) if comparability.intent else told)


def write_pair_finding(
    pair: JudgedPair,
    names: tuple[str, str],
    *,
    axis: str,
    relevant: float,
    is_advised: bool = True,
) -> Headline:
    """The answer about one pair, at its highest shared load.

    `is_advised`: whether an open ratio says what would decide it.
    """
    if not pair.judgement.comparability.allows_ranking:
        return _no_comparison(pair.judgement.comparability)
    place = pair.highest_shared
    if place is None:
        return _no_place(pair, names, axis)
    ratio = pair.ratios[place, METRIC]
    if not is_advised:
        ratio = replace(ratio, advice=None)
    claim = NamedRatio(ratio, *names[::-1])
    return write_difference(claim, METRIC, place_text(place, axis), relevant)


def decide_pairs(pairs: Sequence[JudgedPair], names: tuple[str, str]) -> Decision:
    """What the ratios decide that the finding is about: of throughput, at the highest loads."""
    claims = tuple(
        NamedRatio(pair.ratios[place, METRIC], *_labels(pair, names))
        for pair in pairs
        if (place := pair.highest_shared) is not None
    )
    return Decision(claims, tuple(doubts_of(claims)))


def _labels(pair: JudgedPair, names: tuple[str, str]) -> tuple[str, str]:
    """The names of the two series, told apart by their sides where they are one."""
    a, b = pair.a.group.label, pair.b.group.label
    return (a, b) if a != b else (f"{a} of {names[0]}", f"{b} of {names[1]}")


def _no_comparison(comparability: Comparability) -> Headline:
    return Headline(f"not comparable: {comparability.to_record().reasons[0]}")


def _no_place(pair: JudgedPair, names: tuple[str, str], axis: str) -> Headline:
    measured = [
        f"{name} {_places_text([point.x for point in sweep.points], axis)}"
        for name, sweep in zip(names, (pair.a, pair.b), strict=True)
    ]
    return Headline(f"no load point of both has a figure to compare: {'; '.join(measured)}")


def _places_text(places: Sequence[Value], axis: str) -> str:
    return at_place(", ".join(text_of(x) for x in places if x is not None), axis)


def _counted(pairs: Sequence[JudgedPair], names: tuple[str, str]) -> Headline:
    """`run B against run A: of 4 series, 1 slower (node 0.87× [0.81, 0.93]); 3 level`."""
    by_verdict: dict[str, list[str]] = defaultdict(list)
    finds_from: list[float] = []
    for pair in pairs:
        place = pair.highest_shared
        if place is None:
            by_verdict["without a shared load point"].append(pair.label)
            continue
        ratio = pair.ratios[place, METRIC]
        word = _WITHOUT_INTERVAL if ratio.low is None else _COUNTED[ratio.verdict]
        by_verdict[word].append(f"{pair.label} {ratio_text(ratio)}")
        finds_from += [] if ratio.finds_from is None else [ratio.finds_from]
    outcomes = [*_COUNTED.values(), _WITHOUT_INTERVAL, "without a shared load point"]
    counts = [_count(outcome, by_verdict[outcome]) for outcome in outcomes if by_verdict[outcome]]
    return Headline(
        f"{names[1]} against {names[0]}, each at its highest shared load: of {len(pairs)} series, "
        f"{'; '.join(counts)}{_found(finds_from)}"
    )


def _found(finds_from: Sequence[float]) -> str:
    """Which difference would have been found in every series that is too noisy to call."""
    return f". In each of the noisy series, {found_text(max(finds_from))}" if finds_from else ""


def _count(word: str, labels: Sequence[str]) -> str:
    if word not in ("faster", "slower"):
        return f"{len(labels)} {word}"
    more = f" and {len(labels) - MAX_NAMED} more" if len(labels) > MAX_NAMED else ""
    return f"{len(labels)} {word} ({', '.join(labels[:MAX_NAMED])}{more})"


def _capitalised(headline: Headline) -> Headline:
    """With a capital at the start, but for names: they begin as they are written."""
    text = headline.sentence
    is_ours = text.startswith(("run ", "not ", "no ", "only "))
    return replace(headline, sentence=text[:1].upper() + text[1:]) if is_ours else headline
