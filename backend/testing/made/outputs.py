"""Points of one server at one load, whose outputs are compared byte for byte.

Honest ones are five trials of one law, each printed by itself. The mistakes are one output that
was uploaded again in a later run, and one that is recorded for another server.
"""

import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

from numpy.random import Generator

from backend.analysis.grouping.outputs import count_outputs_once
from backend.analysis.query.records import (
    LoadedCell,
    LoadedRun,
    LoadedSeries,
    LoadedServer,
    LoadedTrial,
    LoadedWorkload,
)
from backend.formats import ParsedTrial, RawArtefact, parse
from backend.testing.made.requests import draw_law
from backend.testing.made.texts import MadeTool
from backend.testing.made.uploads import keep, make_trial

TRIALS = 5
DAY = datetime(2026, 3, 1, tzinfo=UTC)
# By run: the number of its server, and the outputs of its trials.
Runs = Sequence[tuple[int, Sequence[bytes]]]


def make_outputs(draw: Generator, tool: MadeTool, count: int = TRIALS) -> list[bytes]:
    """What names the outputs of trials of one server at one load, as uploads record it."""
    law, median_us = draw_law(draw), max(10 ** draw.uniform(2.5, 5), 16 * tool.step_us)
    texts = (tool.write(make_trial(draw, tool, law, median_us), keep) for _ in range(count))
    return [_name_of(text) for text in texts]


def _name_of(text: str) -> bytes:
    (trial,) = parse([RawArtefact.of("stdout", text.encode())])
    assert isinstance(trial, ParsedTrial)
    return bytes.fromhex(trial.output_name)


def fired(runs: Runs) -> Counter[str]:
    """On how many trials each check fires where the outputs of these runs are counted, by its id.

    Of two trials with one output, the one that is left out is the duplicate.
    """
    cells = [
        _cell(server, DAY + timedelta(days=day), outputs)
        for day, (server, outputs) in enumerate(runs)
    ]
    counted = count_outputs_once(cells)
    repeated = Counter({"duplicate": sum(len(cell.duplicates) for cell in counted)})
    return +repeated + Counter(
        id_ for cell in counted for trial in cell.trials for id_ in trial.checks
    )


def _cell(server: int, day: datetime, outputs: Sequence[bytes]) -> LoadedCell:
    return LoadedCell(
        id=uuid.uuid4(),
        run=LoadedRun(
            id=uuid.uuid4(),
            workspace="made",
            relevant_share=0.02,
            must_match=(),
            min_trials=3,
            started_at=day,
            recorded_at=day,
            same_host=False,
            labels={},
        ),
        series=_series(server),
        connections=64,
        rate_rps=None,
        percentiles_us={},
        checks=(),
        trials=tuple(map(_trial, outputs)),
    )


def _series(server: int) -> LoadedSeries:
    return LoadedSeries(
        id=uuid.UUID(int=server),
        workspace_id=uuid.UUID(int=0),
        server=LoadedServer(uuid.UUID(int=server), f"server {server}", server, {}, {}),
        workload=LoadedWorkload(uuid.UUID(int=0), "page", "GET", "/", None, True, False, {}),
        server_host=None,
        client_host=None,
        tool="made",
        tool_version=None,
        loop="closed",
    )


def _trial(output: bytes) -> LoadedTrial:
    return LoadedTrial(
        id=uuid.uuid4(),
        throughput_rps=None,
        error_rate=None,
        requests_completed=None,
        attempts=None,
        percentiles_us={},
        origin=None,
        errors={},
        checks=(),
        output=output,
    )


def _upload_again(outputs: Sequence[bytes]) -> Runs:
    return [(0, outputs), (0, outputs[:1])]


def _rename(outputs: Sequence[bytes]) -> Runs:
    return [(0, outputs), (1, outputs[:1])]


# By the id of the check: the mistake in words, and how it is made of the outputs of one server.
OUTPUT_MISTAKES: dict[str, tuple[str, Callable[[Sequence[bytes]], Runs]]] = {
    "duplicate": ("one of five outputs is uploaded again in another run", _upload_again),
    "same-output": ("one of five outputs is recorded for another server too", _rename),
}
