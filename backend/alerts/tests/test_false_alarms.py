"""How often alerts come by chance alone, and how soon a fall is told: scripts/bench watch."""

import importlib
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
BENCHES = ROOT / "scripts" / "benches"


@pytest.fixture
def nights(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHES))
    return importlib.import_module("watching.nights")


@pytest.fixture
def tables(nights):
    return importlib.import_module("watching.tables")


@pytest.fixture
def results():
    return json.loads((BENCHES / "watch.json").read_text())


def test_what_was_measured_meets_the_aims(tables, results):
    assert list(tables.missed(results)) == []


def test_an_aim_that_is_missed_is_named(tables, results):
    results["builds"][0]["ever_regressed"] = 0.06
    results["unchanged"] = [{"run_sd": 0.01, "alerts": 2}]
    results["falls"][0]["told"] = [0, 0, 0]
    results["falls"][0]["ranged"] = 0
    results["falls"] = results["falls"][:1]
    results["halved"][0]["messages"] = 2
    missed = list(tables.missed(results))
    for text in ("6 % of unchanged", "2.0 false alerts", "only 0 falls", "'messages': 2"):
        assert sum(text in each for each in missed) == 1, text


@pytest.mark.parametrize("page", ["api", "alerts"])
def test_the_guides_have_the_tables_as_measured(tables, results, page):
    text = (ROOT / "docs" / f"{page}.md").read_text()
    builds = results["builds"]
    made = {
        "api": [tables.builds_table(builds), tables.errors_table(builds)],
        "alerts": [tables.nights_table(results)],
    }
    assert all(table in text for table in made[page])


@pytest.mark.django_db
def test_each_campaign_counts_what_the_rules_tell(nights, monkeypatch):
    for name, small in {"SERIES": 2, "NIGHTS": 3, "HISTORY": 8, "HALVED_SERVERS": 3}.items():
        monkeypatch.setattr(nights, name, small)
    monkeypatch.setattr(nights, "FALL", 0.3)
    assert nights.watch_unchanged(0, 1)["alerts"] == 0
    fall = nights.watch_falls(0, 1)
    assert (fall["told"], fall["ranged"], fall["exact"]) == ([0, 2, 2], 2, 2)
    halved = nights.watch_halved(0, 1)
    assert (halved["told"], halved["messages"]) == (3, 1)
