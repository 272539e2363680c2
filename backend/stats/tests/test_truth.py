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
    assert set(results["tables"]) == set(truth.TABLES)
    page = truth.PAGE.read_text()
    missing = [
        name
        for name, table in results["tables"].items()
        if f"<!-- truth {name} -->\n{truth.as_markdown(table)}\n<!-- end -->" not in page
    ]
    assert missing == [], "scripts/bench truth --print prints them"


def test_pages_of_equal_servers_have_a_false_verdict_in_five_of_a_hundred_at_most(truth):
    table = json.loads(truth.RESULTS.read_text())["tables"]["pages"]
    true, false = (table["columns"].index(name) for name in ("true", "improved or regressed %"))
    shares = {tuple(row[:4]): float(row[false]) for row in table["rows"] if row[true] == "0 %"}
    assert len(shares) == 48
    assert {labels: share for labels, share in shares.items() if share > 5} == {}


def test_every_row_of_every_table_can_be_drawn(truth):
    """Two draws of each: too few to say anything, enough to see that it runs."""
    for name, make in truth.TABLES.items():
        table = make()
        assert len({labels for labels, _, _ in table.rows}) == len(table.rows), name
        for labels, cell, _ in table.rows[:: max(len(table.rows) // 3, 1)]:
            figures = cell(truth.np.random.default_rng(1), 2)
            assert len(labels) + len(figures) == len(table.columns), name
