"""Our own runs beside the published figures: read from their outputs, loaded like any run."""

import io
import json
import zipfile

import pytest

from backend.formats import RawArtefact, parse
from backend.library.envelopes import TODAY, today_parcel
from backend.library.study import find_study, read_studies
from backend.library.summary import today_summary
from backend.library.today import (
    Figure,
    Row,
    Today,
    compute_today,
    find_today,
    read_measured,
    read_today,
    rows_of,
    today_table,
)

STUDIES = read_studies()
AB = """This is ApacheBench, Version 2.3 <$Revision: 1903618 $>

Server Software:        x
Server Hostname:        127.0.0.1
Server Port:            8080

Document Path:          /
Document Length:        13 bytes

Concurrency Level:      100
Time taken for tests:   2.000 seconds
Complete requests:      {count}
Failed requests:        0
Total transferred:      1000 bytes
HTML transferred:       500 bytes
Requests per second:    {rate:.2f} [#/sec] (mean)
Time per request:       1.000 [ms] (mean)
"""


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_each_study_was_measured_again_with_every_output(study):
    today = find_today(study)
    assert today is not None
    trials = today.envelope["trials"]
    assert today.envelope["run"]["labels"]["study"] == study.name
    assert not today.envelope["run"]["interrupted"]
    named = [name for trial in trials for name in trial["artefacts"]]
    assert sorted(named) == sorted(today.files)
    for trial in trials:
        outputs = [RawArtefact.of(name, today.files[name]) for name in trial["artefacts"]]
        assert outputs or trial["error"]
    assert any(parse([RawArtefact.of(name, today.files[name])]) for name in named[:1])
    assert today.date in today_summary(study)


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_a_run_names_no_folder_of_the_machine_that_measured(study):
    text = json.dumps(find_today(study).envelope)
    assert not [word for word in ("/root", "/tmp/", "/home/") if word in text]


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_the_stored_figures_are_those_of_the_outputs(study):
    assert read_today(study) == compute_today(study), "run: python -m backend.library.today"


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_each_study_has_a_row_of_an_old_and_of_a_current_version(study):
    rows = rows_of(study)
    assert any(row.then for row in rows)
    assert any(row.old for row in rows)
    assert any(row.current for row in rows)


def test_an_upload_of_today_has_an_id_of_its_content():
    study = find_study("snakelets-2005")
    first, second = today_parcel(study), today_parcel(study)
    assert first.id == second.id
    assert first.envelope["run"]["labels"] == {"study": study.name, "part": TODAY}


def trial(name, version, variant, output, *, error=None, warmup=False, **load):
    return {
        "server": {"name": name, "version": version, "configuration": {}},
        "workload": {"name": "hello"},
        "load": {"variant": variant, "connections_asked": 100, "rate_rps": None, **load},
        "warmup": warmup,
        "error": error,
        "artefacts": [output],
    }


def test_a_row_has_the_highest_load_with_its_version_and_the_span_of_its_trials(monkeypatch):
    outputs = {f"{rate}.txt": AB.format(count=2 * rate, rate=rate).encode() for rate in (90, 100)}
    outputs |= {"400.txt": AB.format(count=800, rate=400).encode()}
    envelope = {
        "run": {"started_at": "2026-11-22T10:00:00Z"},
        "hosts": {"client": {"cores": 2, "facts": {}}},
        "trials": [
            trial("fapws3", "0.11", "fapws3@0.11", "90.txt"),
            trial("fapws3", "0.11", "fapws3@0.11", "100.txt"),
            trial("fapws3", "0.11", "fapws3@0.11", "400.txt", warmup=True),
            trial("fapws3", "2", "fapws3@current", "400.txt", error="crashed"),
            trial("Tomcat", "10", "tomcat@current", "400.txt"),
        ],
    }
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("envelope.json", json.dumps(envelope))
        for name, output in outputs.items():
            archive.writestr(name, output)
    today = read_measured(content.getvalue())
    assert today.date == "2026-11-22"
    monkeypatch.setattr("backend.library.today.find_today", lambda _: today)
    rows = {row.server: row for row in compute_today(find_study("landshark-2010")).rows}
    assert rows["fapws3"].then.text.startswith("7,172 requests/s at 100 connections (0.3)")
    assert rows["fapws3"].old.text == "95 requests/s at 100 connections (0.11), 90 to 100"
    assert rows["fapws3"].current is None
    assert rows["Tomcat"].current.text == "400 requests/s at 100 connections (10)"


def test_the_table_marks_what_is_not_known():
    lines = list(today_table(find_study("landshark-2010")))
    assert any("| Landshark | hello | 4,478 requests/s" in line for line in lines)
    assert any(line.endswith("| – | – |") for line in lines)


def figure(*rates, version="1", load=" at 100 connections"):
    return Figure(load, version, rates, 0.0)


def summarised(monkeypatch, rows, *, load=0.1):
    today = Today("2026-11-22", 2, load, tuple(rows))
    monkeypatch.setattr("backend.library.summary.read_today", lambda _: today)
    return today_summary(find_study("landshark-2010"))


def test_a_server_is_the_fastest_where_no_trial_overlaps(monkeypatch):
    first = Row("a", "hello", None, figure(900, 1000), None)
    clear = [first, Row("b", "hello", None, None, figure(500, 899))]
    close = [first, Row("b", "hello", None, None, figure(500, 901))]
    assert "Hello: a 1 is the fastest, with 949 requests/s at" in summarised(monkeypatch, clear)
    assert "leads with 949 requests/s at 100 connections, but trials of others overlap its own" in (
        summarised(monkeypatch, close)
    )


def test_versions_differ_where_no_trial_overlaps(monkeypatch):
    rows = [
        Row("up", "w", None, None, None, (figure(10, 11), figure(20, 22))),
        Row("down", "w", None, None, None, (figure(10, 11), figure(5, 6))),
        Row("open", "w", None, None, None, (figure(10, 30), figure(20, 22))),
    ]
    text = summarised(monkeypatch, rows)
    assert "Faster in the current version: up (w) 2×." in text
    assert "Slower in the current version: down (w) 0.52×." in text
    assert "For 1 of 3 pairs of versions the trials overlap." in text


def test_no_order_is_told_where_the_machine_was_busy(monkeypatch):
    rows = [
        Row("a", "hello", None, figure(900), None),
        Row("b", "hello", None, figure(100), None, (figure(100), figure(200))),
    ]
    text = summarised(monkeypatch, rows, load=9.2)
    assert text == (
        "No order can be told: other programs kept the machine busy (load 9.2), so the "
        "figures are low and uneven. The highest figures are Hello: a 1 with 900 requests/s at "
        "100 connections. Measured on 2026-11-22 on a virtual machine with 2 processors."
    )
    assert "a 1 is the fastest" in summarised(monkeypatch, rows)


def test_a_server_of_the_study_without_a_figure_of_today_is_named(monkeypatch):
    then, today = figure(700), figure(900)
    rows = [
        Row("gone", "hello", then, None, None),
        Row("same, as printed", "hello", then, None, None),
        Row("same", "hello", None, today, None),
        Row("new", "hello", None, None, today),
    ]
    assert " Not measured today: gone. Measured on" in summarised(monkeypatch, rows)
    assert "Not measured today" not in summarised(monkeypatch, rows[1:])


def test_a_study_that_was_not_measured_again_says_nothing(monkeypatch):
    assert summarised(monkeypatch, []) == ""
