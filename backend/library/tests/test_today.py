"""Our own runs beside the published figures: read from their outputs, loaded like any run."""

import io
import json
import zipfile

import pytest

from backend.formats import RawArtefact, parse
from backend.library.envelopes import TODAY, today_parcel
from backend.library.figure_table import today_table
from backend.library.study import find_study, read_studies
from backend.library.summary import today_texts
from backend.library.today import (
    Measured,
    compute_today,
    find_today,
    read_measured,
    read_today,
    rows_of,
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
    assert any(today.date in text for text in today_texts(study))


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_a_run_names_no_folder_of_the_machine_that_measured(study):
    text = json.dumps(find_today(study).envelope)
    assert not [word for word in ("/root", "/tmp/", "/home/") if word in text]


@pytest.mark.long
@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_the_stored_figures_are_those_of_the_outputs(study):
    assert read_today(study) == compute_today(study), "run: scripts/fix"


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
    assert rows["fapws3"].old.text == "95 requests/s at 100 connections (0.11), 2 trials: 90 to 100"
    assert rows["fapws3"].current is None
    assert rows["Tomcat"].current.text == "400 requests/s at 100 connections (10)"


@pytest.mark.parametrize(("irq", "others"), [(0.05, 0.2), (None, None)])
def test_what_other_programs_used_is_that_of_the_trial_in_the_middle(monkeypatch, irq, others):
    def measured(busy):
        resources = {
            "client_cpu_per_core": [busy, busy],
            "client_cpu_steal": 0.05,
            "client_cpu_irq": irq,
            "client_cpu_s": 1.0,
            "server_cpu_s": 2.0,
        }
        times = {"started_at": "2026-11-22T10:00:00Z", "finished_at": "2026-11-22T10:00:10Z"}
        return {**trial("a", "1", "a@current", "a.txt"), "resources": resources, **times}

    envelope = {
        "run": {"started_at": "2026-11-22T10:00:00Z"},
        "same_host": True,
        "hosts": {"client": {"cores": 2, "facts": {}}},
        "trials": [measured(0.4), measured(0.45), measured(1.0)],
    }
    files = {"a.txt": AB.format(count=200, rate=100).encode()}
    monkeypatch.setattr("backend.library.today.find_today", lambda _: Measured(envelope, files))
    assert compute_today(find_study("landshark-2010")).others == others


def test_versions_are_compared_at_the_highest_load_that_both_have(monkeypatch):
    rates = {10: 1000, 20: 100, 30: 1000, 40: 100}
    files = {
        f"{name}.txt": AB.format(count=2 * rate, rate=rate).encode() for name, rate in rates.items()
    }
    envelope = {
        "run": {"started_at": "2026-11-22T10:00:00Z"},
        "hosts": {"client": {"cores": 2, "facts": {}}},
        "trials": [
            trial("a", "1", "a@1", "10.txt", connections_asked=1000),
            trial("a", "1", "a@1", "20.txt"),
            trial("a", "2", "a@current", "30.txt", connections_asked=1000),
            trial("a", "2", "a@current", "40.txt"),
        ],
    }
    monkeypatch.setattr("backend.library.today.find_today", lambda _: Measured(envelope, files))
    (row,) = (row for row in compute_today(find_study("landshark-2010")).rows if row.server == "a")
    assert [figure.load for figure in row.twins] == [" at 1,000 connections"] * 2


def test_the_table_marks_what_is_not_known():
    lines = list(today_table(find_study("landshark-2010")))
    assert any("| Landshark | hello | 4,478 requests/s" in line for line in lines)
    assert any(line.endswith("| no figure | no figure |") for line in lines)
