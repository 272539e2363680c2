"""What differs between the sides of a pair: conditions, plan and hosts."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from statistics import median
from typing import Any, NamedTuple

from backend.analysis.compare.measured_factors import find_measured_factors
from backend.analysis.compare.reasons import factor_text, value_text
from backend.analysis.pages.pair.answer import PairDifference, Topic
from backend.analysis.pages.pair.sides import Side
from backend.analysis.query.factors import FACTORS, TESTED, Factor
from backend.analysis.query.field import Rule, ordered, run_labels_text
from backend.analysis.query.fields import RUN_PARTS
from backend.analysis.query.records import LoadedCell
from backend.analysis.query.units import load_number
from backend.runs.measured.host_facts import facts_of
from backend.runs.measured.plan import read_plan
from backend.runs.models import Run, Trial
from backend.visible_text import shortened

MEANINGS: dict[Rule, str] = {
    "test": "This is what is compared.",
    "must": "This must match, so the figures are not comparable.",
    "axis": "This may differ only if nothing else differs.",
    "note": "A caveat.",
}
ONLY_SHARED = "Only what both sides have is compared."
MAX_ROWS = 200
MAX_TEXT = 160
MAX_LEVELS = 8
_LOAD_UNITS = {"connections": "connections", "rate": "req/s"}
# Every run has its date and may have labels: they are no condition. Nor is a clock.
_OF_RUNS = frozenset(RUN_PARTS)
_NOT_FACTS = frozenset({"clock"})
_TOPICS: dict[str, Topic] = {"server": "server host", "client": "client host"}
# Stands for a key that one of two tables lacks.
_ABSENT = object()


class Differences(NamedTuple):
    """The first MAX_ROWS differences, how many others there are, and the names of the conditions
    that are alike and known."""

    rows: list[PairDifference]
    left_out: int
    alike: list[str]


class _Unlike(NamedTuple):
    """Two values that differ. The names of its path may have megabytes, and are joined only where
    the row is shown."""

    topic: Topic
    path: tuple[str, ...]
    a: object
    b: object


def find_differences(a: Side, b: Side) -> Differences:
    """What differs between the sides."""
    conditions, alike = _compare_conditions(a, b)
    rows = [*conditions, *_compare_loads(a, b)]
    left_out = 0
    if a.run is not None and b.run is not None:
        unlike = chain(
            _compare_runs(a.run, b.run),
            _compare_plans(a.run, b.run),
            _compare_hosts(a.run, b.run),
        )
        rows += map(_row, islice(unlike, max(0, MAX_ROWS - len(rows))))
        left_out = sum(1 for _ in unlike)
    return Differences(rows, left_out, alike)


def _cells(side: Side) -> list[LoadedCell]:
    return [cell for point in side.gathered.points for cell in point.cells]


def _compare_conditions(a: Side, b: Side) -> tuple[list[PairDifference], list[str]]:
    cells_a, cells_b = _cells(a), _cells(b)
    factors = (*TESTED, *FACTORS, *find_measured_factors([*cells_a, *cells_b]))
    differing, alike = [], []
    # What is measured stands in the place of what was declared of the same.
    for factor in {factor.id: factor for factor in factors}.values():
        if factor.id in _OF_RUNS or factor.id == a.gathered.grouping.x:
            continue
        values_a, values_b = _values(factor, cells_a), _values(factor, cells_b)
        if values_a != values_b:
            differing.append(_condition(factor, values_a, values_b))
        elif values_a - {None}:
            alike.append(factor.word)
    return differing, list(dict.fromkeys(alike))


def _values(factor: Factor, cells: Iterable[LoadedCell]) -> set[object]:
    return {factor.read(cell) for cell in cells}


def _condition(factor: Factor, a: set[object], b: set[object]) -> PairDifference:
    return PairDifference(
        topic="conditions",
        name=factor.word,
        a=_texts(a, factor.id),
        b=_texts(b, factor.id),
        meaning=_meaning(factor, a - {None}, b - {None}),
    )


def _meaning(factor: Factor, a: set[object], b: set[object]) -> str:
    """What a difference means. An unknown value contradicts none."""
    if not a or not b:
        return "Unknown on one side."
    # Series of both sides are matched, so that what one side has alone is in no ratio.
    return ONLY_SHARED if factor.rule == "must" and a & b else MEANINGS[factor.rule]


def _texts(values: set[object], factor: str) -> str | None:
    texts = ordered({factor_text(factor, value) for value in values if value is not None})
    return _short(", ".join(map(str, texts))) if texts else None


def _compare_loads(a: Side, b: Side) -> Iterator[PairDifference]:
    """How it was loaded, beside what the conditions say: load points, trials, their length."""
    readers = {
        "load points": _load_points,
        "trials of a load point": _trial_counts,
        "threads of the load tool": _threads,
        "length of a trial": _length,
    }
    for name, read in readers.items():
        texts = read(a), read(b)
        if texts[0] != texts[1]:
            yield PairDifference(topic="conditions", name=name, a=texts[0], b=texts[1])


def _load_points(side: Side) -> str | None:
    texts = _listed(load_number(float(x)) for x in side.gathered.places if x is not None)
    return None if texts is None else f"{texts} {_LOAD_UNITS[side.gathered.grouping.x]}"


def _trial_counts(side: Side) -> str | None:
    return _listed(str(len(point.trials)) for point in side.gathered.points)


def _threads(side: Side) -> str | None:
    trials = (trial for point in side.gathered.points for trial in point.trials)
    return _listed(str(trial.threads) for trial in trials if trial.threads is not None)


def _length(side: Side) -> str | None:
    """Rounded to what was asked of the load tool: a trial never ends to the millisecond."""
    ids = [trial.id for point in side.gathered.points for trial in point.trials]
    rows = Trial.objects.filter(pk__in=ids, elapsed_s__gt=0).values_list("elapsed_s", flat=True)
    lengths = [length_s for length_s in rows if length_s is not None]
    return f"about {float(f'{median(lengths):.1g}'):g} s" if lengths else None


def _listed(texts: Iterable[str]) -> str | None:
    return _short(", ".join(str(text) for text in ordered(set(texts)))) or None


def _compare_runs(a: Run, b: Run) -> Iterator[_Unlike]:
    for name, value_a, value_b in (
        ("labels", run_labels_text(a), run_labels_text(b)),
        ("version of the agent", a.agent.get("version"), b.agent.get("version")),
        ("rule that ended it early", a.stopped or None, b.stopped or None),
        ("interrupted", a.interrupted, b.interrupted),
    ):
        if value_a != value_b:
            yield _Unlike("run", (name,), value_a, value_b)


def _compare_plans(a: Run, b: Run) -> Iterator[_Unlike]:
    """The keys of the two plans with other values. A run without a plan has none to compare."""
    if not a.plan or not b.plan or a.plan == b.plan:
        return
    for path, value_a, value_b in _unlike_leaves(_plan_of(a), _plan_of(b)):
        values = (None if value is _ABSENT else value for value in (value_a, value_b))
        yield _Unlike("plan", path, *values)


def _plan_of(run: Run) -> Mapping[str, Any]:
    """What the plan says; its text where it is not read."""
    document = read_plan(run.plan)
    return {"text": run.plan} if document is None else document


def _compare_hosts(a: Run, b: Run) -> Iterator[_Unlike]:
    for role, topic in _TOPICS.items():
        for path, value_a, value_b in _unlike_leaves(_facts(a, role), _facts(b, role)):
            # A fact that one side does not tell is not known to differ.
            if value_a is not _ABSENT and value_b is not _ABSENT:
                yield _Unlike(topic, path, value_a, value_b)


def _facts(run: Run, role: str) -> Mapping[str, Any]:
    facts = facts_of(run, role)
    return {name: value for name, value in facts.items() if name not in _NOT_FACTS}


def _unlike_leaves(
    a: object, b: object, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], object, object]]:
    """The leaves of two nested tables that differ, by their paths; _ABSENT where a table has none.

    Both are walked together, so that no list of all leaves is made.
    """
    inside_a, inside_b = _members(a, path), _members(b, path)
    leaf_a = a if inside_a is None else _ABSENT
    leaf_b = b if inside_b is None else _ABSENT
    if leaf_a != leaf_b:
        yield path, leaf_a, leaf_b
    inside_a, inside_b = inside_a or {}, inside_b or {}
    for name in dict.fromkeys((*inside_a, *inside_b)):
        inner_a, inner_b = inside_a.get(name, _ABSENT), inside_b.get(name, _ABSENT)
        yield from _unlike_leaves(inner_a, inner_b, (*path, name))


def _members(value: object, path: tuple[str, ...]) -> Mapping[str, Any] | None:
    """The members of a table; tables of a list go by their names. None of a leaf."""
    if len(path) >= MAX_LEVELS:
        return None
    if isinstance(value, dict):
        return value
    if isinstance(value, list) and value and all(isinstance(part, dict) for part in value):
        return {str(part.get("name", at)): part for at, part in enumerate(value, start=1)}
    return None


def _row(unlike: _Unlike) -> PairDifference:
    name = _short(".".join(map(_short, unlike.path)))
    is_fact = unlike.topic in _TOPICS.values()
    a, b = (_fact(name, value) if is_fact else value for value in (unlike.a, unlike.b))
    return PairDifference(topic=unlike.topic, name=name, a=_text(a), b=_text(b))


def _fact(name: str, value: object) -> object:
    return factor_text(name, value) if isinstance(value, int) else value


def _text(value: object) -> str | None:
    if value is None:
        return None
    if isinstance(value, list):
        return _short(" ".join(map(str, value)))
    return _short(value_text(value) if isinstance(value, bool | float) else str(value))


def _short(text: str) -> str:
    return shortened(text, MAX_TEXT)
