"""The shelf: every folder is whole, every program compiles, and some servers really run here."""

from __future__ import annotations

import ast
import json
import os
import runpy
import subprocess
from pathlib import Path

import pytest
from agent_fakes import agent_command, run_agent

from loadsheet_agent.exits import Exit
from loadsheet_agent.install.interpreters import Interpreter, find_interpreter
from loadsheet_agent.plan.expansion import expand
from loadsheet_agent.plan.reading import parse_plan, read_plan
from loadsheet_agent.plan.shelf import APPS, CURRENT, Shelf, ShelfEntry
from loadsheet_agent.run.installation import find_available

AGENTS = Path(__file__).resolve().parents[2]
SHELF = Shelf(AGENTS / "servers")
ENTRIES = SHELF.entries()
AVAILABLE = [entry for entry in ENTRIES if entry.unavailable is None]
PLANS = sorted((AGENTS / "plans").glob("*.toml"))
# A folder that keeps the servers of registries. Installing all of them takes half an hour.
SHELF_CHECK = os.environ.get("SHELF_CHECK", "")
INSTALL_LIMIT_S = 1800
# Python 2 has no parser here; these words would make a program fail there.
PYTHON_3_ONLY = ("async def", "nonlocal ", "yield from", 'f"')


def versions() -> list[tuple[ShelfEntry, str]]:
    return [(entry, version) for entry in AVAILABLE for version in entry.versions]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_every_folder_is_whole_or_says_why_the_server_cannot_be_had(entry: ShelfEntry):
    if entry.unavailable is not None:
        assert entry.unavailable.tried
        assert not (entry.folder / "server.toml").exists()
        return
    assert entry.versions
    assert entry.spec.serves
    for version in entry.versions:
        entry.version(version)


@pytest.mark.parametrize(
    ("entry", "version"), versions(), ids=[f"{entry.name}@{name}" for entry, name in versions()]
)
def test_every_version_makes_a_plan_with_hashes_for_its_packages(entry: ShelfEntry, version: str):
    services = f'include = ["{APPS}/services.toml"]\n'
    text = f'shelf = "."\nuse = ["{entry.name}@{version}"]\n[[workloads]]\nname = "w"\n'
    plan = parse_plan(services + text, name="plan", directory=SHELF.folder, environ={})
    (server,) = plan.servers
    for argument in (*server.start, *server.templates.values()):
        if argument.startswith(str(SHELF.folder)) and "." in Path(argument).name:
            assert Path(argument).exists(), argument
    assert bool(server.packages) == (server.lock is not None)
    assert all(source.url.startswith("https://") for source in server.source)
    if server.lock is not None:
        locked = Path(server.lock).read_text().lower().replace("_", "-")
        for package in server.packages:
            name = package.lower().replace("[binary]", "").replace("_", "-")
            assert name in locked, package
        assert "--hash=sha256:" in locked


@pytest.mark.parametrize(
    "path", sorted(SHELF.folder.rglob("*.py")), ids=lambda path: str(path.relative_to(SHELF.folder))
)
def test_every_program_compiles(path: Path):
    ast.parse(path.read_text(), str(path))


@pytest.mark.parametrize(
    ("path", "status", "size"),
    [
        ("/bytes/0", 200, 0),
        ("/bytes/1000000?x=1", 200, 1_000_000),
        ("/bytes/1000001", 404, 9),
        *((f"/bytes/{text}", 404, 9) for text in ("\u00b2", "\u0663", "-1", "", "5\n", "9" * 5000)),
        ("/other/5", 404, 9),
    ],
)
def test_a_page_of_bytes_has_as_many_as_its_path_says(path: str, status: int, size: int):
    pages = runpy.run_path(str(SHELF.folder / APPS / "pages.py"))
    answered, _, body = pages["find_page"](path)
    assert (answered, len(body)) == (status, size)


def test_programs_of_old_versions_have_no_words_of_python_3():
    for entry, version in versions():
        if entry.server_table(version).get("interpreter") == "2.7":
            for path in (*entry.folder.glob("app/*.py"), SHELF.folder / APPS / "pages.py"):
                text = path.read_text()
                assert not [word for word in PYTHON_3_ONLY if word in text], path


@pytest.mark.long
@pytest.mark.parametrize("path", PLANS, ids=lambda path: path.stem)
def test_the_plan_of_a_study_is_a_plan_in_both_forms(path: Path):
    full, short = (find_available(read_plan(path, is_short=form)).plan for form in (False, True))
    assert len(expand(full)) > len(expand(short)) > 0
    assert full.labels["study"] == path.stem
    assert "Other than then:" in path.read_text()


def test_each_study_has_a_plan():
    studies = AGENTS.parent / "backend" / "library" / "studies"
    assert [path.stem for path in PLANS] == sorted(path.name for path in studies.iterdir())


