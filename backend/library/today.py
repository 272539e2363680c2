"""What the same test says today: what the comparisons of our own run of a study's plan answer."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from django.db.models import Count
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
from backend.runs.models import Cell, Run


class TodayAnswer(NamedTuple):
    """What the comparison of one workload answers, and the address of its page.

    `workload`: with the size of its answers, such as "hello, 37 bytes", where others are larger.
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
    sizes = _sizes_by_workload(run, servers)
    asked = CompareQuery.parse(study.query).with_filters(run=[run.pk], server=servers)
    return [
        _answer(
            f"{name}, {size:,} bytes" if len(sizes[name]) > 1 else name,
            # Answers of two sizes are two questions: together they cannot be ranked.
            asked.with_filters(workload=[name], payload=[size] if len(sizes[name]) > 1 else ()),
            run,
            viewer,
        )
        for name in sizes
        for size in sizes[name]
    ]


def _sizes_by_workload(run: Run, servers: Sequence[str]) -> dict[str, list[int]]:
    """The sizes of its answers by the name of the workload, those of the most servers first."""
    cells = Cell.objects.filter(run=run).exclude(series__workload__name=None)
    if servers:
        cells = cells.filter(series__server__name__in=servers)
    names = ("series__workload__name", "series__workload__payload_bytes")
    rows = (
        cells.order_by().values_list(*names).annotate(count=Count("series__server", distinct=True))
    )
    sizes: dict[str, list[int]] = defaultdict(list)
    for name, size, _ in sorted(rows, key=lambda row: (-row[2], row[0])):
        sizes[name].append(size)
    return sizes


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
