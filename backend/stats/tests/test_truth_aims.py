"""What scripts/bench truth measured meets the aims, but for what a decision record argues."""

import copy
import importlib
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


OWN_RUNS = "the same runs, effects of each server"
SHARED_RUNS = "the same runs, shared effects"


@pytest.fixture
def aims(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "scripts" / "benches"))
    return importlib.import_module("simulation.aims")


@pytest.fixture
def aim_table(aims):
    return importlib.import_module("simulation.aim_table")


@pytest.fixture
def tables():
    return json.loads((ROOT / "scripts" / "benches" / "truth.json").read_text())["tables"]


def test_a_row_that_misses_its_aim_is_argued_in_a_decision(aims, tables):
    assert aims.unargued(tables) == []


def test_every_exception_is_needed_and_has_its_decision(aims, tables):
    assert aims.unneeded(tables) == []
    for exception in aims.EXCEPTIONS:
        (record,) = (ROOT / "docs" / "decisions").glob(f"{exception.decision}-*.md")
        assert exception.decision in record.name


def test_the_summary_says_of_each_aim_whether_it_holds(aims, aim_table, tables):
    lines = {line[0]: line[1:] for line in aim_table.summary(tables)["rows"]}
    assert len(lines) == len(aims.AIMS)
    for aim in aims.AIMS:
        holds, _, decisions = lines[f"{aim.words[0].upper()}{aim.words[1:]}"]
        assert (holds == "yes") == (not any(aim.missed_by(row) > 0 for _, row in aim.rows(tables)))
        assert (holds == "yes") == (decisions == "")
    kinds = {holds.partition(" ")[0].rstrip(";") for holds, *_ in lines.values()}
    assert kinds == {"yes", "but"}


def test_the_words_of_a_page_are_told_apart_from_what_is_missed(aims, aim_table):
    def argued(says):
        return [aims.Argued("0050", "pairs", aims.TOLD, aims.AT_MOST_5, aims._all, says)]

    assert aim_table._holds([argued("in this run")], 9) == "yes; for 1 the page says “in this run”"
    mixed = [argued("in this run"), argued(""), argued("")]
    assert aim_table._holds(mixed, 9) == "but for 2 of 9 figures; for 1 the page says “in this run”"


@pytest.mark.parametrize(
    ("table", "column", "wrong", "labels"),
    [
        ("intervals", "covers %", "92.9", ("CV 3 %", "5")),
        ("intervals", "covers %", "97.1", ("CV 3 %", "5")),
        ("intervals", "covers %", "96.9", ("10 ms in whole ms, CV 10 %", "5")),
        ("intervals", "covers %", "97.1", ("runs differ by 3 %", "5 + 5")),
        ("rounding", "covers at the worst %", "92.9", ("3 %", "3")),
        ("rounding", "equal servers told apart at the worst %", "7.1", ("10 %", "10")),
        ("two-stage", "covers %", "92.9", ("10", "± 2 %")),
        ("pairs", "told apart %", "7.1", ("CV 3 %", "0 %", "5")),
        ("pairs", "improved or regressed %", "5.1", ("CV 3 %", "0 %", "5")),
        ("pairs", "told apart %", "57.8", ("CV 3 %", "5 %", "5")),
        ("pairs", "told apart %", "89.9", ("rounds share 5 %, CV 1 %", "3 %", "5")),
        ("slow-trials", "told apart %", "7.1", ("25 %", "20 %", "20")),
        ("slow-trials", "improved or regressed %", "2.1", ("25 %", "20 %", "20")),
        ("slow-trials", "ratio covers %", "92.9", ("25 %", "20 %", "20")),
        ("slow-trials", "ratio covers %", "97.1", ("25 %", "20 %", "20")),
        ("slow-trials", "ratio covers %", "92.9", ("10 %", "20 %", "5")),
        ("pairs", "told apart %", "24.9", ("10 % disturbed, CV 3 %", "5 %", "5")),
        ("runs", "told apart %", "7.1", ("different runs", "0 %", "5 + 5 + 5")),
        ("runs", "improved or regressed %", "5.1", ("different runs", "0 %", "5")),
        ("runs", "told apart %", "7.1", (OWN_RUNS, "0 %", "5 + 5 + 5")),
        ("runs", "told apart %", "58.7", (SHARED_RUNS, "5 %", "5")),
        ("pages", "improved or regressed %", "6.6", ("CV 2 %, baseline 6 %", "40", "3")),
        ("pages", "improved or regressed %", "5.1", (OWN_RUNS, "8", "5 + 5 + 5")),
        ("pages", "rows told %", "7.1", ("CV 3 %", "40", "3")),
        ("pages", "pairs told %", "7.1", ("rounds share 5 %, CV 1 %", "8", "5")),
        ("pages", "rows told %", "27.1", ("CV 2 %, baseline 6 %", "40", "3")),
        ("page-differences", "rows told %", "75.8", ("CV 3 %", "10 %", "40", "3")),
        ("page-differences", "pairs told %", "6.5", ("CV 3 %", "10 %", "40", "3")),
        ("page-differences", "rows told %", "2.0", ("10 % disturbed, CV 3 %", "5 %", "8", "5")),
        ("winners", "another taken %", "5.1", ("CV 3 %", "all equal", "8", "3")),
        ("winners", "every place true %", "92.9", ("CV 1 to 10 %", "all equal", "8", "5")),
        ("winners", "every place true %", "84.9", ("CV 1 to 10 %", "all equal", "8", "3")),
        ("starts", "without a reason %", "5.1", ("one of each server", "2", "5")),
        ("starts", "told apart %", "7.1", ("one for each trial", "8", "5")),
        ("starts", "told apart %", "7.1", ("one for two trials", "2", "6")),
        ("order", "without a reason %", "5.1", ("one after the other", "5")),
        ("order", "told apart %", "7.1", ("in turn", "5")),
        ("advice", "wrong at last %", "2.1", ("0 %", "3")),
        ("saturation", "wrong %", "5.1", ("3 %", "3")),
        ("changes", "without a change %", "5.1", ("30", "3 %", "0.6")),
    ],
)
def test_a_row_that_leaves_its_aim_is_found(aims, tables, table, column, wrong, labels):
    changed = copy.deepcopy(tables)
    (row,) = (row for row in changed[table]["rows"] if tuple(row[: len(labels)]) == labels)
    row[changed[table]["columns"].index(column)] = wrong
    is_within = column == "covers %" and 93 <= float(wrong) <= 97
    assert aims.unargued(changed) == ([] if is_within else [(table, column, *labels)])
