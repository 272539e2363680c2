"""The questions a workspace is opened with, each as a comparison over what it really holds.

Each is asked of every run of the workspace. A question that these cannot answer, or whose
comparison is not of like with like, says why.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from uuid import UUID

from django.db.models import Exists, OuterRef

from backend.analysis.compare.comparison import compare
from backend.analysis.pages.question_check import QuestionCheck
from backend.analysis.pages.version_pairs import (
    VersionPair,
    find_server_of_versions,
    find_version_pair,
)
from backend.analysis.pages.workspace_cells import (
    CellSummary,
    Query,
    WorkspaceCells,
    load_workspace_cells,
    newest_versions,
    sets_by_key,
)
from backend.analysis.query.field import number_text
from backend.runs.database.bulk import among
from backend.runs.database.read_router import repeatable_read
from backend.runs.models import Cell, Run, Trial
from backend.runs.tables.happening import happened_at
from backend.stats.thresholds import LEAST_LOADS

ALL = (
    ("fastest", "Which server is fastest at this load?"),
    ("limits", "At which load does each server saturate?"),
    ("distributions", "How do the latency distributions differ?"),
    ("versions", "Did this version get slower?"),
    ("hardware", "How does the hardware affect each server?"),
    ("cost", "How much CPU time does a request need?"),
    ("distance", "How does each server compare with the baseline?"),
)
_TEXT = dict(ALL)
# What must be measured for each to have an answer.
_ALIKE = "two servers measured alike at one load"
_NEEDS = {
    "fastest": _ALIKE,
    "limits": "a server at three loads",
    "distributions": "latency as a histogram",
    "versions": "two versions of a server in one run",
    "hardware": "a server version on two hosts",
    "cost": "the CPU time of servers, which the agent records",
    "distance": _ALIKE,
}
# Runs, the newest first, that a question about versions may leave out to have an answer.
MAX_LEFT_OUT = 5
# Workloads and conditions, those with the most servers first, that a question looks at.
MAX_LOOKED_AT = 50


@dataclass(frozen=True, slots=True)
class Question:
    """A question with the comparison that answers it, as the fields of its query; or why none.

    `about` says over what, in a few words. `asked`: the question where it names what it is about.
    """

    id: str
    query: Query | None = None
    about: str = ""
    why_not: str = ""
    asked: str = ""

    @property
    def text(self) -> str:
        return self.asked or _TEXT[self.id]

    @property
    def needs(self) -> str:
        """What must be measured for it to have an answer, in a few words."""
        return _NEEDS[self.id]


@repeatable_read()
def list_questions(workspace_id: UUID, slug: str) -> list[Question]:
    """The seven questions, in the order of the page."""
    measured = load_workspace_cells(workspace_id)
    if measured is None:
        return [Question(id_, why_not="Nothing has been measured yet.") for id_, _ in ALL]
    check = QuestionCheck(workspace_id, slug)
    questions = (
        _first_answered(_fastest, measured),
        _first_answered(_limits, measured),
        _first_answered(_distributions, measured),
        _versions(measured, check),
        _first_answered(_hardware, measured),
        _cost(measured),
        _distance(measured, check),
    )
    return [_checked(question, check) for question in questions]


def _first_answered(
    ask: Callable[[WorkspaceCells], Question], measured: WorkspaceCells
) -> Question:
    """The question about what compares the most servers, or else about the next that answers it."""
    question = ask(measured)
    if question.query is not None:
        return question
    others = map(ask, islice(measured.others(), MAX_LOOKED_AT - 1))
    answered = next((other for other in others if other.query is not None), None)
    return answered or _with_bound(question, len(measured.axes))


def _with_bound(question: Question, groups: int) -> Question:
    """An unanswered question, with what it looked at where that is not all of the `groups`."""
    if groups <= MAX_LOOKED_AT:
        return question
    looked_at = (
        f"Only the {MAX_LOOKED_AT} workloads and conditions with the most servers are considered."
    )
    return replace(question, why_not=f"{question.why_not} {looked_at}")


def _checked(question: Question, check: QuestionCheck) -> Question:
    """The question with what its comparison cannot show, or why it has no answer."""
    if question.query is None:
        return question
    offer = check.offer(question.query)
    if offer.why_not:
        return replace(question, query=None, why_not=offer.why_not)
    return replace(question, about=", ".join(filter(None, [question.about, offer.limits])))


def _most_shared_load(pairs: Iterable[tuple[float | None, str]]) -> float | None:
    """The heaviest of the loads that the most servers were measured at."""
    servers = sets_by_key((load, server) for load, server in pairs if load is not None)
    return max(servers, key=lambda load: (len(servers[load]), load), default=None)


def _at_shared_load(cells: Iterable[CellSummary]) -> tuple[float | None, list[CellSummary]]:
    """The heaviest load that most servers share, and the cells there."""
    cells = list(cells)
    load = _most_shared_load((cell.load, cell.server) for cell in cells)
    return load, [cell for cell in cells if cell.load == load]


def _at(load: float | None) -> dict[str, str]:
    return {} if load is None else {"at": number_text(float(load))}


def _count_servers(servers: Iterable[str]) -> str:
    count = len(set(servers))
    return f"{count} server{'' if count == 1 else 's'}"


def _fastest(measured: WorkspaceCells) -> Question:
    load, cells = _at_shared_load(measured.alike)
    servers = {cell.server for cell in cells}
    if load is None or len(servers) < 2:
        why = f"Only one server was measured with {measured.workload}. Measure another one."
        return Question("fastest", why_not=why)
    return Question(
        "fastest",
        measured.query(cells, **_at(load)),
        f"{_count_servers(servers)}, workload {measured.workload}",
        asked=f"Which server is fastest at {measured.load_text(load)}?",
    )


def _limits(measured: WorkspaceCells) -> Question:
    loads = sets_by_key(
        ((cell.server, cell.version), cell.load) for cell in measured.alike if cell.load is not None
    )
    load_counts = {key: len(own) for key, own in loads.items() if len(own) >= LEAST_LOADS}
    if not load_counts:
        why = "No server was measured at three or more loads. Measure more loads."
        return Question("limits", why_not=why)
    cells = [cell for cell in measured.alike if (cell.server, cell.version) in load_counts]
    servers = _count_servers(server for server, _ in load_counts)
    about = f"{servers} over {max(load_counts.values())} loads, workload {measured.workload}"
    return Question("limits", measured.query(cells, view="tradeoff"), about)


def _distributions(measured: WorkspaceCells) -> Question:
    load, cells = _at_shared_load(cell for cell in measured.alike if cell.has_distribution)
    if not cells:
        why = "The load tool reported percentiles only. Use a tool that writes a histogram."
        return Question("distributions", why_not=why)
    servers = _count_servers(cell.server for cell in cells)
    query = measured.query(cells, view="nines", metric="p99", **_at(load))
    about = f"{servers} at {measured.load_text(load)}, workload {measured.workload}"
    return Question("distributions", query, about)


def _versions(measured: WorkspaceCells, check: QuestionCheck) -> Question:
    """The newest version of a server against the one before, of the newest runs that allow it."""
    newest = pair = find_version_pair(measured)
    if newest is None:
        return Question("versions", why_not=_why_no_versions(measured))
    left_out: list[str] = []
    while pair is not None and len(left_out) <= MAX_LEFT_OUT:
        offer = check.offer(pair.query)
        if not offer.why_not:
            return _of_pair(pair, left_out)
        run = pair.runs[0]
        left_out.append(f"without the run of {_date_of(run)} ({offer.because})")
        measured = measured.without(run)
        pair = find_version_pair(measured)
        pair = pair and pair.of_its_runs()
    # The check of all questions says why it has no answer.
    return _of_pair(newest, ())


def _of_pair(pair: VersionPair, left_out: Sequence[str]) -> Question:
    before = "the version before" if pair.is_direct else "an earlier version"
    about = f"{pair.newest} against {pair.previous}, {before}, at {pair.place}"
    asked = f"Did {pair.server} get slower?"
    return Question("versions", pair.query, ", ".join([about, *left_out]), asked=asked)


def _date_of(run_id: UUID) -> str:
    run = Run.objects.only("started_at", "recorded_at").get(pk=run_id)
    return f"{happened_at(run):%Y-%m-%d}"


def _why_no_versions(measured: WorkspaceCells) -> str:
    several = find_server_of_versions(measured)
    if several is None:
        return "No server was measured in two known versions at the same load."
    server, newest = several
    return (
        f"{server} {newest}, the newest version, and an earlier one were not measured with the "
        "same configuration, workload, load and host. Measure both in one run."
    )


def _hardware(measured: WorkspaceCells) -> Question:
    """Asked of the servers measured on several hosts, a panel for each: there the host differs."""
    alike = _of_every_host(measured)
    load, cells = _on_several_hosts(alike)
    if not cells:
        why = "No server version was measured on two known hosts at the same load."
        return Question("hardware", why_not=why)
    servers = {cell.server for cell in cells}
    base = {f: value for f, value in measured.base_query.items() if f not in ("host", "client")}
    newest = newest_versions(cells, [cell for cell in alike if cell.server in servers])
    panels: Query = {"server": tuple(sorted(servers)), "facet": "server"}
    hosts = f"{len({cell.host for cell in cells})} hosts"
    where = f"on {hosts} at {measured.load_text(load)}, workload {measured.workload}"
    query = {**base, **newest, **panels, **_at(load)}
    return Question("hardware", query, f"{_count_servers(servers)} {where}")


def _of_every_host(measured: WorkspaceCells) -> list[CellSummary]:
    """The cells of the workload, tool and loop, whatever their hosts, on the same axis."""
    tool_and_loop = measured.conditions[2:]
    return [
        cell
        for cell in measured.of_workload
        if cell.conditions[2:] == tool_and_loop
        and measured.axes[cell.workload, cell.conditions] == measured.axis
    ]


def _on_several_hosts(cells: Sequence[CellSummary]) -> tuple[float | None, list[CellSummary]]:
    """The cells at one load whose server and version were measured there on several hosts."""
    hosts = sets_by_key(
        ((cell.server, cell.version, cell.load), cell.host) for cell in cells if cell.host
    )
    moved = {key for key, own in hosts.items() if len(own) > 1}
    load = _most_shared_load((load, server) for server, _, load in moved)
    return load, [
        cell
        for cell in cells
        if cell.load == load and (cell.server, cell.version, cell.load) in moved
    ]


def _cost(measured: WorkspaceCells) -> Question:
    """As `_first_answered`, but that all others are looked for in the database at once."""
    others = islice(measured.others(), MAX_LOOKED_AT - 1)
    found = _first_with_cpu_time([measured]) or _first_with_cpu_time(list(others))
    if found is None:
        why = "The CPU time of the servers is unknown. The agent measures servers that it starts."
        return _with_bound(Question("cost", why_not=why), len(measured.axes))
    load, cells = _at_shared_load(found.alike)
    about = f"CPU-seconds per 1,000 requests at {found.load_text(load)}, workload {found.workload}"
    return Question("cost", found.query(cells, metric="cpu_per_1k", **_at(load)), about)


def _first_with_cpu_time(candidates: Sequence[WorkspaceCells]) -> WorkspaceCells | None:
    """The first whose runs, at the load that most servers share, know a server's CPU time."""
    runs = [{cell.run for cell in _at_shared_load(each.alike)[1]} for each in candidates]
    timed = Trial.objects.filter(cell=OuterRef("pk"), resources__server_cpu_s__gt=0)
    cells = Cell.objects.filter(Exists(timed), among("run", set().union(*runs))).order_by()
    known = set(cells.values_list("run", "series__workload__name").distinct())
    return next(
        (
            each
            for each, own in zip(candidates, runs, strict=True)
            if any((run, each.workload) in known for run in own)
        ),
        None,
    )


