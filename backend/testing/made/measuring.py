"""Measures how often each check fires on honest trials and on its planted mistake."""

import json
import zlib
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TypeVar

import numpy as np
from numpy.random import Generator

from backend.runs.checks import CHECKS, check_trial
from backend.runs.checks.dip import CHANCE, CRITICAL_DIPS, dip
from backend.runs.checks.firing import RESULTS, Firing, read_firing
from backend.runs.checks.outcome import TOOL_DISAGREES
from backend.runs.checks.table import TRIAL_RULES
from backend.testing.made.cells import CELL_MISTAKES, MadeCell, make_cell
from backend.testing.made.comparisons import COMPARISON_MISTAKES, fired, make_comparison
from backend.testing.made.condition_mistakes import TRIAL_MISTAKES
from backend.testing.made.mistakes import Mistake
from backend.testing.made.outputs import OUTPUT_MISTAKES, TRIALS, make_outputs
from backend.testing.made.outputs import fired as fired_by_outputs
from backend.testing.made.texts import TOOLS, MadeTool
from backend.testing.made.uploads import make_upload

MOST_HONEST = {"error": 0.0, "warning": 0.01, "info": 1.0}
LEAST_FOUND = 0.95
# What is simulated as such, beside the load tools.
CELLS, COMPARISONS = "load points", "comparisons"
# A row a request takes a hundred times as long as a summary.
FEWER_OF_ROWS = 4
# Of mistakes in which nothing is left to chance.
FEWER_IF_CERTAIN = 5
TRIAL_CHECKS = frozenset({rule.id for rule in TRIAL_RULES} | {TOOL_DISAGREES.id})

Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class Sizes:
    """`trials`: honest trials of each tool. `mistakes`: planted mistakes of each kind and tool."""

    trials: int
    mistakes: int
    seed: int


def measure_firing(
    sizes: Sizes, tell: Callable[[str], None], only: Container[str] = CHECKS
) -> dict[str, Firing]:
    """How often each check of `only` fires, by its id. `tell` is called after each load tool."""
    firing = {id_: Firing() for id_ in CHECKS if id_ in only}
    for tool in TOOLS:
        if TRIAL_CHECKS & firing.keys():
            _measure_tool(tool, firing, sizes)
        if OUTPUT_MISTAKES.keys() & firing.keys():
            _measure_outputs(tool, firing, sizes)
        tell(f"{tool.name}: done")
    _measure_made(CELLS, make_cell, MadeCell.fired, CELL_MISTAKES, firing, sizes)
    _measure_made(COMPARISONS, make_comparison, fired, COMPARISON_MISTAKES, firing, sizes)
    return {id_: result for id_, result in firing.items() if result.honest}


def _generator(*words: object) -> Generator:
    """Random numbers that depend on nothing but these words."""
    return np.random.default_rng([zlib.crc32(str(word).encode()) for word in words])


def _measure_tool(tool: MadeTool, firing: dict[str, Firing], sizes: Sizes) -> None:
    draw = _generator(sizes.seed, tool.name)
    counts: Counter[str] = Counter()
    for _ in range(sizes.trials):
        trial = make_upload(draw, tool).check_input()
        counts.update({finding.id for finding in check_trial(trial)})
    for id_ in TRIAL_CHECKS & firing.keys():
        # Every output of such a tool has this fault: none is honest.
        if id_ != "errors-unknown" or not tool.lists_answers_only:
            firing[id_].honest[tool.name] = (counts[id_], sizes.trials)
    for id_ in TRIAL_MISTAKES.keys() & firing.keys():
        mistake = TRIAL_MISTAKES[id_]
        firing[id_].mistake = mistake.text
        if mistake.fits(tool):
            detected, planted = _plant(id_, mistake, tool, sizes)
            if planted:
                firing[id_].found[tool.name] = (detected, planted)


def _plant(id_: str, mistake: Mistake, tool: MadeTool, sizes: Sizes) -> tuple[int, int]:
    """How often the mistake is found, of how many in which the tool can show it."""
    draw = _generator(sizes.seed, tool.name, id_)
    count = sizes.mistakes // (FEWER_OF_ROWS if tool.has_rows else 1)
    count //= FEWER_IF_CERTAIN if mistake.is_certain else 1
    detected = planted = 0
    for _ in range(count):
        trial = mistake.edit(mistake.make(draw, tool).check_input())
        if any(getattr(trial, name) is None for name in mistake.needs):
            continue
        planted += 1
        detected += any(finding.id == id_ for finding in check_trial(trial))
    return detected, planted


