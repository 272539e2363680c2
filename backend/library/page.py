"""The text of docs/studies.md, printed from the data so that the two cannot differ."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from backend.library.figure_table import today_table
from backend.library.shelf import ShelvedServer, read_shelf
from backend.library.study import Study, find_study, read_studies
from backend.library.summary import today_texts
from backend.library.trials import load_text, study_trials
from backend.stats.replicates import centre_of_run

HEAD = """# The library of published benchmarks

Loadsheet starts from five published benchmarks. `manage.py load_library` loads them into the public
workspace `library`, each with a frozen result set; `scripts/start` does it at the first start. This
page is made from their data: `scripts/fix`.

The data are every table, every figure of the text with its line, and the outputs of the load tools
where they are kept. No text of a publication is copied. What a publication does not say is unknown.

In the tables of then and today, a figure is the geometric mean of the trials at one load, with the
lowest and the highest of them. The machines of then and of today differ.
"""
# Name of the server, load as a text, and all else that its trials have in common.
Point = tuple[str, str, str]


def page() -> str:
    lines = [HEAD, *_studies(), "## Servers\n", *_servers()]
    return "\n".join(lines).rstrip() + "\n"


def _studies() -> Iterator[str]:
    for study in read_studies():
        yield f"## {study.title}\n"
        yield f"{study.question}\n"
        yield f"* Who won: {study.won}"
        yield f"* Saturation point: {study.saturation}"
        yield "* What was wrong with the measurement:"
        yield from (f"  * {fault}" for fault in study.wrong)
        yield f"* Not stated: {', '.join(study.unsaid)}."
        if texts := today_texts(study):
            yield "* What the same test says today:"
            yield from (f"  * {text}" for text in texts)
        yield f"* Can it be repeated? {study.repeatable}"
        yield f"* Repeat it: `loadsheet run agents/plans/{study.name}.toml --short`"
        yield f"* Source: {study.source}, by {study.author}, {study.published}.\n"
        yield from today_table(study)


def _servers() -> Iterator[str]:
    yield "A figure is the highest throughput that the study has for the server.\n"
    yield (
        "| Server | Language | Studies, with the highest figure | Runs today | Versions tried "
        "| Try it |"
    )
    yield "|---|---|---|---|---|---|"
    for server in read_shelf():
        cells = (
            server.name,
            server.language,
            "; ".join(_in_study(server, study) for study in server.named_in),
            _today(server),
            ", ".join(install.version for install in server.installs) or "none",
            server.repeat_text,
        )
        yield f"| {' | '.join(cells)} |"


def _today(server: ShelvedServer) -> str:
    return f"{server.today}. {server.remark}" if server.remark else server.today


def _in_study(server: ShelvedServer, study: Study) -> str:
    figure = highest_figure(server, study)
    return f"{study.name}: {figure}" if figure else f"{study.name}: no figure"


def highest_figure(server: ShelvedServer, study: Study) -> str:
    """The highest throughput with its load, "7,174 requests/s at 100 connections".

    One for each name that the server has in the runs; empty if there is none. Trials of one load
    have the figure that every page gives them.
    """
    measured = [(name, figure) for name in server.run_names if (figure := _highest(name, study))]
    if len(measured) == 1:
        return measured[0][1]
    return ", ".join(f"{name} {figure}" for name, figure in measured)


def _highest(name: str, study: Study) -> str:
    centres = [
        (centre, load)
        for (server, load, _), values in _rates(study.name).items()
        if server == name and (centre := centre_of_run(values)) is not None
    ]
    if not centres:
        return ""
    rate, load = max(centres)
    return f"{rate:,.0f} requests/s{load}"


@cache
def _rates(study_name: str) -> Mapping[Point, Sequence[float]]:
    study = find_study(study_name)
    rates: dict[Point, list[float]] = {}
    for run in study.runs:
        for server, workload, trial in study_trials(study, run):
            if trial.reported_rps is not None:
                others = f"{run.name} {server} {workload}"
                point = (server["name"], load_text(trial), others)
                rates.setdefault(point, []).append(trial.reported_rps)
    return rates
