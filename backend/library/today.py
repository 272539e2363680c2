"""What the same test says today: what the comparisons of our own run of a study's plan answer."""

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
    return [
        _answer(name, asked.with_filters(workload=[name]), run, viewer)
        for name in _workloads(run, servers)
    ]


def _workloads(run: Run, servers: Sequence[str]) -> list[str]:
    """The names of its workloads, those of the most servers first."""
    cells = Cell.objects.filter(run=run).exclude(series__workload__name=None)
    if servers:
        cells = cells.filter(series__server__name__in=servers)
    counted = cells.order_by().values_list("series__workload__name")
    rows = counted.annotate(count=Count("series__server", distinct=True))
    return [name for name, _ in sorted(rows, key=lambda row: (-row[1], row[0]))]


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
