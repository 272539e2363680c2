"""The tables of docs/statistics.md are those that scripts/bench truth measured."""

import importlib
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.fixture
def truth(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "scripts" / "benches"))
    return importlib.import_module("truth")


def test_the_page_shows_what_was_measured(truth):
    results = json.loads(truth.RESULTS.read_text())
    measured = {
        name: [tuple(row[: table["labels"]]) for row in table["rows"]]
        for name, table in results["tables"].items()
    }
    assert measured == {
        name: [labels for labels, _, _ in make().rows] for name, make in truth.TABLES.items()
    }
    page = truth.PAGE.read_text()
    tables = {"aims": truth.summary(results["tables"]), **results["tables"]}
    missing = [
        name
        for name, table in tables.items()
        if f"<!-- truth {name} -->\n{truth.as_markdown(table)}\n<!-- end -->" not in page
    ]
    assert missing == [], "scripts/bench truth --print prints them"


def test_every_row_of_every_table_can_be_drawn(truth):
    """Two draws of each: too few to say anything, enough to see that it runs."""
    for name, make in truth.TABLES.items():
        table = make()
        assert len({labels for labels, _, _ in table.rows}) == len(table.rows), name
        for labels, cell, _ in table.rows[:: max(len(table.rows) // 3, 1)]:
            figures = cell(truth.np.random.default_rng(1), 2)
            assert len(labels) + len(figures) == len(table.columns), name
