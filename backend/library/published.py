"""The figures that a study printed for a server. Nothing is computed of them. Pure: no Django."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from backend.formats import ParsedTrial, RawArtefact, parse
from backend.library.shelf import ShelvedServer
from backend.library.study import Study, find_study


class Printed(NamedTuple):
    """Requests/s in one row of a table or in one output of a load tool, and its load.

    `outputs`: how many outputs there are of this server at this load; 1 for a row.
    """

    rate_rps: float
    load: str
    outputs: int = 1

    @property
    def text(self) -> str:
        of = f", the highest of {self.outputs} outputs" if self.outputs > 1 else ""
        return f"{self.rate_rps:,.0f} requests/s{self.load}{of}"


def highest_printed(server: ShelvedServer, study: Study) -> str:
    """The highest throughput with its load, "7,174 requests/s at 100 connections".

    One for each name that the server has in the runs; empty if there is none. Outputs count only
    for servers that no table of the study has: a table is what its authors made of them.
    """
    printed = _printed(study.name)
    texts = {name: max(printed[name]).text for name in server.run_names if name in printed}
    if len(texts) == 1:
        return next(iter(texts.values()))
    return ", ".join(f"{name} {text}" for name, text in texts.items())


@cache
def _printed(study_name: str) -> Mapping[str, Sequence[Printed]]:
    """By the name of the server."""
    study = find_study(study_name)
    tabled = _by_server(_of_tables(study))
    return {**_by_server(_of_outputs(study, but=tabled)), **tabled}


def _by_server(figures: Iterable[tuple[str, Printed]]) -> Mapping[str, Sequence[Printed]]:
    by_server: dict[str, list[Printed]] = defaultdict(list)
    for name, figure in figures:
        by_server[name].append(figure)
    return by_server


def _of_tables(study: Study) -> Iterator[tuple[str, Printed]]:
    for table in (table for run in study.runs for table in run.tables):
        for trial in _read(study.folder / table):
            if trial.reported_rps is not None:
                yield trial.server["name"], Printed(trial.reported_rps, _load_text(trial))


def _of_outputs(study: Study, *, but: Iterable[str]) -> Iterator[tuple[str, Printed]]:
    for outputs in (outputs for run in study.runs for outputs in run.outputs):
        if outputs.server["name"] not in but:
            trials = [trial for path in outputs.paths(study) for trial in _read(path)]
            counts = Counter(map(_load_text, trials))
            for trial in trials:
                if trial.reported_rps is not None:
                    load = _load_text(trial)
                    yield outputs.server["name"], Printed(trial.reported_rps, load, counts[load])


def _read(path: Path) -> Iterator[ParsedTrial]:
    entries = parse([RawArtefact.of(path.name, path.read_bytes())])
    return (entry for entry in entries if isinstance(entry, ParsedTrial))


def _load_text(trial: ParsedTrial) -> str:
    """Its load with a blank before it, such as " at 100 connections"; empty if it is unknown."""
    if (count := trial.connections) is not None:
        return f" at {count:,} connection{'' if count == 1 else 's'}"
    rate_rps = trial.requested_rate_rps
    return "" if rate_rps is None else f" at a rate of {rate_rps:,.0f}"
