"""The trials of a study as its outputs and tables have them. Pure: no Django."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.formats import ParsedTrial, RawArtefact, parse
from backend.library.study import Outputs, Study, StudyRun

Names = Mapping[str, Any]
# Before an offered rate.
RATE = " at a rate of "


def study_trials(study: Study, run: StudyRun) -> Iterator[tuple[Names, Names, ParsedTrial]]:
    """Server, workload and figures of each trial of a run."""
    for table in run.tables:
        data = (study.folder / table).read_bytes()
        for trial in parsed_trials([RawArtefact.of(table, data)]):
            yield trial.server, trial.workload, trial
    for outputs in run.outputs:
        workload = {**run.workload, **outputs.workload}
        for path in output_paths(study, outputs):
            for trial in parsed_trials([RawArtefact.of(path.name, path.read_bytes())]):
                yield outputs.server, workload, trial


def parsed_trials(artefacts: Sequence[RawArtefact]) -> Iterable[ParsedTrial]:
    """The trials that are read in the artefacts, without refusals."""
    return (entry for entry in parse(artefacts) if isinstance(entry, ParsedTrial))


def load_text(trial: ParsedTrial) -> str:
    """Its load with a blank before it, such as " at 100 connections"; empty if it is unknown."""
    if trial.connections is not None:
        return connections_text(trial.connections)
    rate_rps = trial.requested_rate_rps
    return "" if rate_rps is None else f"{RATE}{rate_rps:,.0f}"


def connections_text(count: int) -> str:
    """Such as " at 100 connections"."""
    return f" at {count:,} connection{'' if count == 1 else 's'}"


def output_paths(study: Study, outputs: Outputs) -> list[Path]:
    """The files of one server, in the order of load and repeat."""
    folder = study.folder / "raw" / outputs.folder
    return sorted(folder.glob("*.txt"), key=lambda path: (_load_of(path), repeat_of(path)))


def _load_of(path: Path) -> int:
    """The load in a name such as `c1000-2.txt`; 0 where it has none."""
    digits = path.stem.rpartition("-")[0].lstrip("cr")
    return int(digits) if digits.isdigit() else 0


def repeat_of(path: Path) -> int:
    """The repeat in a name such as `c1000-2.txt`."""
    return int(path.stem.rpartition("-")[2])
