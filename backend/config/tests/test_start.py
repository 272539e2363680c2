"""What scripts/start says when it cannot go on: one line, whatever failed."""

import errno
import os
import shutil
import socket
import sys
from collections import namedtuple

import pytest
from django.conf import settings

from backend.config.site import demo, demo_tool, site, supervisor
from backend.config.site.site_folder import SiteFolder, StartFailed

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


PRINTED = {
    "make_demo": '{"token": "ls_agent_x"}',
    "sign_in_link": "/sign-in/ls_link_x",
    "publish_demo": '{"path": "/s/1", "tool": "wrk 4.1.0, which prints latency in steps of 10 µs"}',
}


@pytest.fixture
def demo_site(monkeypatch, tmp_path):
    def manage(_, command, *arguments):
        return PRINTED[command] + (f"?next={arguments[-1]}" if command == "sign_in_link" else "")

    monkeypatch.setattr(site.Site, "manage", manage)
    return site.Site(8000, tmp_path)


@pytest.mark.parametrize("failed", [StartFailed("It is away."), OSError(28, "No space left")])
def test_a_demo_that_cannot_be_shown_ends_no_site(monkeypatch, demo_site, capsys, failed):
    def fail(*_):
        raise failed

    monkeypatch.setattr(site.Site, "manage", fail)
    supervisor.offer_demo(demo_site)
    assert (
        "So the demo ended early. Loadsheet runs; the next start tries again."
        in capsys.readouterr().out
    )


@pytest.mark.long
@pytest.mark.parametrize("is_started", [True, False])
def test_a_site_that_runs_is_tended_while_a_command_runs(monkeypatch, tmp_path, is_started):
    """A library takes a while to load, and a child may die meanwhile."""
    (tmp_path / "manage.py").write_text("import time; time.sleep(1); print('done')")
    monkeypatch.setattr(site, "ROOT", tmp_path)
    looks = []

    def tend(running):
        looks.append(running)

    monkeypatch.setattr(site.Site, "tend", tend)
    running = site.Site(8000, tmp_path)
    running.environment = dict(os.environ)
    running._is_started = is_started
    assert running.manage("anything") == "done\n"
    assert bool(looks) == is_started


class Flaky:
    """A child that ends by itself some times before it stays."""

    name = "web"

    def __init__(self, times):
        self.times, self.failures = times, 0

    def tend(self):
        if self.failures < self.times:
            self.failures += 1

    def reason(self):
        return "ended with status 1; see web.log: no space"


@pytest.fixture
def starting(monkeypatch, tmp_path):
    def start(child):
        starts = site.Site(8000, tmp_path)
        starts.children = starts._processes = [child]
        starts._wait_until_ready()

    def get(self, _):
        if self.children[0].failures < self.children[0].times:
            raise OSError("refused")
        return b"ready"

    monkeypatch.setattr(site.Site, "get", get)
    return start


def test_a_process_that_fails_twice_at_the_start_is_started_again(starting):
    child = Flaky(times=2)
    starting(child)
    assert child.failures == 2


def test_a_process_that_fails_each_time_ends_the_start_with_its_reason(starting):
    with pytest.raises(StartFailed, match="web ended with status 1"):
        starting(Flaky(times=99))


def test_a_demo_that_fails_leaves_the_service_running(monkeypatch, demo_site, tmp_path, capsys):
    def fail(*_):
        raise StartFailed("wrk was not found.")

    monkeypatch.setattr(demo, "measure", fail)
    demo.show_demo(demo_site)
    output = capsys.readouterr().out
    assert "The demo was not measured: wrk was not found. Loadsheet runs" in output
    assert "http://127.0.0.1:8000/sign-in/ls_link_x" in output
    assert not (tmp_path / "demo-run").exists()


def test_the_sign_in_link_comes_before_any_result(monkeypatch, demo_site, capsys):
    def measure(*_):
        sys.stdout.write("Results, live and afterwards: /r/run-1\n")
        return "run-1"

    monkeypatch.setattr(demo, "measure", measure)
    demo.show_demo(demo_site)
    output = capsys.readouterr().out
    places = [output.index(text) for text in ("/sign-in/", "/r/run-1", "/w/demo/compare?run=run-1")]
    assert places == sorted(places)
    assert "measured with wrk 4.1.0, which prints latency in steps of 10 µs." in output


def test_a_second_start_measures_nothing_again(monkeypatch, demo_site, tmp_path, capsys):
    (tmp_path / "demo-run").write_text("run-1\n")
    monkeypatch.setattr(demo, "measure", lambda *_: pytest.fail("measured again"))
    demo.show_demo(demo_site)
    assert "sign in and see the comparison" in capsys.readouterr().out


@pytest.fixture
def terminal(monkeypatch):
    """A root's terminal on a Debian without wrk; what is typed is put into the pipe."""
    reader, writer = os.pipe()
    typed = os.fdopen(reader)
    monkeypatch.setattr(typed, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(demo_tool, "_can_offer", lambda: True)
    monkeypatch.setattr(sys, "stdin", typed)
    yield lambda text: os.write(writer, text.encode())
    os.close(writer)
    typed.close()


@pytest.mark.parametrize(("answer", "is_installed"), [("y\n", True), ("\n", False), ("n\n", False)])
def test_wrk_is_installed_where_a_person_wants_it(monkeypatch, terminal, answer, is_installed):
    commands = []
    monkeypatch.setattr(demo_tool, "_runs", lambda command, _: commands.append(command) or True)
    terminal(answer)
    demo_tool.offer_wrk(lambda: None)
    assert [command[0] for command in commands] == ["apt-get"] * (2 * is_installed)


def test_a_person_who_is_away_is_not_waited_for(monkeypatch, terminal, capsys):
    monkeypatch.setattr(demo_tool, "WAIT_S", 0.0)
    monkeypatch.setattr(demo_tool, "_runs", lambda *_: pytest.fail("installed unasked"))
    demo_tool.offer_wrk(lambda: None)
    assert "Continuing without wrk." in capsys.readouterr().out


def test_nobody_is_asked_without_a_terminal(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None if name == "wrk" else f"/usr/bin/{name}")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert not demo_tool._can_offer()


def test_a_restored_folder_loses_what_was_deleted_since_once(monkeypatch, tmp_path):
    asked = []

    def manage(_, *arguments):
        asked.append(arguments)
        return "Deleted once more: workspaces: 1, runs: 0.\n"

    monkeypatch.setattr(site.Site, "manage", manage)
    (tmp_path / "deletions").mkdir()
    for _ in range(2):
        site.Site(8000, tmp_path)._delete_again()
    assert asked == [("delete_again", str(tmp_path))]