@pytest.mark.parametrize("name", ["2.1", "no-such-python"])
def test_an_interpreter_that_is_missing_is_named(name: str):
    with pytest.raises(Exception, match=f"Python {name} was not found"):
        find_interpreter(name)


def test_an_interpreter_is_found_by_its_version_in_the_folder_of_pyenv(tmp_path: Path):
    program = tmp_path / "versions" / "3.99.1" / "bin" / "python"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\necho /real/python\necho 3.99.1\n")
    program.chmod(0o755)
    environ = {"PYENV_ROOT": str(tmp_path)}
    assert find_interpreter("3.99", environ) == Interpreter("/real/python", "3.99.1")


def from_registries() -> list[str]:
    """Versions whose packages or files are downloaded."""
    downloaded = {"packages", "source"}
    return [
        f"{entry.name}@{version}"
        for entry, version in versions()
        if downloaded & entry.server_table(version).keys()
    ]


@pytest.mark.processes
@pytest.mark.skipif(not SHELF_CHECK, reason="SHELF_CHECK is the folder to install all servers into")
@pytest.mark.parametrize("name", from_registries())
def test_a_server_from_a_registry_checks_out(name: str):
    done = subprocess.run(
        agent_command("servers", "check", name, "--json"),
        capture_output=True,
        text=True,
        timeout=INSTALL_LIMIT_S,
        check=False,
        env={**os.environ, "LOADSHEET_CACHE": SHELF_CHECK},
    )
    (row,) = json.loads(done.stdout)["servers"]
    if row["state"] == "skipped":
        pytest.skip(row["text"])
    assert done.returncode == Exit.OK, row["text"]


@pytest.mark.processes
def test_a_server_whose_installation_is_wrong_fails_its_check(tmp_path: Path):
    folder = tmp_path / "odd"
    (folder / "versions").mkdir(parents=True)
    (folder / "server.toml").write_text(
        'title = "Odd"\nstyle = "s"\nlanguage = "Python"\nlicence = "none"\nserves = ["/"]\n'
        '[server]\nurl = "http://127.0.0.1:{port}"\nstart = ["{python}", "-V"]\n'
        'install = [["sh", "-c", "echo error: hashes differ; exit 1"]]\n'
    )
    (folder / "versions" / "current.toml").write_text("[server]\n")
    done = run_agent("servers", "check", "odd", "--shelf", tmp_path)
    assert done.returncode == Exit.TRIALS_FAILED
    assert "✗ odd@current: sh ended with exit code 1: error: hashes differ" in done.stdout


def system_servers() -> list[str]:
    """Servers whose current version comes with the system: nothing is downloaded for them."""
    current = [entry for entry in AVAILABLE if CURRENT in entry.versions]
    return [
        entry.name
        for entry in current
        if not {"packages", "source"} & entry.server_table(CURRENT).keys()
    ]


@pytest.mark.processes
@pytest.mark.parametrize("name", system_servers())
def test_a_server_of_the_system_checks_out(name: str):
    done = run_agent("servers", "check", name, "--json")
    (row,) = json.loads(done.stdout)["servers"]
    if row["state"] == "skipped":
        pytest.skip(row["text"])
    assert done.returncode == Exit.OK, row["text"]
    assert row["text"].startswith("version ")


def test_the_servers_of_the_system_are_known():
    assert {"nginx", "node", "tomcat", "jetty", "webrick", "mod-php"} <= set(system_servers())


@pytest.mark.processes
def test_what_the_machine_lacks_is_skipped_with_its_reason():
    done = run_agent("servers", "check", "friendlyflow", "--json")
    assert done.returncode == Exit.OK
    assert '"state": "skipped"' in done.stdout
    assert "is in no registry" in done.stdout


@pytest.mark.processes
def test_the_shelf_is_listed():
    listed = run_agent("servers", "list").stdout
    assert "gunicorn               Gunicorn, sync worker: rest, rest-19.6.0, current\n" in listed
    assert "friendlyflow           FriendlyFlow: not available: " in listed


@pytest.mark.processes
def test_a_server_that_is_not_what_the_shelf_says_fails_its_check(tmp_path: Path):
    folder = tmp_path / "odd"
    (folder / "versions").mkdir(parents=True)
    (folder / "server.toml").write_text(
        'title = "Odd"\nstyle = "s"\nlanguage = "Python"\nlicence = "none"\nserves = ["/"]\n'
        '[server]\nurl = "http://127.0.0.1:{port}"\n'
        'start = ["{python}", "-m", "http.server", "--bind", "127.0.0.1", "{port}"]\n'
    )
    (folder / "versions" / "current.toml").write_text("[server]\n")
    done = run_agent("servers", "check", "odd", "--shelf", tmp_path)
    assert done.returncode == Exit.TRIALS_FAILED
    assert "✗ odd@current: it answers / with " in done.stdout
