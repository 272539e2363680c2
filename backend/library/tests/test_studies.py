"""The studies as data: the outputs give the figures that the tables of the same study print."""

import csv
import re
from collections import Counter
from statistics import fmean

import pytest

from backend.formats import FormatError, RawArtefact, parse
from backend.library.envelopes import parcel_of
from backend.library.study import read_studies

STUDIES = {study.name: study for study in read_studies()}
LANDSHARK = STUDIES["landshark-2010"]


def parsed(path):
    return parse([RawArtefact.of(path.name, path.read_bytes())])


def rows_of(path):
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    return list(csv.DictReader(lines))


def test_the_five_studies_are_there_the_oldest_first():
    assert list(STUDIES) == [
        "snakelets-2005",
        "async-servers-2009",
        "landshark-2010",
        "scaling-twisted-2013",
        "app-servers-rest-2016",
    ]


@pytest.mark.parametrize("study", STUDIES.values(), ids=lambda study: study.name)
def test_every_file_of_a_study_is_read_without_a_refusal(study):
    for path in (*study.folder.glob("*.csv"), *study.folder.glob("raw/*/*.txt")):
        entries = parsed(path)
        assert entries
        assert [entry for entry in entries if isinstance(entry, FormatError)] == [], path


@pytest.mark.parametrize("study", STUDIES.values(), ids=lambda study: study.name)
def test_no_file_of_a_study_is_left_out_of_its_runs(study):
    loaded = {name for run in study.runs for name in parcel_of(study, run).files}
    stored = [path.name for path in study.folder.glob("raw/*/*.txt")]
    assert sum(not name.endswith(".csv") for name in loaded) == len(stored)


@pytest.mark.parametrize("study", STUDIES.values(), ids=lambda study: study.name)
def test_a_result_set_shows_at_least_one_run(study):
    assert any(run.frozen for run in study.runs)


def test_every_row_of_a_table_names_its_place():
    tables = [path for study in STUDIES.values() for path in study.folder.glob("*.csv")]
    for path in tables:
        assert all(re.search(r"line|cell", row["place"]) for row in rows_of(path)), path


def raw_rates():
    """The rates of the raw reports by server and connections."""
    (run,) = (run for run in LANDSHARK.runs if run.outputs)
    rates = {}
    for outputs in run.outputs:
        for path in outputs.paths(LANDSHARK):
            (trial,) = parsed(path)
            key = outputs.server["name"], trial.connections
            rates.setdefault(key, []).append(trial.reported_rps)
    return rates


def test_the_tables_of_landshark_are_the_means_of_its_reports_but_for_three_cells():
    rates = raw_rates()
    assert sum(map(len, rates.values())) == 133
    apart = {}
    for row in rows_of(LANDSHARK.folder / "tables.csv"):
        key = row["server"], int(row["connections"])
        mean = fmean(rates[key])
        # The authors cut the decimals of some figures, and rounded others.
        if abs(mean - float(row["throughput_rps"])) > 2:
            apart[key] = float(row["throughput_rps"]), round(mean)
    assert apart == {
        ("PHP", 10_000): (2_239, 2_339),
        ("Jetty", 1_000): (1_095, 1_092),
        ("mod_wsgi", 20_000): (1_374, 1_223),
    }
    assert any("1,095 instead of 1,092" in fault for fault in LANDSHARK.wrong)
    slowest_left_out = sorted(rates["mod_wsgi", 20_000])[1:]
    assert fmean(slowest_left_out) == pytest.approx(1_374, abs=1)


def test_the_method_of_landshark_says_how_often_each_point_was_measured():
    reports = Counter(
        (path.parent.name, path.name.rpartition("-")[0])
        for path in (LANDSHARK.folder / "raw").glob("*/*.txt")
    )
    assert {point for point, count in reports.items() if count != 3} == {("mod-wsgi", "c20000")}
    assert reports["mod-wsgi", "c20000"] == 4
    assert "four of mod_wsgi at 20,000 connections: 133 reports" in LANDSHARK.method[1]
    assert reports.total() == 133


def test_webrick_was_measured_and_is_in_no_table():
    tabled = {row["server"] for row in rows_of(LANDSHARK.folder / "tables.csv")}
    assert {server for server, _ in raw_rates()} - tabled == {"WEBrick"}


def test_the_sheet_of_2013_has_the_figures_of_the_outputs():
    study = STUDIES["scaling-twisted-2013"]
    (run,) = study.runs
    outputs = {
        (outputs.server["name"], outputs.server.get("configuration", {}).get("resource", "")): {}
        for outputs in run.outputs
    }
    for group in run.outputs:
        key = group.server["name"], group.server.get("configuration", {}).get("resource", "")
        (path,) = group.paths(study)
        (trial,) = parsed(path)
        figures = (trial.reported_rps, trial.transfer_rate_bytes_s / 1024)
        outputs[key][group.workload["payload_bytes"]] = figures
    for row in rows_of(study.folder / "sheet.csv"):
        key = row["server"], row["setting:resource"]
        printed = float(row["throughput_rps"]), float(row["transfer_kib_s"])
        assert outputs[key][int(row["payload_bytes"])] == printed


def test_equal_content_has_one_id_and_other_content_another():
    run = LANDSHARK.runs[0]
    assert parcel_of(LANDSHARK, run).id == parcel_of(LANDSHARK, run).id
    assert len({parcel_of(LANDSHARK, run).id for run in LANDSHARK.runs}) == len(LANDSHARK.runs)
