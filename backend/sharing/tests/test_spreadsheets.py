"""Tables for spreadsheets: no cell is a formula, whatever a text begins with; numbers stay."""

import csv
import io
import json
import random
from datetime import UTC, datetime
from itertools import product

import pytest
from django.test import Client

from backend.analysis.export.table import Table
from backend.analysis.kept_figures import read_figures
from backend.analysis.query.compare_query import CompareQuery
from backend.analysis.query.view_ids import VIEWS
from backend.api.runs import trial_files
from backend.runs.catalogue.trial_table import COLUMNS, Part
from backend.sharing import export
from backend.sharing.export import csv_of, harmless
from backend.sharing.freezing import Description, freeze
from backend.testing.rows import CellSpec, make_run, make_workspace
from backend.testing.uploads import make_tenant

# Spreadsheets skip what is before the sign, and some read the full-width forms as the plain ones.
SKIPPED = ("", "\t", "\r", "\n", "\0", " ", "\u00a0", "\u200b", "\ufeff", "\u202e")
SIGNS = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
DANGEROUS = [f"{skipped}{sign}1+1" for skipped, sign in product(SKIPPED, SIGNS)]
NEGATIVE_NUMBERS = 10_000


def rows_of(text):
    header, *rows = csv.reader(io.StringIO(text, newline=""))
    return header, rows


@pytest.fixture(scope="module")
def figures(django_db_setup, django_db_blocker):
    """Figures of each view, and the columns of its table that hold texts or nothing."""
    from django.db import transaction

    with django_db_blocker.unblock(), transaction.atomic():
        lab = make_workspace("lab")
        make_run(lab, CellSpec("sync"), CellSpec("gthread", p50_us=None))
        made = {}
        for view in VIEWS:
            query = CompareQuery.parse(f"view={view}&limit=1000")
            kept = freeze(query, workspace=lab, author=None, description=Description(title="x"))
            made[view] = read_figures(json.loads(bytes(kept.snapshot))["figures"])
        transaction.set_rollback(True)
    return made


def test_there_are_more_than_sixty_dangerous_beginnings():
    assert len({*DANGEROUS}) == 80


@pytest.mark.parametrize("view", VIEWS)
def test_each_column_of_each_view_is_quoted_for_each_beginning(view, figures, monkeypatch):
    real = export.table_of
    columns = real(figures[view], view).columns

    def hostile(*_):
        return Table(columns, tuple([text] * len(columns) for text in DANGEROUS))

    monkeypatch.setattr(export, "table_of", hostile)
    header, rows = rows_of(csv_of(figures[view], view))

    assert header == list(columns)
    assert len(rows) == len(DANGEROUS)
    cells = [cell for row in rows for cell in row]
    assert len(cells) == len(DANGEROUS) * len(columns)
    assert [cell for cell in cells if not cell.startswith("'")] == []


@pytest.mark.django_db
def test_each_column_of_the_table_of_all_trials_is_quoted_for_each_beginning(monkeypatch):
    hostile = [tuple(text for _ in COLUMNS) for text in DANGEROUS]
    monkeypatch.setattr(trial_files, "read_part", lambda *_, **__: Part(hostile, None, True))

    answer = Client(headers=make_tenant().headers).get("/api/v1/trials.csv")

    header, rows = rows_of(answer.content.decode())
    assert header == [column.name for column in COLUMNS]
    assert len(rows) == len(DANGEROUS)
    assert [cell for row in rows for cell in row if not cell.startswith("'")] == []


def numbers():
    chance = random.Random(7)
    return [
        -chance.choice(
            (chance.random(), chance.randrange(1, 10**12), 10.0 ** chance.randint(-300, 300))
        )
        for _ in range(NEGATIVE_NUMBERS)
    ]


def test_negative_numbers_stay_numbers(figures, monkeypatch):
    sent = numbers()
    table = Table(("change",), tuple([number] for number in sent))
    monkeypatch.setattr(export, "table_of", lambda *_: table)

    _, rows = rows_of(csv_of(figures["sweep"]))

    assert [float(cell) for (cell,) in rows] == sent
    assert [harmless(number) for number in sent] == sent
    assert isinstance(harmless(datetime(2026, 1, 31, tzinfo=UTC)), datetime)
