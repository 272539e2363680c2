"""What scripts/start says when it cannot go on: one line, whatever failed."""

import errno
import os
import shutil
import socket
import sys
from collections import namedtuple

import pytest
from django.conf import settings

from backend.config import demo, site
from backend.config.site_folder import SiteFolder, StartFailed

sys.path.append(str(settings.BASE_DIR / "scripts"))
import prepare

Usage = namedtuple("Usage", "total used free")


def disk_with(monkeypatch, free_bytes):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(1 << 40, 0, free_bytes))


def step(command):
    prepare._step("Installing things", [sys.executable, "-c", command])


def refused(run, *arguments):
    with pytest.raises(prepare.CannotPrepare) as refusal:
        run(*arguments)
    line = str(refusal.value)
    assert "\n" not in line
    return line


@pytest.mark.parametrize(
    "said", ["OSError: [Errno 28] No space left on device", "ENOSPC: no space, write"]
)
def test_a_step_that_met_a_full_disk_says_so(said):
    line = refused(step, f"import sys; print({said!r}); print('at frame\\n' * 40); sys.exit(1)")
    assert "disk" in line
    assert "make room" in line


def test_a_step_that_failed_on_a_full_disk_without_saying_so(monkeypatch):
    disk_with(monkeypatch, 0)
    assert "is full" in refused(step, "raise SystemExit(1)")


def test_a_step_that_failed_otherwise_shows_its_last_lines(monkeypatch, capsys):
    disk_with(monkeypatch, 1 << 40)
    assert refused(step, "raise SystemExit('no such package')").startswith("Installing things")
    assert "no such package" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("code", "words"), [(errno.ENOSPC, "make room"), (errno.EACCES, "must be yours to write")]
)
def test_a_file_that_cannot_be_written_while_preparing(monkeypatch, code, words):
    def refuse(tests):
        raise OSError(code, os.strerror(code), "/somewhere")

    monkeypatch.setattr(prepare, "_prepare", refuse)
    assert words in refused(prepare.prepare)


def test_no_room_for_a_database(monkeypatch, tmp_path):
    disk_with(monkeypatch, 20 << 20)
    with pytest.raises(StartFailed, match=r"20 MiB free, 128 MiB are needed.*--data DIR"):
        SiteFolder(tmp_path).prepare()


def test_a_folder_with_data_is_served_on_a_full_disk(monkeypatch, tmp_path):
    (tmp_path / "secrets.json").write_text("{}")
    disk_with(monkeypatch, 0)

    SiteFolder(tmp_path).prepare()

    assert (tmp_path / "artefacts").is_dir()


def test_a_failure_on_a_full_disk_is_named_for_it(monkeypatch, tmp_path):
    disk_with(monkeypatch, 0)
    line = SiteFolder(tmp_path).explain(StartFailed("web ended\nwith status 1"))
    assert line.startswith(f"the disk of {tmp_path} is full: make room")
    assert "\n" not in line


def test_temporary_files_of_a_killed_start_are_removed(tmp_path):
    (tmp_path / "scratch" / "folder").mkdir(parents=True)
    (tmp_path / "scratch" / "body").write_text("half a request")

    SiteFolder(tmp_path).prepare()

    assert list((tmp_path / "scratch").iterdir()) == []


@pytest.mark.parametrize("is_new", [True, False])
def test_a_port_in_use_is_named(monkeypatch, tmp_path, is_new, capsys):
    monkeypatch.setattr(site, "PORT_TIMEOUT_S", 0)
    if not is_new:
        SiteFolder(tmp_path).secrets()
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(StartFailed, match=f"port {port} cannot be used.*--port N"):
            site.Site(port, tmp_path).start()
    assert ("Waiting up to" in capsys.readouterr().out) != is_new


def test_a_start_waits_for_the_port_of_a_killed_site(monkeypatch, tmp_path):
    SiteFolder(tmp_path).secrets()
    with socket.create_server(("127.0.0.1", 0)) as dying:
        started = site.Site(dying.getsockname()[1], tmp_path)
        # Called while it waits: the holder of the port ends meanwhile.
        monkeypatch.setattr(site.time, "sleep", lambda _: dying.close())
        started._listen().close()


def test_a_demo_that_fails_leaves_the_service_running(monkeypatch, tmp_path, capsys):
    def fail(_):
        raise StartFailed("wrk was not found.")

    monkeypatch.setattr(demo, "measure", fail)
    monkeypatch.setattr(site.Site, "manage", lambda *_: "/sign-in/ls_link_x")
    demo.show_demo(site.Site(8000, tmp_path))
    output = capsys.readouterr().out
    assert "The demo was not measured: wrk was not found. Loadsheet runs" in output
    assert "http://127.0.0.1:8000/sign-in/ls_link_x" in output
    assert not (tmp_path / "demo-run").exists()