def _distance(measured: WorkspaceCells, check: QuestionCheck) -> Question:
    alike = [cell for cell in measured.every if cell.conditions == measured.conditions]
    workloads = _shared_workloads(alike)
    if len(workloads) > 1:
        return _distance_by_workload(
            measured, [cell for cell in alike if cell.workload in workloads]
        )
    return _distance_at_load(measured, check)


def _distance_at_load(measured: WorkspaceCells, check: QuestionCheck) -> Question:
    load, cells = _at_shared_load(measured.alike)
    query = measured.query(cells, **_at(load))
    has_several = len({cell.server for cell in cells}) > 1
    if has_several and check.offer(query).why_not:
        return Question("distance", query)
    baseline = _baseline(query, check) if has_several else None
    if baseline is None:
        why = "No two servers can be ranked against each other at the same load."
        return Question("distance", why_not=why)
    series, label = baseline
    about = f"relative to {label} at {measured.load_text(load)}, workload {measured.workload}"
    return Question("distance", {**query, "baseline": series}, about)


def _distance_by_workload(measured: WorkspaceCells, cells: Sequence[CellSummary]) -> Question:
    """Each workload is judged on its own: across them only ratios may be averaged."""
    servers = _count_servers(cell.server for cell in cells)
    about = f"{servers} × {len({cell.workload for cell in cells})} workloads"
    query: Query = {
        **measured.condition_filters,
        **newest_versions((), cells),
        "facet": "workload",
        "view": "ratios",
    }
    return Question("distance", query, about)


def _shared_workloads(cells: Iterable[CellSummary]) -> set[str]:
    """The workloads that more than one server was measured with."""
    servers = sets_by_key((cell.workload, cell.server) for cell in cells)
    return {workload for workload, own in servers.items() if len(own) > 1}


def _baseline(query: Query, check: QuestionCheck) -> tuple[str, str] | None:
    """The series that the others are held against, by id and label; not chosen by its result."""
    ranking = compare(check.parse(query), workspace_ids=[check.workspace_id]).ranking
    rows = [] if ranking is None else [row for row in ranking.rows if row.tier is not None]
    labels = {row.series: row.label for row in rows}
    if ranking is None or ranking.baseline not in labels or len(rows) < 2:
        return None
    return ranking.baseline, labels[ranking.baseline]
