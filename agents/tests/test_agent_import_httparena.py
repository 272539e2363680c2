"""The folder site/data of HttpArena becomes a run: its files as they are, and its machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from agent_fakes import FakeService, run_agent

from loadsheet_agent.errors import UsageError
from loadsheet_agent.exits import Exit
from loadsheet_agent.imports.httparena import runs_of

MACHINE = {
    "cpu": "AMD Ryzen Threadripper PRO 3995WX 64-Cores",
    "cores": "64",
    "threads": "128",
    "ram": "251Gi",
    "os": "Ubuntu 24.04.4 LTS",
    "kernel": "6.17.0-22-generic",
    "governor": "performance",
    "tcp": {"lo_mtu": "1500", "congestion": "cubic", "somaxconn": "65535"},
}


def result(framework: str) -> dict[str, Any]:
    return {"framework": framework, "rps": 100, "p99_latency": "1.00ms", "connections": 512}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "HttpArena" / "site" / "data"
    folder.mkdir(parents=True)
    write(folder, "baseline-512.json", [result("actix"), result("flask")])
    write(folder, "json-4096.json", [result("actix")])
    write(folder, "json-16384.json", [])
    write(folder, "frameworks.json", {"actix": {"type": "production"}})
    write(folder, "current.json", MACHINE)
    return folder


def write(folder: Path, name: str, document: object) -> None:
    (folder / name).write_text(json.dumps(document))


def test_the_files_with_results_are_one_run(data: Path):
    (read,) = runs_of(data)
    assert (read.name, read.trials) == ("data", 3)
    assert list(read.files) == ["baseline-512.json", "json-4096.json"]
    assert read.files["json-4096.json"] == (data / "json-4096.json").read_bytes()


def test_a_file_without_results_is_told(data: Path):
    (read,) = runs_of(data)
    assert read.remarks == ("json-16384.json has no results.",)


def test_the_machine_is_the_server_host(data: Path):
    (read,) = runs_of(data)
    assert read.members["hosts"] == {
        "server": {
            "name": "HttpArena",
            "cpu_model": "AMD Ryzen Threadripper PRO 3995WX 64-Cores",
            "cores": 64,
            "os": "Ubuntu 24.04.4 LTS",
            "kernel": "6.17.0-22-generic",
            "facts": {
                "cpu_governor": "performance",
                "memory": "251Gi",
                "threads": "128",
                "somaxconn": "65535",
                "tcp_congestion_control": "cubic",
            },
        }
    }


@pytest.mark.parametrize("machine", [None, {}, {"cores": None, "tcp": 3}])
def test_a_machine_that_is_not_described_is_unknown(data: Path, machine: object):
    (data / "current.json").unlink()
    if machine is not None:
        write(data, "current.json", machine)
    (read,) = runs_of(data)
    assert read.members == {}


@pytest.mark.parametrize(
    ("text", "reason"),
    [("{", "cannot be read"), ("[]", "not a JSON object"), ("[" * 100_000, "cannot be read")],
    ids=range(3),
)
def test_a_machine_that_cannot_be_read_is_refused(data: Path, text: str, reason: str):
    (data / "current.json").write_text(text)
    with pytest.raises(UsageError, match=reason):
        runs_of(data)


def test_every_folder_of_results_is_a_run_of_its_own(data: Path):
    archived = data / "rounds" / "1"
    archived.mkdir(parents=True)
    write(archived, "baseline-512.json", [result("actix")])
    repository = data.parent.parent
    assert [(read.name, read.trials) for read in runs_of(repository)] == [
        ("HttpArena/site/data", 3),
        ("HttpArena/site/data/rounds/1", 1),
    ]


def test_a_folder_without_results_is_refused(tmp_path: Path):
    with pytest.raises(UsageError, match="site/data/baseline-512"):
        runs_of(tmp_path)


@pytest.mark.processes
def test_an_import_uploads_the_files_as_they_are(service: FakeService, data: Path):
    done = run_agent("import", "httparena", data, *service.flags, "--json")
    assert done.returncode == Exit.OK, done.stderr
    assert "3 trials in 1 runs" in done.stderr
    (upload,) = service.uploads.values()
    assert sorted(upload.files) == ["baseline-512.json", "json-4096.json"]
    assert "trials" not in upload.envelope
    assert upload.envelope["run"]["labels"] == {"archive": "httparena", "results": "data"}
    assert "They do not give the load tool" in upload.envelope["run"]["notes"]
    assert upload.envelope["hosts"]["server"]["cores"] == 64
    (answer,) = json.loads(done.stdout)["runs"]
    assert answer["differences"] == ["json-16384.json has no results."]