def _measure_outputs(tool: MadeTool, firing: dict[str, Firing], sizes: Sizes) -> None:
    """Two servers of five trials each on every page.

    The mistakes are made of the outputs of the first pages.
    """
    draw = _generator(sizes.seed, tool.name, "outputs")
    counts: Counter[str] = Counter()
    found: Counter[str] = Counter()
    mistakes = sizes.mistakes // FEWER_IF_CERTAIN
    pages = sizes.trials // (2 * TRIALS)
    for page in range(pages):
        outputs = make_outputs(draw, tool)
        counts += fired_by_outputs([(0, outputs), (1, make_outputs(draw, tool))])
        if page < mistakes:
            found.update(
                id_
                for id_, (_, plant) in OUTPUT_MISTAKES.items()
                if id_ in fired_by_outputs(plant(outputs))
            )
    for id_ in OUTPUT_MISTAKES.keys() & firing.keys():
        firing[id_].mistake = OUTPUT_MISTAKES[id_][0]
        firing[id_].honest[tool.name] = (counts[id_], pages * 2 * TRIALS)
        firing[id_].found[tool.name] = (found[id_], min(mistakes, pages))


def _measure_made(
    source: str,
    make_honest: Callable[[Generator], Made],
    fired_by: Callable[[Made], set[str]],
    mistakes: Mapping[str, tuple[str, Callable[[Generator], Made]]],
    firing: dict[str, Firing],
    sizes: Sizes,
) -> None:
    if not mistakes.keys() & firing.keys():
        return
    draw = _generator(sizes.seed, source)
    counts: Counter[str] = Counter()
    for _ in range(sizes.trials):
        counts.update(fired_by(make_honest(draw)))
    for id_, (text, make) in mistakes.items():
        # All of them are drawn, so that no check's draws depend on which are asked for.
        detected = sum(id_ in fired_by(make(draw)) for _ in range(sizes.mistakes))
        if (result := firing.get(id_)) is not None:
            result.mistake = text
            result.honest[source] = (counts[id_], sizes.trials)
            result.found[source] = (detected, sizes.mistakes)


def write_results(firing: dict[str, Firing], sizes: Sizes) -> None:
    """Write the file from which docs/checks.md takes its table."""
    head = {
        "seed": sizes.seed,
        "date": datetime.now(UTC).date().isoformat(),
        "trials": sizes.trials,
    }
    # A line for each check, so that a change of one is seen.
    rows = ",\n".join(f'"{id_}": {json.dumps(asdict(result))}' for id_, result in firing.items())
    text = f'{json.dumps(head)[:-1]}, "checks": {{\n{rows}\n}}}}\n'
    RESULTS.write_text(text)
    read_firing.cache_clear()


def describe_firing(firing: dict[str, Firing]) -> Iterator[str]:
    """A line for each rate that is not as a perfect check's."""
    for id_, result in firing.items():
        for source, (count, total) in result.honest.items():
            if count:
                yield f"{id_:24} {source:14} fires on {count} of {total} honest"
        for source, (count, total) in result.found.items():
            if count < total:
                yield f"{id_:24} {source:14} finds {count} of {total} mistakes"


def missed_aims(firing: Mapping[str, Firing]) -> list[str]:
    """The checks that fire too often on honest trials, or too seldom on their mistake."""
    return [
        id_
        for id_, result in firing.items()
        if result.worst_honest > MOST_HONEST[CHECKS[id_].severity]
        or (result.worst_found is not None and result.worst_found < LEAST_FOUND)
    ]


def critical_dips(seed: int) -> Iterator[tuple[int, float]]:
    """The table of dip.py: sizes, each with the dip that 2 % of uniform samples exceed."""
    draw = _generator(seed, "dips")
    for size, _ in CRITICAL_DIPS:
        count = 20_000 if size <= 50 else 4_000
        dips = sorted(dip(draw.random(size).tolist()) for _ in range(count))
        yield size, dips[round((1 - CHANCE) * count)]
