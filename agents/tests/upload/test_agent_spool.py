"""The spool: complete at every moment, one owner at a time, nothing unsent removed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from agent_fakes import run_agent

from loadsheet_agent.errors import UsageError
from loadsheet_agent.exits import Exit
from loadsheet_agent.upload.envelope import file_envelope
from loadsheet_agent.upload.spool import BusyError, Entry, Spool


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    return Spool(tmp_path / "spool")


def test_the_id_exists_before_anything_else(spool: Spool):
    entry = spool.create()
    assert entry.directory.is_dir()
    assert entry.is_empty()
    assert entry.directory.stat().st_mode & 0o077 == 0


def test_a_commit_replaces_the_whole_envelope(spool: Spool):
    entry = spool.create()
    (entry.directory / "a.txt").write_text("1")
    entry.commit(file_envelope(entry.id), ["a.txt"])
    # What a kill in the middle of the next commit leaves behind:
    (entry.directory / "envelope.json.part").write_text('{"schema": 1, "id')
    assert entry.envelope() == file_envelope(entry.id)
    assert [path.name for path in entry.artefacts()] == ["a.txt"]


def test_an_envelope_never_names_a_file_that_is_not_there(spool: Spool):
    entry = spool.create()
    with pytest.raises(FileNotFoundError):
        entry.commit(file_envelope(entry.id), ["missing.txt"])
    assert entry.envelope() is None


def test_one_owner_at_a_time(spool: Spool):
    entry = spool.create()
    entry.commit(file_envelope(entry.id))
    with pytest.raises(BusyError):
        Entry(entry.directory).lock()
    assert [note.state for note in spool.notes()] == ["in progress"]
    entry.release()
    assert [note.state for note in spool.notes()] == ["waiting"]


def test_a_removal_that_was_cut_short_is_finished_not_sent(spool: Spool):
    entry = spool.create()
    entry.directory.rename(entry.directory.with_name(f".sent-{entry.id}"))
    assert spool.entries() == []
    spool.sweep()
    assert list(spool.root.iterdir()) == []


def test_strange_directories_in_the_spool_are_left_alone(spool: Spool):
    spool.create()
    (spool.root / "my notes").mkdir()
    assert len(spool.entries()) == 1


def test_a_spool_that_cannot_be_written_is_one_sentence(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="choose another place with --spool"):
        Spool(tmp_path / "file").create()


def test_the_list_says_what_waits(tmp_path: Path, spool: Spool):
    assert "Nothing waits" in run_agent("spool").stdout
    entry = spool.create()
    (entry.directory / "a.txt").write_text("1")
    entry.commit(file_envelope(entry.id), ["a.txt"])
    entry.release()
    done = run_agent("spool", "list")
    assert f"{entry.id}  waiting, 1 files" in done.stdout
    listed = json.loads(run_agent("spool", "--json").stdout)
    assert [note["id"] for note in listed["entries"]] == [entry.id]


def test_the_readme_lists_every_exit_code():
    readme = (Path(__file__).resolve().parents[2] / "README.md").read_text()
    for code in Exit:
        assert f"\n| {int(code)} | " in readme
