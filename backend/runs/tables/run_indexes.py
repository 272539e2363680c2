"""The indexes of runs: the trash, lists in each order, exports, sessions and searches of texts."""

from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db import models
from django.db.models import Func
from django.db.models.functions import Cast, Coalesce, Upper

from backend.runs.tables.happening import happened_at_of


def text_index(*upper: Func, name: str) -> GinIndex:
    """An index for `icontains` of one of these texts, which Django compares in upper case."""
    return GinIndex(*(OpClass(text, name="gin_trgm_ops") for text in upper), name=name)


RUN_INDEXES = [
    models.Index(
        fields=["workspace", "trashed_at"],
        condition=models.Q(trashed_at__isnull=False),
        name="run_in_trash",
    ),
    models.Index(fields=["workspace", "-recorded_at"], name="run_by_workspace"),
    # What is newest, everywhere, and lists of some days.
    models.Index("workspace", happened_at_of(), "id", name="run_by_happening"),
    models.Index("workspace", "counted_trials", "id", name="run_by_trials"),
    # A run without a throughput is below every other one (run_order.py).
    models.Index("workspace", Coalesce("best_rps", models.Value(-1.0)), "id", name="run_by_best"),
    models.Index(fields=["workspace", "completed_at"], name="run_by_completion"),
    models.Index(
        fields=["workspace", "started_at"],
        condition=~models.Q(session={}),
        name="run_of_session",
    ),
    text_index(Upper(Cast("labels", models.TextField())), name="run_by_text"),
    # Most runs are neither.
    models.Index(
        fields=["workspace", "-recorded_at"],
        condition=models.Q(is_open=True) | models.Q(interrupted=True),
        name="run_unfinished",
    ),
]
