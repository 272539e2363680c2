"""What the same test says today, each sentence with the ranking that it is about."""

from collections.abc import Mapping
from typing import NamedTuple
from uuid import UUID

from django.http import HttpRequest

from backend.analysis.query.field import number_text
from backend.library.envelopes import TODAY
from backend.library.loading import SLUG
from backend.library.order import Candidate, Sentence
from backend.library.study import Study
from backend.library.summary import today_sentences
from backend.links import compare_link
from backend.runs.models import Run
from backend.web.base import visible


class Answer(NamedTuple):
    """A sentence, and the workload and the address of its ranking; empty if it is about none."""

    text: str
    workload: str = ""
    url: str = ""
    is_method: bool = False


def today_answers(study: Study, runs: Mapping[str, UUID]) -> list[Answer]:
    """What the same test says today. `runs`: of `today_runs`."""
    run = runs.get(study.name)
    return [_answer(sentence, run) for sentence in today_sentences(study)]


def _answer(sentence: Sentence, run: UUID | None) -> Answer:
    text, leader, is_method = sentence
    if run is None or leader is None:
        return Answer(text, is_method=is_method)
    return Answer(text, leader.workload, _ranking_url(run, leader), is_method)


def today_runs(request: HttpRequest) -> dict[str, UUID]:
    """The runs of today that the viewer may read, by their study."""
    rows = Run.objects.filter(
        workspace__slug=SLUG,
        workspace__in=visible.workspaces(request),
        author=None,
        labels__part=TODAY,
        labels__has_key="study",
    )
    return {labels["study"]: pk for pk, labels in rows.values_list("pk", "labels")}


def _ranking_url(run: UUID, leader: Candidate) -> str:
    """The comparison of one workload of a run, ranked at the load of the leader's figure.

    Servers whose answers differ by some bytes are ranked too, as the sentence does: the page then
    says what differs.
    """
    point = leader.load_point
    return compare_link(
        SLUG,
        run=run,
        workload=leader.workload,
        override=1,
        x=None if leader.figure.offered_rps is None else "rate",
        at=None if point is None else number_text(point),
    )
