"""docs/recipes/partition-trials.sql keeps every trial, and the service goes on with partitions."""

import re

import pytest
from django.conf import settings
from django.db import connection

from backend.analysis.compare.comparison import compare
from backend.analysis.query.compare_query import CompareQuery
from backend.runs.models import Trial
from backend.testing.rows import CellSpec, make_run, make_workspace

pytestmark = pytest.mark.django_db
RECIPE = (settings.BASE_DIR / "docs" / "recipes" / "partition-trials.sql").read_text()


def apply(recipe):
    # Rolled back at the end of the test, which a commit would keep from.
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute(recipe.replace("COMMIT;", "").replace(">= 1000000", ">= 4"))


def shown(workspace):
    figures = compare(CompareQuery.parse(""), workspace_ids=[workspace.pk])
    return figures.series, figures.ranking


def partitions():
    with connection.cursor() as cursor:
        cursor.execute("SELECT tableoid::regclass::text, count(*) FROM runs_trial GROUP BY 1")
        return dict(cursor.fetchall())


def test_every_trial_is_in_its_partition_and_comparisons_are_the_same():
    large, small = make_workspace("large"), make_workspace("small")
    for workspace in (large, small):
        make_run(workspace, CellSpec(warmups=0))
    make_run(large, CellSpec("async", warmups=0))
    before = shown(large), shown(small)

    apply(RECIPE)

    counts = partitions()
    assert counts.pop("runs_trial_others") == 3
    (large_part,) = counts
    assert re.fullmatch(rf"runs_trial_{large.pk.hex[:12]}_\d{{4}}", large_part)
    assert counts[large_part] == 6
    assert (shown(large), shown(small)) == before


def test_trials_that_change_while_rows_are_copied_change_in_both():
    lab = make_workspace("lab")
    make_run(lab, CellSpec(warmups=0), CellSpec("async", warmups=0))
    until_copied, _, rest = RECIPE.partition("-- step: how the rows that are there are copied")
    apply(until_copied)
    changed, deleted, _ = Trial.objects.order_by("ordinal")[:3]
    Trial.objects.filter(pk=changed.pk).update(throughput_rps=1.0)
    Trial.objects.filter(pk=deleted.pk).delete()
    make_run(lab, CellSpec("late", warmups=0))

    apply(rest)

    assert Trial.objects.count() == 3 + 3 - 1 + 3
    assert Trial.objects.get(pk=changed.pk).throughput_rps == 1.0


def test_new_trials_are_sorted_in():
    lab = make_workspace("lab")
    make_run(lab, CellSpec(warmups=0), CellSpec("async", warmups=0))
    apply(RECIPE)

    late = make_run(lab, CellSpec("late", warmups=0))

    assert partitions()["runs_trial_others"] == 3
    late.refresh_from_db()
    assert late.counted_trials == 3
    with connection.cursor() as cursor:
        cursor.execute("CALL sort_in_new_trials()")
    assert sum(partitions().values()) == 9
    assert len(partitions()) == 1
