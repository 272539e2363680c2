"""What the same test says today: what the comparisons of our own run of a study's plan answer."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple
from uuid import UUID

from msgspec import UNSET

from backend.analysis.answer import Answer
from backend.analysis.compare.comparison import compare_as_json
from backend.analysis.figures import RankRow
from backend.analysis.kept_figures import figures_of_json
from backend.analysis.loading.findings import find
from backend.analysis.query.compare_query import CompareQuery
from backend.analysis.query.field import text_of
from backend.analysis.query.units import at_place
from backend.library.study import Study
from backend.links import comparison_link
from backend.runs.checks.response_sizes import USUAL_HEADER_BYTES, ResponseSize, group_sizes
from backend.runs.models import Cell, Run


class TodayAnswer(NamedTuple):
    """What the comparison of one workload answers, and the address of its page.

    `workload`: with the size of its answers, such as "hello, 37 bytes", where it is several
    questions.
    `ranked`: the rows of its ranking that have a place, the best first, at `place`, such as
    "at 60 connections"; none where nothing is ranked.
    """

    workload: str
    answer: Answer
    url: str
    ranked: Sequence[RankRow] = ()
    place: str = ""


def answer_today(
    study: Study, run: Run, *, servers: Sequence[str] = (), viewer: str
) -> list[TodayAnswer]:
    """The answers of today's run of a study, of these servers alone where some are named.

    That of the most servers comes first. They are kept until the data of the library change. Raises
    TooManyAnswers and AnswersBusy.
    """
    question = ("today", run.pk, *servers)
    search = partial(_answer_each, study, run, servers, viewer)
    return find(run.workspace, question, search, viewer=viewer)


def _answer_each(study: Study, run: Run, servers: Sequence[str], viewer: str) -> list[TodayAnswer]:
    asked = CompareQuery.parse(study.query).with_filters(run=[run.pk], server=servers)
    questions = _find_questions(run, servers)
    counts = Counter(name for name, _ in questions)
    return [
        _answer(
            _named(name, sizes) if counts[name] > 1 else name,
            asked.with_filters(workload=[name], payload=sizes if counts[name] > 1 else ()),
            run,
            viewer,
        )
        for name, sizes in questions
    ]


def _named(workload: str, sizes: Sequence[int]) -> str:
    """`hello, 37 bytes`, or `hello, 37 to 40 bytes`."""
    least, most = min(sizes), max(sizes)
    return f"{workload}, {least:,}{f' to {most:,}' if most > least else ''} bytes"


def _find_questions(run: Run, servers: Sequence[str]) -> list[tuple[str, list[int]]]:
    """The name of a workload and the sizes of its answers, for each question; that of the most
    servers first.

    A comparison ranks the answers of one path that are of one size. Others are another question.
    """
    cells = Cell.objects.filter(run=run).exclude(series__workload__name=None)
    if servers:
        cells = cells.filter(series__server__name__in=servers)
    workload = ("series__workload__name", "series__workload__path")
    rows = cells.values_list(*workload, "series__workload__payload_bytes", "series__server")
    measured: dict[tuple[str, str], dict[int, set[UUID]]] = defaultdict(lambda: defaultdict(set))
    for name, path, size, server in rows:
        measured[name, path][size].add(server)
    questions = [
        (len(set().union(*map(by_size.__getitem__, group))), name, list(group))
        for (name, _), by_size in measured.items()
        for group in group_sizes({each: ResponseSize(each) for each in by_size}, USUAL_HEADER_BYTES)
    ]
    questions.sort(key=lambda question: (-question[0], *question[1:]))
    return [(name, sizes) for _, name, sizes in questions]


def _answer(workload: str, query: CompareQuery, run: Run, viewer: str) -> TodayAnswer:
    slug = run.workspace.slug
    kept = compare_as_json(
        replace(query, workspace=slug), workspace_ids=[run.workspace_id], viewer=viewer
    )
    figures = figures_of_json(kept)
    assert figures.answer is not UNSET
    url = comparison_link(slug, query.canonical())
    if figures.ranking is None:
        return TodayAnswer(workload, figures.answer, url)
    ranked = [row for row in figures.ranking.rows if row.tier is not None]
    place = at_place(text_of(figures.ranking.x), figures.x.field)
    return TodayAnswer(workload, figures.answer, url, ranked, place)
