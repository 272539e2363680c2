"""Trials of before get their attempts and failed attempts from the counts that they have."""

from importlib import import_module
from types import SimpleNamespace

import pytest
from django.apps import apps
from django.db import connection

from backend.formats.model import UNANSWERED_CLASSES
from backend.formats.outcome import outcome_by_class
from backend.runs.models import Trial
from backend.testing.rows import CellSpec, make_run, make_workspace

pytestmark = pytest.mark.django_db

# Completed, successful and the errors by class.
COUNTS = (
    (100, 100, {}),
    (100, 90, {"status": 10, "timeout": None}),
    (100, 90, {"status": 10, "read": 5, "connect": 2}),
    # A late answer is among the completed requests.
    (100, 88, {"status": 2, "timeout": 10, "write": 3}),
    (0, 0, {"other": 8}),
)


def test_the_migration_fills_what_the_rule_says():
    run = make_run(make_workspace("lab"), CellSpec(rates=(1000.0,) * 6, warmups=0))
    *known, unknown = Trial.objects.filter(run=run).order_by("ordinal")
    for trial, (completed, ok, errors) in zip(known, COUNTS, strict=True):
        trial.requests_completed, trial.requests_ok, trial.errors = completed, ok, errors
        trial.error_rate, trial.attempts, trial.failed = 0.1, None, None
        trial.save()
    unknown.error_rate = unknown.attempts = unknown.failed = None
    unknown.save()
    migration = import_module("backend.runs.migrations.0029_trial_outcome")
    for _ in range(2):
        migration.fill(apps, SimpleNamespace(connection=connection))
    rows = Trial.objects.filter(run=run).order_by("ordinal").values_list("attempts", "failed")
    expected = [
        outcome_by_class(
            completed,
            ok,
            status=errors.get("status"),
            unanswered=[errors.get(name) for name in UNANSWERED_CLASSES],
            lists_answers_only=False,
        )
        for completed, ok, errors in COUNTS
    ]
    assert list(rows) == [*((each.attempts, each.failed) for each in expected), (None, None)]
