"""The text of docs/studies.md, printed from the data so that the two cannot differ."""

from collections.abc import Iterator

from backend.library.published import highest_printed
from backend.library.shelf import ShelvedServer, read_shelf
from backend.library.study import Study, read_studies

HEAD = """# The library of published benchmarks

Loadsheet starts from five published benchmarks. `manage.py load_library` loads them into the public
workspace `library`, each with a frozen result set; `scripts/start` does it at the first start. This
page is made from their data: `scripts/fix`.

The data are every table, every figure of the text with its line, and the outputs of the load tools
where they are kept. No text of a publication is copied. What a publication does not say is unknown.

Each study was measured again, with old and current versions of its servers. The
page `/library/` shows what the comparisons of these runs answer.
"""


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
        yield f"* Can it be repeated? {study.repeatable}"
        yield f"* Repeat it: `loadsheet run agents/plans/{study.name}.toml --short`"
        yield f"* Source: {study.source}, by {study.author}, {study.published}.\n"


def _servers() -> Iterator[str]:
    yield "A figure is the highest throughput that was published for the server.\n"
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
    figure = highest_printed(server, study)
    return f"{study.name}: {figure}" if figure else f"{study.name}: no figure"
