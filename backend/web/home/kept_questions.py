"""The questions of a workspace's front page, kept because finding them reads many trials."""

import time
from typing import NamedTuple

from django.core.cache import caches

from backend.accounts.models import Workspace
from backend.analysis.pages.front_questions import Question, list_questions

KEPT_S = 600
# A search that needs more CPU time of Python is not repeated with each result that comes in, but
# only after so many times what it needed.
CHEAP_S = 1.0
LEAST_AGE = 20


class _Kept(NamedTuple):
    """`until`: when the questions may be looked for again, if the data changed."""

    data_version: int
    until: float
    questions: list[Question]


def questions_of(workspace: Workspace) -> list[Question]:
    """The questions of the workspace's front page, kept until its data changes.

    After a search that was not cheap they are kept for at least `LEAST_AGE` times its CPU time.
    """
    key = f"questions:{workspace.pk}"
    kept: _Kept | None = caches["process"].get(key)
    if kept is not None and (
        kept.data_version == workspace.data_version or time.time() < kept.until
    ):
        return kept.questions
    began = time.thread_time()
    questions = list_questions(workspace.pk, workspace.slug)
    used_s = time.thread_time() - began
    until = time.time() + (LEAST_AGE * used_s if used_s > CHEAP_S else 0)
    caches["process"].set(key, _Kept(workspace.data_version, until, questions), KEPT_S)
    return questions
